import { expect, test } from "vitest";

import { MAX_MARKUP_LENGTH, MAX_TABLE_LENGTH, MAX_TABLE_ROWS } from "./markdown.ts";
import { paintRow } from "./spans.ts";
import { addPiece, EMPTY_TRANSCRIPT } from "./transcript.ts";

const tagged = (format: unknown, words: string): string => `<${[format].flat().join(" ")}|${words}>`;

function render(text: string, columns = 60, style = (_: unknown, words: string): string => words): string[] {
  const { transcript, rows } = addPiece(EMPTY_TRANSCRIPT, { kind: "words", text }, columns);
  const end = addPiece(transcript, { kind: "end" }, columns);
  return [...rows, ...end.rows].map((row) => paintRow(row, style).trimEnd());
}

test("headings, emphasis, code and links have a look of their own", () => {
  expect(render("# One\n## Two ##", 60, tagged)).toEqual(["<bold underline|One>", "<bold|Two>"]);
  expect(render("a **b *c*** `d`", 60, tagged)).toEqual(["a <bold|b ><bold italic|c> <cyan|d>"]);
  expect(render("~~x~~ __y__ _z_", 60, tagged)).toEqual(["<strikethrough|x> <bold|y> <italic|z>"]);
  expect(render("[here](https://a.example) <b>")).toEqual(["here (https://a.example) <b>"]);
});

test("what is no markup is shown as it was written", () => {
  for (const line of ["2 * 3 * 4", "snake_case_name", "**open", "`open", "a | b", "#hash", "5 > 3", "--- a"])
    expect(render(line)).toEqual([line]);
  expect(render("\\*not\\*")).toEqual(["*not*"]);
});

test("lists keep their depth, and their text stands below itself", () => {
  expect(render("- one two three\n  - deeper\n10. ten\n- [x] done\n- [ ] open", 12)).toEqual([
    "• one two",
    "  three",
    "  • deeper",
    "10. ten",
    "☑ done",
    "☐ open",
  ]);
});

test("code stands in a frame and is not Markdown", () => {
  expect(render("```ts\nlet **x**;\n\tdeep\n```\nafter")).toEqual([
    "╭─ ts",
    "│ let **x**;",
    "│     deep",
    "╰─",
    "after",
  ]);
  expect(render("~~~\n```\n~~~")).toEqual(["╭─", "│ ```", "╰─"]);
  expect(render("- item\n  ```\n  x\n    y\n  ```")).toEqual(["• item", "  ╭─", "  │ x", "  │   y", "  ╰─"]);
});

test("code that is never closed is closed by the end", () => {
  expect(render("```\nx")).toEqual(["╭─", "│ x", "╰─"]);
});

test("quotes and rules", () => {
  expect(render("> said\n> - a\n***")).toEqual(["▏ said", "▏ • a", "─".repeat(24)]);
});

test("a table is as wide as what is in it, whatever its characters", () => {
  expect(render("| a | b |\n|---|:-:|\n| 日本 | **x** |\n| 1 |\nafter")).toEqual([
    "a    │ b",
    "─────┼──",
    "日本 │ x",
    "1    │",
    "after",
  ]);
});

test("where a table is too wide its widest column is broken, and where it is much too wide it becomes a list", () => {
  const table = "| name | words |\n|---|---|\n| x | one two three four |";
  expect(render(table, 20)).toEqual([
    "name │ words",
    "─────┼──────────────",
    "x    │ one two three",
    "     │ four",
  ]);
  expect(render(table, 10)).toEqual(["name: x", "words: one", "  two", "  three", "  four", ""]);
});

test("a row of a table that is none is a line", () => {
  expect(render("| a |\n| b |\n\n|x|")).toEqual(["| a |", "| b |", "", "|x|"]);
});

test("a table that is too long is shown in parts", () => {
  const rows = Array.from({ length: MAX_TABLE_ROWS + 10 }, (_, at) => `| ${at} |`);
  const shown = render(["| n |", "|---|", ...rows].join("\n"));
  expect(shown[2]).toBe("0");
  expect(shown.at(-1)).toBe(`| ${MAX_TABLE_ROWS + 9} |`);
  expect(shown).toHaveLength(MAX_TABLE_ROWS + 12);
});

test("a table with too much in it is shown in parts", () => {
  const cell = "x".repeat(MAX_TABLE_LENGTH / 10);
  const rows = Array.from({ length: 12 }, () => `| ${cell} |`);
  const shown = render(["| n |", "|---|", ...rows].join("\n"), 2 * cell.length);
  expect(shown.filter((row) => row === cell)).toHaveLength(9);
  expect(shown.filter((row) => row === `| ${cell} |`)).toHaveLength(3);
});

test("a line that is too long is shown as it was written", () => {
  const spaces = " ".repeat(MAX_MARKUP_LENGTH);
  for (const long of [
    `**${spaces}**`,
    `# a${spaces}b`,
    `| a${spaces}|`,
    `- a${spaces}b`,
    `\`\`\` a${spaces}\``,
  ])
    expect(render(long, 2 * MAX_MARKUP_LENGTH)).toEqual([long]);
  expect(render("| a |\n|---|\n".padEnd(MAX_MARKUP_LENGTH, "| b |\n"))).toContain("b");
});
