import * as fc from "fast-check";
import { expect, test } from "vitest";

import { findAbort, MAX_MARKER_LINE_LENGTH } from "./abort-marker.ts";

const inNew = (text: string) => findAbort("", text);
const reasonsIn = (texts: readonly string[]) =>
  Promise.all(texts.map(async (text) => (await inNew(text))?.reason));

test("a text without the marker, and no text, abort nothing", async () => {
  await expect(inNew("All is well.")).resolves.toBeUndefined();
  await expect(inNew("")).resolves.toBeUndefined();
});

test("a bare marker aborts without a reason", async () => {
  await expect(inNew("Stuck.\n[ABORT]\n")).resolves.toEqual({ reason: null });
});

test("the reason is what stands behind the colon, without blanks around it", async () => {
  await expect(inNew("[ABORT:   no access to the repository  ]")).resolves.toEqual({
    reason: "no access to the repository",
  });
  await expect(inNew("[ABORT:none]")).resolves.toEqual({ reason: "none" });
});

test("a reason of blanks is none", async () => {
  await expect(inNew("[ABORT:   ]")).resolves.toEqual({ reason: null });
  await expect(inNew("[ABORT:]")).resolves.toEqual({ reason: null });
});

test("a reason may hold brackets in pairs", async () => {
  await expect(inNew("[ABORT: see [1] and [2]]")).resolves.toEqual({ reason: "see [1] and [2]" });
});

test("of several markers the first counts", async () => {
  await expect(inNew("[ABORT: one]\n[ABORT: two]")).resolves.toEqual({ reason: "one" });
});

test("a marker that a line break parts is none", async () => {
  await expect(inNew("[ABORT: one\ntwo]")).resolves.toBeUndefined();
  await expect(inNew("[ABORT\n]")).resolves.toBeUndefined();
});

test("a marker within a line is prose", async () => {
  const prose = [
    "Write [ABORT] when you are stuck.",
    "[ABORT] is what I would write.",
    "[ABORT: a] and [b]",
    "I did not [ABORT]",
    "[ABORT][ABORT]",
    "[ABORTED]",
    "[abort]",
    "> [ABORT]",
    "| [ABORT] |",
    "`[ABORT]`",
    '"[ABORT]"',
    "**[ABORT]",
    "[ABORT]**",
    "# [ABORT]",
  ];
  await expect(reasonsIn(prose)).resolves.toEqual(prose.map(() => undefined));
});

test("a bullet may begin the line, and bold may wrap the marker", async () => {
  const markers = [
    "- [ABORT: why]",
    "* [ABORT: why]",
    "+ [ABORT: why]",
    "1. [ABORT: why]",
    "12) [ABORT: why]",
    "  - [ABORT: why]  ",
    "**[ABORT: why]**",
    "__[ABORT: why]__",
    "- **[ABORT: why]**",
    "[ABORT: why]\r",
  ];
  await expect(reasonsIn(markers.map((line) => `${line}\nmore`))).resolves.toEqual(markers.map(() => "why"));
});

test("a line that is indented as code is code", async () => {
  await expect(inNew("    [ABORT]")).resolves.toBeUndefined();
  await expect(inNew("\t[ABORT]")).resolves.toBeUndefined();
});

test("a marker in fenced code is a quotation", async () => {
  const fences = [
    ["```", "```"],
    ["```markdown", "```"],
    ["````", "````"],
    ["```", "`````"],
    ["~~~", "~~~"],
    ["~~~~ text", "~~~~"],
    ["   ```", "   ```"],
    ["- ```", "  ```"],
    ["1. ~~~", "   ~~~"],
    ["> ```", "> ```"],
    ["- > ```", "```"],
    ["```", ""], // which is never closed
    ["````", "```"], // nor is this one
    ["```", "~~~"],
    ["~~~", "```"],
    ["```", "``` more"],
  ];
  const quoted = fences.map(([open, close]) => `${open}\n[ABORT]\n${close}\n`);
  await expect(reasonsIn(quoted)).resolves.toEqual(quoted.map(() => undefined));
});

test("after fenced code a marker counts again", async () => {
  await expect(inNew("```\n[ABORT: quoted]\n```\n[ABORT: meant]")).resolves.toEqual({ reason: "meant" });
  await expect(inNew("~~~\n```\n[ABORT: quoted]\n~~~\n[ABORT: meant]")).resolves.toEqual({ reason: "meant" });
  await expect(inNew("```code in a line```\n[ABORT: meant]")).resolves.toEqual({ reason: "meant" });
});

test("code that an earlier step opened is code for what the next one appends", async () => {
  await expect(findAbort("```\n", "```\n[ABORT: quoted]\n")).resolves.toBeUndefined();
});

test("a marker that an earlier step wrote does not abort again", async () => {
  const before = "# Plan\n[ABORT: no access]\n";
  await expect(findAbort(before, `${before}Now there is access.\n`)).resolves.toBeUndefined();
  await expect(
    findAbort(before, "Rewritten.\n\n- **[ABORT: no access]**\n# Plan\n"),
  ).resolves.toBeUndefined();
});

test("the same words written once more abort again", async () => {
  const before = "[ABORT: no access]\n";
  await expect(findAbort(before, before + before)).resolves.toEqual({ reason: "no access" });
});

test("an edit in the midst of the text counts as what the step added", async () => {
  await expect(findAbort("one\ntwo\n", "one\n[ABORT: odd]\ntwo\n")).resolves.toEqual({ reason: "odd" });
});

test("a line that is too long is no marker", async () => {
  const longest = "x".repeat(MAX_MARKER_LINE_LENGTH - "[ABORT: ]".length);
  await expect(inNew(`[ABORT: ${longest}]`)).resolves.toEqual({ reason: longest });
  await expect(inNew(`[ABORT: ${longest}x]`)).resolves.toBeUndefined();
});

test("a text of millions of markers is read once", async () => {
  const before = "[ABORT]\n".repeat(500_000);
  await expect(findAbort(before, before)).resolves.toBeUndefined();
  await expect(findAbort(before, `${before}[ABORT]\n`)).resolves.toEqual({ reason: null });
  await expect(inNew(`[ABORT: ${"[".repeat(10_000_000)}`)).resolves.toBeUndefined();
});

const lines = fc.array(
  fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom("[ABORT]", "[ABORT: why]", "- **[ABORT: why]**", "text [ABORT] text", "```", "~~~", ""),
  ),
);

test("what was there before never aborts, wherever it is moved to", async () => {
  await fc.assert(
    fc.asyncProperty(lines, async (all) => {
      const text = all.filter((line) => !/`{3}|~{3}/.test(line)).join("\n");
      await expect(findAbort(text, text)).resolves.toBeUndefined();
      await expect(findAbort(text, text.split("\n").toReversed().join("\n"))).resolves.toBeUndefined();
    }),
  );
});

test("a marker on a line of its own after closed code always counts", async () => {
  await fc.assert(
    fc.asyncProperty(lines, async (all) => {
      const quoted = all
        .filter((line) => !line.includes("`````"))
        .map((line) => line.replaceAll(/[\r\n]/g, " "));
      const text = ["`````", ...quoted, "`````", "[ABORT: meant]"].join("\n");
      await expect(inNew(text)).resolves.toEqual({ reason: "meant" });
    }),
  );
});

test("nothing that is quoted in code ever counts", async () => {
  await fc.assert(
    fc.asyncProperty(lines, async (all) => {
      const quoted = all.filter((line) => !line.includes("`````"));
      await expect(inNew(["`````", ...quoted, "`````"].join("\n"))).resolves.toBeUndefined();
    }),
  );
});
