import { expect, test } from "vitest";

import { MAX_FRONTMATTER_LENGTH } from "../model/frontmatter.ts";
import {
  checkSkill,
  MAX_COMPATIBILITY_LENGTH,
  MAX_DESCRIPTION_LENGTH,
  MAX_SKILL_NAME_LENGTH,
} from "./skill-file.ts";

function skill(frontmatter: string): string {
  return `---\n${frontmatter}\n---\nBody\n`;
}

const GOOD = "name: pdf\ndescription: Fills forms.";

test("a skill says what it is called and what it is for", async () => {
  expect(checkSkill(skill(GOOD), "pdf")).toEqual({
    head: { name: "pdf", description: "Fills forms." },
    problems: [],
    notes: [],
  });
});

test("all fields of the format are understood, and all values are texts", async () => {
  const text = skill(
    `${GOOD}\nlicense: MIT\ncompatibility: needs git\nmetadata:\n  version: 1.0\n  author: ann\nallowed-tools: Read  Bash(git:*)`,
  );
  expect(checkSkill(text, "pdf").head).toEqual({
    name: "pdf",
    description: "Fills forms.",
    license: "MIT",
    compatibility: "needs git",
    metadata: { version: "1.0", author: "ann" },
    allowedTools: ["Read", "Bash(git:*)"],
  });
});

test("tools may also be a list, as Claude Code has them", async () => {
  const { head } = checkSkill(skill(`${GOOD}\nallowed-tools: [Read, Grep]`), "pdf");
  expect(head!.allowedTools).toEqual(["Read", "Grep"]);
});

test("a description of several lines becomes one", async () => {
  const text = skill("name: pdf\ndescription: |\n  Fills forms.\n\n  And more.");
  expect(checkSkill(text, "pdf").head!.description).toBe("Fills forms. And more.");
});

test("Windows line ends, a byte order mark and names in other scripts are fine", async () => {
  const text = `\uFEFF${skill("name: форма-2\ndescription: x")}`.replaceAll("\n", "\r\n");
  expect(checkSkill(text, "форма-2").problems).toEqual([]);
  expect(checkSkill("---\nname: pdf\ndescription: x\n---", "pdf").problems).toEqual([]);
});

test("fields of other programs are passed over, and it is said", async () => {
  const { head, notes } = checkSkill(skill(`${GOOD}\nmodel: opus\nuser-invocable: true`), "pdf");
  expect(head!.name).toBe("pdf");
  expect(notes).toEqual(["unknown fields: model, user-invocable"]);
});

const long = (length: number): string => "x".repeat(length);

test.each<[string, string, RegExp]>([
  [
    "no frontmatter",
    "# A skill",
    /it does not start with YAML frontmatter between --- lines of at most 16 KiB/,
  ],
  [
    "frontmatter later on",
    `# A skill\n${skill(GOOD)}`,
    /it does not start with YAML frontmatter between --- lines of at most 16 KiB/,
  ],
  [
    "frontmatter without an end",
    `---\n${GOOD}\n`,
    /it does not start with YAML frontmatter between --- lines of at most 16 KiB/,
  ],
  [
    "frontmatter that is too long",
    skill(`${GOOD}\nlicense: ${long(MAX_FRONTMATTER_LENGTH)}`),
    /at most 16 KiB/,
  ],
  ["broken YAML", skill("name: [pdf"), /is invalid YAML/],
  ["a key twice", skill(`${GOOD}\nname: pdf`), /is invalid YAML/],
  ["a list", skill("- name\n- description"), /is not a YAML mapping/],
  ["nothing", skill(""), /is not a YAML mapping/],
  ["an alias", skill(`name: &n pdf\ndescription: *n`), /uses YAML aliases/],
  [
    "a bomb of aliases",
    skill(`a: &a [x, x]\nb: &b [*a, *a]\nname: pdf\ndescription: x`),
    /uses YAML aliases/,
  ],
  ["no name", skill("description: x"), /has no name/],
  ["a name that is no text", skill("name: [pdf]\ndescription: x"), /has no name/],
  [
    "capital letters",
    skill("name: PDF\ndescription: x"),
    /its name "PDF" is invalid: use lowercase letters and digits with single hyphens/,
  ],
  [
    "a leading hyphen",
    skill("name: -pdf\ndescription: x"),
    /its name "-pdf" is invalid: use lowercase letters and digits with single hyphens/,
  ],
  [
    "a trailing hyphen",
    skill("name: pdf-\ndescription: x"),
    /its name "pdf-" is invalid: use lowercase letters and digits with single hyphens/,
  ],
  [
    "two hyphens",
    skill("name: pdf--a\ndescription: x"),
    /its name "pdf--a" is invalid: use lowercase letters and digits with single hyphens/,
  ],
  [
    "an underscore",
    skill("name: pdf_a\ndescription: x"),
    /its name "pdf_a" is invalid: use lowercase letters and digits with single hyphens/,
  ],
  [
    "a path",
    skill("name: ../pdf\ndescription: x"),
    /its name "\.\.\/pdf" is invalid: use lowercase letters and digits with single hyphens/,
  ],
  ["a long name", skill(`name: ${long(MAX_SKILL_NAME_LENGTH + 1)}\ndescription: x`), /more than 64/],
  [
    "another name than its folder",
    skill("name: doc\ndescription: x"),
    /its name "doc" differs from its folder "pdf"/,
  ],
  ["no description", skill("name: pdf"), /its description is missing or not a string/],
  [
    "an empty description",
    skill("name: pdf\ndescription: '  '"),
    /its description is missing or not a string/,
  ],
  [
    "a long description",
    skill(`name: pdf\ndescription: ${long(MAX_DESCRIPTION_LENGTH + 1)}`),
    /more than 1024/,
  ],
  ["a license that is no text", skill(`${GOOD}\nlicense: [MIT]`), /its license is missing or not a string/],
  [
    "a long compatibility",
    skill(`${GOOD}\ncompatibility: ${long(MAX_COMPATIBILITY_LENGTH + 1)}`),
    /more than 500/,
  ],
  ["metadata that is no map", skill(`${GOOD}\nmetadata: x`), /metadata/],
  ["metadata with a list in it", skill(`${GOOD}\nmetadata: { a: [1] }`), /metadata/],
  ["tools that are a map", skill(`${GOOD}\nallowed-tools: { Read: yes }`), /allowed-tools/],
])("a skill with %s is not used, and it is said why", async (_, text, problem) => {
  const { head, problems } = checkSkill(text, "pdf");
  expect(head).toBeUndefined();
  expect(problems.join("; ")).toMatch(problem);
});

test("limits are inclusive, and all that is wrong is said at once", async () => {
  const name = long(MAX_SKILL_NAME_LENGTH);
  const text = skill(`name: ${name}\ndescription: ${long(MAX_DESCRIPTION_LENGTH)}`);
  expect(checkSkill(text, name).problems).toEqual([]);
  expect(checkSkill(skill("compatibility: []\nmetadata: x"), "pdf").problems).toHaveLength(4);
});
