import * as fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_FRONTMATTER_LENGTH } from "../../model/frontmatter.ts";
import { MAX_YAML_SIGNS } from "../../model/yaml-keys.ts";
import { CortexError } from "../../model/errors.ts";
import {
  composePrompt,
  type ComposedPrompt,
  MAX_COMPOSED_LENGTH,
  MAX_PROMPT_LEVELS,
  MAX_PROMPT_PARTS,
} from "./language.ts";
import { MAX_PROMPT_NESTING } from "./syntax.ts";

/** Composes `a.md`; the others are there to be extended. */
async function compose(files: Readonly<Record<string, string>>): Promise<ComposedPrompt> {
  const read = (file: string) => ({ file, text: files[file]! });
  return composePrompt(read("a.md"), async (name) => read(name));
}

async function textOf(text: string, base?: string): Promise<string> {
  const composed = await compose({ "a.md": text, ...(base === undefined ? {} : { "base.md": base }) });
  return composed.text;
}

const EXTENDS = "---\nextends: base.md\n---\n";

test.each([
  ["no frontmatter", "Hello ${name}\n@if(x)\n@endif\n{{input}}", "Hello ${name}\n@if(x)\n@endif\n{{input}}"],
  ["frontmatter is taken off", "---\ntitle: x\n---\nHello\n", "Hello\n"],
  ["empty frontmatter", "---\n---\nHello", "Hello"],
  ["space before the frontmatter", "\n  ---\na: 1\n---\n${a}", "1"],
  ["a rule that is not closed", "---\nHello", "---\nHello"],
  ["a variable", "---\nname: Ada\n---\nHello ${name}", "Hello Ada"],
  ["quotes are YAML's", "---\nname: 'it''s'\nother: \"a\\tb\"\n---\n${name} ${other}", "it's a\tb"],
  ["a comment in YAML", "---\nname: Ada # who\n---\n${name}", "Ada"],
  ["a text over several lines", "---\nname: |\n  one\n  two\n---\n${name}.", "one\ntwo\n."],
  ["a number as it was written", "---\nversion: 1.10\n---\n${version}", "1.10"],
  ["an alias", "---\na: &x one\nb: *x\n---\n${b}", "one"],
  ["a default", "---\na: 1\n---\n${b:-two}", "two"],
  ["a default with a dollar", "---\na: 1\n---\n${b:-5$ or $6}", "5$ or $6"],
  ["a default that does not end", "---\na: 1\n---\n${b:-x ${a}", "${b:-x 1"],
  ["a default over two lines", "---\na: 1\n---\n${b:-two\nlines}", "two\nlines"],
  ["no default where the value is empty", "---\nb: ''\n---\n[${b:-two}]", "[]"],
  ["nothing where there is neither", "---\na: 1\n---\n[${b}]", "[]"],
  ["what a variable holds is not read again", "---\na: ${b}\nb: no\n---\n${a}", "${b}"],
  [
    "runtime variables are left",
    "---\na: 1\n---\n{{input}} {{#if x}}y{{/if}}",
    "{{input}} {{#if x}}y{{/if}}",
  ],
  ["@if", "---\na: 1\n---\n@if(a)\nyes\n@endif\nend", "yes\nend"],
  ["@if of what is empty", "---\na: ''\n---\n@if(a)\nyes\n@endif\nend", "end"],
  ["@if of what is false", "---\na: false\n---\n@if(a)\nyes\n@endif\n${a}", "false"],
  ["@if(!…)", "---\na: 1\n---\n@if(!a)\nno\n@endif\n@if(!b)\nyes\n@endif\n", "yes\n"],
  ["@else", "---\na: 1\n---\n@if(b)\nyes\n@else\nno ${a}\n@endif\n", "no 1\n"],
  ["@if within @if", "---\na: 1\n---\n@if(a)\n@if(b)\nb\n@else\nnot b\n@endif\n@endif\n", "not b\n"],
  ["@if within a line", "---\na: 1\n---\nDo @if(a)this@else that@endif now @else", "Do this now @else"],
  ["directives that are indented", "---\na: 1\n---\n  @if(a)  \n  x\n  @endif\n", "  x\n"],
  ["a block of its own", "---\na: 1\n---\n@block(x)\ndefault ${a}\n@endblock\nend", "default 1\nend"],
])("%s", async (_, text, expected) => {
  expect(await textOf(text)).toBe(expected);
});

