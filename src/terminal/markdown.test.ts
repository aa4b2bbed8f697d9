import { expect, test } from "vitest";

import { MAX_MARKUP_LENGTH } from "./markdown-layout.ts";
import { MAX_BLOCK_LENGTH, MAX_BLOCK_LINES } from "./markdown.ts";
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

test("markup is CommonMark's: over two lines, in character references, in addresses", () => {
  expect(render("**a\nb** &amp; <https://x.example>", 60, tagged)).toEqual([
    "<bold|a>",
    "<bold|b> & <underline|https://x.example>",
  ]);
  expect(render("![alt](x.png) [](y)", 60, tagged)).toEqual(["<underline|alt><dim| (x.png)> <underline|y>"]);
});

test("indented text is code, and keeps its indent", () => {
  expect(render("a\n\n    b **c**\n\n      d\n\ne")).toEqual([
    "a",
    "",
    "    b **c**",
    "",
    "      d",
    "",
    "e",
  ]);
  expect(render("a\n  b\n      c")).toEqual(["a", "  b", "      c"]);
});

test("what is nested too deep to be parsed is shown as it was written", () => {
  for (const deep of [`${"> ".repeat(200)}a`, `${"- ".repeat(200)}a`])
    expect(render(deep, 1_000).join("")).toContain("a");
});

test("code that the end of its list ends is closed", () => {
  expect(render("- ```\nx\n\n> ```\n> y\nz")).toEqual([
    "• ╭─",
    "  ╰─",
    "x",
    "",
    "▏ ╭─",
    "▏ │ y",
    "▏ ╰─",
    "z",
  ]);
});

test("long code stays in its frame", () => {
  const code = Array.from({ length: 3 * MAX_BLOCK_LINES }, (_, at) => `# ${at}`);
  expect(render(["```", ...code, "```", "# x"].join("\n"))).toEqual([
    "╭─",
    ...code.map((line) => `│ ${line}`),
    "╰─",
    "x",
  ]);
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
  expect(render("| a | b |\n|---|:-:|\n| 日本 | **x** |\n| 1 |\n\nafter")).toEqual([
    "a    │ b",
    "─────┼──",
    "日本 │ x",
    "1    │",
    "",
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

test("a table ends with an empty line, and needs no outer pipes", () => {
  expect(render("a | b\n--|--\n1 | 2\n3\n\n4")).toEqual(["a │ b", "──┼──", "1 │ 2", "3 │", "", "4"]);
});

test("a row of a table that is none is a line", () => {
  expect(render("| a |\n| b |\n\n|x|")).toEqual(["| a |", "| b |", "", "|x|"]);
});

test("a table that is too long is shown in parts", () => {
  const rows = Array.from({ length: MAX_BLOCK_LINES + 10 }, (_, at) => `| ${at} |`);
  const shown = render(["| n |", "|---|", ...rows].join("\n"));
  expect(shown[2]).toBe("0");
  expect(shown.at(-1)).toBe(`| ${MAX_BLOCK_LINES + 9} |`);
  expect(shown).toHaveLength(MAX_BLOCK_LINES + 12);
});

test("a table with too much in it is shown in parts", () => {
  const cell = "x".repeat(MAX_BLOCK_LENGTH / 10);
  const rows = Array.from({ length: 12 }, () => `| ${cell} |`);
  const shown = render(["| n |", "|---|", ...rows].join("\n"), 2 * cell.length);
  expect(shown.filter((row) => row === cell)).toHaveLength(10);
  expect(shown.filter((row) => row === `| ${cell} |`)).toHaveLength(2);
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
