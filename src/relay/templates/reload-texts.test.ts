import { expect, test } from "vitest";

import { problemsHint, refusedText, reloadedText } from "./reload-texts.ts";

test.each([
  [[], "thread-templates.json hot-reloaded"],
  [["config/thread-templates.json"], "thread-templates.json hot-reloaded"],
  [["config/thread-templates/agents/a.json"], "config/thread-templates/agents/a.json hot-reloaded"],
  [
    ["config/thread-templates.json", "prompts/directives/a.md"],
    "prompts/directives/a.md changed — thread-templates reloaded",
  ],
])("what has changed is said as the original says it (%j)", (files, text) => {
  expect(reloadedText(files)).toBe(text);
});

test("what is wrong is said with the first problem, and how to see the others", () => {
  const problem = {
    source: "thread-templates.json:1:2",
    path: "agents.a",
    message: "missing",
    hint: "Add it.",
  };
  const first = "thread-templates.json:1:2 agents.a: missing. Add it.";
  expect(refusedText([problem], { files: [], isKept: true })).toBe(
    `thread-templates.json has a problem; the previous version stays in use\n${first}`,
  );
  expect(refusedText([problem], { files: [], isKept: false })).toBe(
    `thread-templates.json has a problem; only its valid entries are in use\n${first}`,
  );
  const refused = { files: ["prompts/directives/a.md"], isKept: true };
  expect(refusedText([problem, { ...problem, path: "" }], refused)).toBe(
    `prompts/directives/a.md has 2 problems; the previous version stays in use\n${first}\n\`cortex relay validate\` lists them all.`,
  );
});

test("a name may be unknown because something is wrong with the files", () => {
  const problem = { source: "thread-templates.json", path: "", message: "missing", hint: "Add it." };
  expect(problemsHint({ problems: [] })).toBe("");
  expect(problemsHint({ problems: [problem, problem] })).toBe(
    " The relay files have 2 problems; run `cortex relay validate`.",
  );
});