test.each([
  [
    "a fill replaces the default",
    "@fill(x)\nmine\n@endfill\n",
    "A\n@block(x)\ndefault\n@endblock\nB\n",
    "A\nmine\nB\n",
  ],
  ["a block keeps its default", "", "A\n@block(x)\ndefault\n@endblock\nB\n", "A\ndefault\nB\n"],
  [
    "blocks are independent",
    "@fill(y)\nmine\n@endfill\n",
    "@block(x)\none\n@endblock\n@block(y)\ntwo\n@endblock\n",
    "one\nmine\n",
  ],
  [
    "a block within a block",
    "@fill(y)\nmine\n@endfill\n",
    "@block(x)\n[\n@block(y)\n@endblock\n]\n@endblock\n",
    "[\nmine\n]\n",
  ],
  ["a base has variables of its own", "", "---\na: base\n---\n${a}", "base"],
  [
    "a fill without a line break at its end",
    "@fill(x)\nmine\n@endfill",
    "@block(x)\n@endblock\nB",
    "mine\nB",
  ],
  [
    "a fill with a block that nobody fills",
    "@fill(x)\n@block(x)\ninner\n@endblock\n@endfill\n",
    "@block(x)\n@endblock\n",
    "inner\n",
  ],
])("%s", async (_, body, base, expected) => {
  expect(await textOf(EXTENDS + body, base)).toBe(expected);
});

test("variables count in blocks, fills and conditions of the base, and those of the file win", async () => {
  const base =
    "---\nwho: nobody\ntone: calm\n---\n@block(x)\n@endblock\n@if(strict)\nStrictly ${tone}.\n@endif\n";
  const text = "---\nextends: base.md\nwho: Ada\nstrict: yes\n---\n@fill(x)\nYou are ${who}.\n@endfill\n";
  expect(await textOf(text, base)).toBe("You are Ada.\nStrictly calm.\n");
});

test("inheritance over several levels: the nearest fill wins, and a fill may have blocks", async () => {
  const files = {
    "root.md": "@block(one)\n1\n@endblock\n@block(two)\n2\n@endblock\n@block(three)\n3\n@endblock\n",
    "middle.md":
      "---\nextends: root.md\n---\n@fill(one)\nmiddle 1\n@endfill\n@fill(two)\n[\n@block(inner)\n@endblock\n]\n@endfill\n",
    "a.md":
      "---\nextends: middle.md\n---\n@fill(one)\nleaf 1\n@endfill\n@fill(inner)\nleaf inner\n@endfill\n",
  };
  expect(await compose(files)).toEqual({ text: "leaf 1\n[\nleaf inner\n]\n3\n", warnings: [] });
});

const head = "---\nv: 1\n---\n";

test.each([
  ["a @if without an end", `${head}a\n@if(v)\n`, "a.md:5: @if without @endif"],
  ["an @endif too many", `${head}@endif\n`, "a.md:4: @endif is out of place: it has no @if"],
  [
    "a second @else",
    `${head}@if(v)\n@else\n@else\n@endif`,
    "a.md:6: @else is out of place: the @if of line 4 is still open",
  ],
  [
    "crossed",
    `${head}@block(b)\n@if(v)\n@endblock\n`,
    "a.md:6: @endblock is out of place: the @if of line 5 is still open",
  ],
  ["an expression", `${head}@if(a && b)\n`, 'a.md:4: Invalid name "a && b"'],
  ["a block without a name", `${head}@block()\n`, 'a.md:4: Invalid name ""'],
  ["a fill and nothing to fill", `${head}@fill(x)\n@endfill\n`, "a.md:4: @fill has no block to fill"],
  ["a fill within a condition", `${EXTENDS}@if(v)\n@fill(x)\n`, "a.md:5: @fill inside the @if of line 4"],
  [
    "a fill that is there twice",
    `${EXTENDS}@fill(x)\n@endfill\n@fill(x)\n@endfill\n`,
    'a.md:6: the block "x" is filled twice, first on line 4',
  ],
  ["YAML that is none", "---\na: 1\nb: [1\n---\n", /^a\.md:\d+: the frontmatter is invalid YAML/],
  ["a key that is there twice", "---\na: 1\na: 2\n---\n", /^a\.md:3: the frontmatter is invalid YAML/],
  ["prose between rules", "---\nsome words\n---\n", "a.md:2: the frontmatter is not a YAML mapping"],
  ["a list as a variable", "---\nx: y\na: [1, 2]\n---\n", "a.md:3: a is not a scalar"],
  ["a file that extends itself", "---\nextends: a.md\n---\n", "a.md:1: extends is circular: a.md → a.md"],
  ["extends without a name", "---\nextends: ''\n---\n", "a.md:1: extends is empty"],
])("%s is an error with file and line", async (_, text, message) => {
  const error = await compose({ "a.md": text, "base.md": "" }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(CortexError);
  expect(error).toMatchObject({ code: "config_invalid", hint: expect.stringMatching(/\.$/) });
  expect((error as CortexError).message).toMatch(message);
});

test("a circle is told with all that are in it", async () => {
  const files = {
    "a.md": EXTENDS.replace("base", "b"),
    "b.md": EXTENDS.replace("base", "c"),
    "c.md": EXTENDS.replace("base", "b"),
  };
  await expect(compose(files)).rejects.toThrow("c.md:1: extends is circular: b.md → c.md → b.md");
});

test("a mistake in a base is told with the base's name", async () => {
  await expect(textOf(EXTENDS, "one\n@endblock\n")).rejects.toThrow("base.md:2: @endblock is out of place");
});

test("what is probably not meant is a warning with file and line", async () => {
  const files = {
    "a.md": "---\nextends: base.md\n---\nstray\n@fill(y)\nx\n@endfill\n",
    "base.md": "one\n@block(x)\nHello\n${who}\n@endblock\n",
  };
  expect(await compose(files)).toEqual({
    text: "one\nHello\n\n",
    warnings: [
      "a.md:4: text outside @fill is ignored",
      "base.md:4: ${who} has no value and no default",
      'a.md:5: unknown block "y"',
    ],
  });
});

test("line ends become LF in every file, template or not", async () => {
  const crlf = (text: string): string => text.replaceAll("\n", "\r\n");
  expect(await textOf(crlf("a\nb\n"))).toBe("a\nb\n");
  const base = crlf("A\n@block(x)\ndefault\n@endblock\n@if(v)\nyes\n@endif\nB\n");
  expect(await textOf(crlf("---\nextends: base.md\nv: 1\n---\n@fill(x)\nmine\n@endfill\n"), base)).toBe(
    "A\nmine\nyes\nB\n",
  );
});

test("levels, nesting, length and parts have limits", async () => {
  const chain = (count: number): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        index === 0 ? "a.md" : `${index}.md`,
        index === count - 1 ? "end" : `---\nextends: ${index + 1}.md\n---\n`,
      ]),
    );
  expect((await compose(chain(MAX_PROMPT_LEVELS))).text).toBe("end");
  await expect(compose(chain(MAX_PROMPT_LEVELS + 1))).rejects.toThrow("more than 10 files extend each other");

  const nested = (depth: number): string =>
    `${head}${"@if(v)\n".repeat(depth)}x\n${"@endif\n".repeat(depth)}`;
  expect(await textOf(nested(MAX_PROMPT_NESTING))).toBe("x\n");
  await expect(textOf(nested(MAX_PROMPT_NESTING + 1))).rejects.toThrow("nested more than 50 levels deep");

  const long = (length: number): string =>
    `---\nv: ${"x".repeat(1024)}\n---\n${"${v}".repeat(length / 1024)}`;
  expect((await textOf(long(MAX_COMPOSED_LENGTH))).length).toBe(MAX_COMPOSED_LENGTH);
  await expect(textOf(long(MAX_COMPOSED_LENGTH + 1024))).rejects.toThrow("more than 1048576 characters");

  const blocks = (name: string, count: number): string => `@block(${name})\n@endblock\n`.repeat(count);
  const many = {
    "root.md": blocks("x", 100),
    "2.md": `---\nextends: root.md\n---\n@fill(x)\n${blocks("y", 100)}@endfill\n`,
    "1.md": `---\nextends: 2.md\n---\n@fill(y)\n${blocks("z", 100)}@endfill\n`,
    "a.md": "---\nextends: 1.md\n---\n",
  };
  await expect(compose(many)).rejects.toThrow(`more than ${MAX_PROMPT_PARTS} parts`);
});

