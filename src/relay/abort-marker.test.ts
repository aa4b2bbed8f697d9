import * as fc from "fast-check";
import { expect, test } from "vitest";

import { findAbort, MAX_MARKER_LINE_LENGTH } from "./abort-marker.ts";

const inNew = (text: string) => findAbort("", text);

test("a text without the marker, and no text, abort nothing", () => {
  expect(inNew("All is well.")).toBeUndefined();
  expect(inNew("")).toBeUndefined();
});

test("a bare marker aborts without a reason", () => {
  expect(inNew("Stuck.\n[ABORT]\n")).toEqual({ reason: null });
});

test("the reason is what stands behind the colon, without blanks around it", () => {
  expect(inNew("[ABORT:   no access to the repository  ]")).toEqual({
    reason: "no access to the repository",
  });
  expect(inNew("[ABORT:none]")).toEqual({ reason: "none" });
});

test("a reason of blanks is none", () => {
  expect(inNew("[ABORT:   ]")).toEqual({ reason: null });
  expect(inNew("[ABORT:]")).toEqual({ reason: null });
});

test("a reason may hold brackets in pairs", () => {
  expect(inNew("[ABORT: see [1] and [2]]")).toEqual({ reason: "see [1] and [2]" });
});

test("of several markers the first counts", () => {
  expect(inNew("[ABORT: one]\n[ABORT: two]")).toEqual({ reason: "one" });
});

test("a marker that a line break parts is none", () => {
  expect(inNew("[ABORT: one\ntwo]")).toBeUndefined();
  expect(inNew("[ABORT\n]")).toBeUndefined();
});

test("a marker within a line is prose", () => {
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
  expect(prose.filter((line) => inNew(line) !== undefined)).toEqual([]);
});

test("a bullet may begin the line, and bold may wrap the marker", () => {
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
  expect(markers.filter((line) => inNew(`${line}\nmore`)?.reason !== "why")).toEqual([]);
});

test("a line that is indented as code is code", () => {
  expect(inNew("    [ABORT]")).toBeUndefined();
  expect(inNew("\t[ABORT]")).toBeUndefined();
});

test("a marker in fenced code is a quotation", () => {
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
  expect(fences.filter(([open, close]) => inNew(`${open}\n[ABORT]\n${close}\n`) !== undefined)).toEqual([]);
});

test("after fenced code a marker counts again", () => {
  expect(inNew("```\n[ABORT: quoted]\n```\n[ABORT: meant]")).toEqual({ reason: "meant" });
  expect(inNew("~~~\n```\n[ABORT: quoted]\n~~~\n[ABORT: meant]")).toEqual({ reason: "meant" });
  expect(inNew("```code in a line```\n[ABORT: meant]")).toEqual({ reason: "meant" });
});

test("code that an earlier step opened is code for what the next one appends", () => {
  expect(findAbort("```\n", "```\n[ABORT: quoted]\n")).toBeUndefined();
});

test("a marker that an earlier step wrote does not abort again", () => {
  const before = "# Plan\n[ABORT: no access]\n";
  expect(findAbort(before, `${before}Now there is access.\n`)).toBeUndefined();
  expect(findAbort(before, "Rewritten.\n\n- **[ABORT: no access]**\n# Plan\n")).toBeUndefined();
});

test("the same words written once more abort again", () => {
  const before = "[ABORT: no access]\n";
  expect(findAbort(before, before + before)).toEqual({ reason: "no access" });
});

test("an edit in the midst of the text counts as what the step added", () => {
  expect(findAbort("one\ntwo\n", "one\n[ABORT: odd]\ntwo\n")).toEqual({ reason: "odd" });
});

test("a line that is too long is no marker", () => {
  const longest = "x".repeat(MAX_MARKER_LINE_LENGTH - "[ABORT: ]".length);
  expect(inNew(`[ABORT: ${longest}]`)).toEqual({ reason: longest });
  expect(inNew(`[ABORT: ${longest}x]`)).toBeUndefined();
});

test("a text of millions of markers is read once", () => {
  const before = "[ABORT]\n".repeat(500_000);
  expect(findAbort(before, before)).toBeUndefined();
  expect(findAbort(before, `${before}[ABORT]\n`)).toEqual({ reason: null });
  expect(inNew(`[ABORT: ${"[".repeat(10_000_000)}`)).toBeUndefined();
});

const lines = fc.array(
  fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom("[ABORT]", "[ABORT: why]", "- **[ABORT: why]**", "text [ABORT] text", "```", "~~~", ""),
  ),
);

test("what was there before never aborts, wherever it is moved to", () => {
  fc.assert(
    fc.property(lines, (all) => {
      const text = all.filter((line) => !/`{3}|~{3}/.test(line)).join("\n");
      expect(findAbort(text, text)).toBeUndefined();
      expect(findAbort(text, text.split("\n").toReversed().join("\n"))).toBeUndefined();
    }),
  );
});

test("a marker on a line of its own after closed code always counts", () => {
  fc.assert(
    fc.property(lines, (all) => {
      const quoted = all
        .filter((line) => !line.includes("`````"))
        .map((line) => line.replaceAll(/[\r\n]/g, " "));
      const text = ["`````", ...quoted, "`````", "[ABORT: meant]"].join("\n");
      expect(inNew(text)).toEqual({ reason: "meant" });
    }),
  );
});

test("nothing that is quoted in code ever counts", () => {
  fc.assert(
    fc.property(lines, (all) => {
      const quoted = all.filter((line) => !line.includes("`````"));
      expect(inNew(["`````", ...quoted, "`````"].join("\n"))).toBeUndefined();
    }),
  );
});
