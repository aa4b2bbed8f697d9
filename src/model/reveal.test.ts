import * as fc from "fast-check";
import { expect, test } from "vitest";

import { lookalikes, MAX_LOOKALIKES, reveal } from "./reveal.ts";

/** Strings as attackers write them: of any code units, with much of what nobody sees. */
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)),
  fc
    .array(
      fc.constantFrom(
        "a",
        " ",
        "\n",
        "\t",
        "\\",
        "u{",
        "}",
        "202E",
        "\u202E",
        "\u200B",
        "\u{E0041}",
        "\uFE0F",
        "\u0301",
      ),
    )
    .map((parts) => parts.join("")),
);

const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}\u{A0}\u{3000}]/v;

function undo(shown: string): string {
  return shown.replaceAll(/\\u\{([\dA-F]+)\}/g, (_, hex: string) => {
    const code = Number.parseInt(hex, 16);
    return code > 0xffff ? String.fromCodePoint(code) : String.fromCharCode(code);
  });
}

test("whatever a text contains, nothing of it is invisible, and none of it is lost", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const shown = reveal(text);
      expect(shown).not.toMatch(HIDDEN);
      expect(undo(shown)).toBe(text);
      const lines = reveal(text, { lines: true });
      expect(lines.replaceAll(/[\n\t]/g, "")).not.toMatch(HIDDEN);
      expect(undo(lines)).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ["a right-to-left override", "a\u202Eb", "a\\u{202E}b"],
  ["a zero-width space", "rm\u200B", "rm\\u{200B}"],
  ["tag characters", "x\u{E0041}", "x\\u{E0041}"],
  ["a variation selector", "\u2764\uFE0F", "\u2764\\u{FE0F}"],
  ["a private character", "\uE000", "\\u{E000}"],
  ["a lone surrogate", "\uD800", "\\u{D800}"],
  ["an escape sequence of a terminal", "\u001B[31m", "\\u{1B}[31m"],
  ["a no-break space", "a\u00A0b", "a\\u{A0}b"],
  ["a blank letter", "\u3164", "\\u{3164}"],
  ["a space at the end", "a ", "a\\u{20}"],
  ["an escape that is already one", "\\u{202E}", "\\u{5C}u{202E}"],
  ["a mark without a letter", "\u0301x", "\\u{301}x"],
  ["many marks on a letter", "e\u0301\u0301\u0301\u0301", "e\u0301\u0301\u0301\\u{301}"],
])("%s is shown as an escape", (_, text, shown) => {
  expect(reveal(text)).toBe(shown);
});

test.each(["Grüße, Ελλάδα, 日本語, हिन्दी, 🙂", "C:\\users\\ann", 'say "hi" && ls -l | wc'])(
  "%s stays as it is",
  (text) => {
    expect(reveal(text)).toBe(text);
  },
);

test("words that look like others are named", () => {
  expect(lookalikes("curl https://p\u0430ypal.com/x")).toEqual([
    "p\u0430ypal.com mixes Latin and Cyrillic letters: p\\u{430}ypal.com",
  ]);
  expect(lookalikes("open b\u00FCcher.example")).toEqual([
    "b\u00FCcher.example as a host is xn--bcher-kva.example",
  ]);
  expect(lookalikes("rm \u05D0 / \u05D1")).toEqual([expect.stringContaining("right to left")]);
  expect(lookalikes("na\u00EFve Ελλάδα README.md")).toEqual([]);
});

test("only so many of them are named", () => {
  const many = Array.from({ length: 2 * MAX_LOOKALIKES }, (_, at) => `a${at}\u0430`).join(" ");
  expect(lookalikes(many)).toHaveLength(MAX_LOOKALIKES);
});