test("frontmatter has a limit of its own", async () => {
  const filler = (length: number): string => `---\n#${"a".repeat(length - 3)}\n---\nx`;
  expect(await textOf(filler(MAX_FRONTMATTER_LENGTH))).toBe("x");
  await expect(textOf(filler(MAX_FRONTMATTER_LENGTH + 1))).rejects.toThrow(
    "a.md:1: the frontmatter has more than 16384 characters",
  );
  await expect(textOf(`---\n${"]".repeat(MAX_YAML_SIGNS)}\n---\nx`)).rejects.toThrow(
    `a.md:1: the frontmatter is too complex: more than ${MAX_YAML_SIGNS} lines`,
  );
});

test("a text without frontmatter comes back as it is", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
      fc.pre(!text.includes("\r\n") && !/^\s*---/.test(text));
      expect(await textOf(text)).toBe(text);
    }),
  );
});

test("a body without directives and variables comes back as it is", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
      fc.pre(!/[@$]|^\s*---/.test(text) && !text.includes("\r\n"));
      expect(await textOf(head + text)).toBe(text);
      expect(await textOf(EXTENDS, text)).toBe(text);
    }),
  );
});

test("whatever is in the files, there is a text or an error with file and line", async () => {
  const piece = fc.constantFrom(
    ..."---\n|\n|@if(a)|@if(!b)|@else|@endif|@block(x)|@endblock|@fill(x)|@endfill|${a}|${b:-c}|extends: base.md\n|a: 1\n|b: [\n|\t|text|\r\n|: |- |&a |*a |{{input}}".split(
      "|",
    ),
  );
  const file = fc
    .array(fc.oneof(piece, fc.string({ maxLength: 5 })), { maxLength: 30 })
    .map((all) => all.join(""));
  await fc.assert(
    fc.asyncProperty(file, file, fc.boolean(), async (leaf, base, isTemplate) => {
      const text = isTemplate ? EXTENDS + leaf : leaf;
      const said = await compose({ "a.md": text, "base.md": base }).then(
        () => "a.md:1: fine",
        (error: unknown) => (error instanceof CortexError ? error.message : error),
      );
      expect(said).toMatch(/^(a|base)\.md:\d+: ./);
    }),
    { numRuns: 300 },
  );
});
