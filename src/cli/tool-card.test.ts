import { expect, test } from "vitest";

import type { Line } from "../terminal/spans.ts";
import { describeArguments, toolCard } from "./tool-card.ts";

function textOf(lines: readonly Line[]): string[] {
  return lines.map(({ first = [], spans }) => [...first, ...spans].map(({ text }) => text).join(""));
}

const READ = { name: "Read", args: "a.md" };

test("a card says whether a call worked, with what it was called, how long it took, and what came of it", () => {
  expect(textOf(toolCard(READ, { status: "ok", durationMs: 1_200, result: "# Title\n\ntext\n" }))).toEqual([
    "✓ Read a.md · 1.2 s",
    "  │ # Title",
    "  │ text",
  ]);
  expect(textOf(toolCard(READ, { status: "error", durationMs: undefined, result: "" }))).toEqual([
    "✗ Read a.md · error",
  ]);
});

test("of a long result the beginning is shown, and how much more there is", () => {
  const result = Array.from({ length: 20 }, (_, at) => `${at} ${"x".repeat(300)}`).join("\n");
  const [, ...lines] = textOf(toolCard(READ, { status: "ok", durationMs: 1, result }));
  expect(lines).toHaveLength(4);
  expect(lines[0]).toHaveLength("  │ ".length + 200);
  expect(lines[3]).toBe("  │ … 17 more lines");
});

test("nothing in a result reaches the terminal as a command", () => {
  const card = textOf(toolCard(READ, { status: "ok", durationMs: 1, result: "\u001b[2Jx\tz\u0007" }));
  expect(card[1]).toBe("  │ x  z");
});

test("arguments are told in short", () => {
  expect(describeArguments({ command: "ls\n  -l" })).toBe("ls -l");
  expect(describeArguments({ path: "a.md", limit: 20, deep: { x: 1 } })).toBe(
    'path: a.md, limit: 20, deep: {"x":1}',
  );
  expect(describeArguments({})).toBe("");
  expect(describeArguments(undefined)).toBe("");
  expect(describeArguments({ text: "x".repeat(500) })).toBe(`${"x".repeat(119)}…`);
});
