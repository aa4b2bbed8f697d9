import * as fc from "fast-check";
import { expect, test } from "vitest";

import { MAX_ARGUMENTS_DEPTH } from "../agent.ts";
import { MAX_CALLS, readToolLines } from "./tool-lines.ts";

test.each([
  ['/tool Read {"path": "a.md"}', [{ tool: "Read", args: { path: "a.md" } }]],
  ['  /tool Read{"path":"a.md"}  ', [{ tool: "Read", args: { path: "a.md" } }]],
  ["/tool List", [{ tool: "List", args: {} }]],
  ["/tool mcp__files__read-it {}", [{ tool: "mcp__files__read-it", args: {} }]],
  [
    "First this:\r\n/tool A {}\r\nand then:\r\n/tool B {}\r\n",
    [
      { tool: "A", args: {} },
      { tool: "B", args: {} },
    ],
  ],
  ['/tool Say {"text": "\u2028/tool B {}"}', [{ tool: "Say", args: { text: "\u2028/tool B {}" } }]],
  ["Use /tool Read {} for that", []],
  ["/toolbox Read {}", []],
  ["", []],
])("the calls of %j are read in order", (text, calls) => {
  expect(readToolLines(text)).toEqual({ calls, problems: [] });
});

test.each([
  ["/tool", "expected the name of a tool"],
  ['/tool {"path": "a.md"}', "expected the name of a tool"],
  ['/tool Read {"path": }', "not valid JSON on one line"],
  ["/tool Read path=a.md", "not valid JSON on one line"],
  ["/tool Read {", "not valid JSON on one line"],
  ["/tool Read [1]", "must be a JSON object"],
  ["/tool Read null", "must be a JSON object"],
  ["/tool Read 7", "must be a JSON object"],
])("of %j it is said what is wrong", (text, problem) => {
  const { problems } = readToolLines(`/tool Fine {}\n${text}`);
  expect(problems).toEqual([expect.stringContaining(problem)]);
  expect(problems[0]).toContain(text);
});

test("a long line is cut where it is quoted, and a name can be too long", () => {
  const [problem] = readToolLines(`/tool ${"x".repeat(129)}`).problems;
  expect(problem).toBe(
    `\`/tool ${"x".repeat(114)}…\`: expected the name of a tool, then its arguments as JSON.`,
  );
});

test("everything that is wrong is said at once", () => {
  expect(readToolLines("/tool\n/tool A {}\n/tool B {").problems).toHaveLength(2);
});

test("arguments can be nested as deep as is allowed and no deeper", () => {
  const nested = (depth: number): string => `/tool A ${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
  expect(readToolLines(nested(MAX_ARGUMENTS_DEPTH)).problems).toEqual([]);
  expect(readToolLines(nested(MAX_ARGUMENTS_DEPTH + 1)).problems).toEqual([
    expect.stringContaining("nested more than 100 deep"),
  ]);
});

test("as many calls as are allowed are read, and of more not one", () => {
  expect(readToolLines("/tool A {}\n".repeat(MAX_CALLS)).calls).toHaveLength(MAX_CALLS);
  const { calls, problems } = readToolLines("/tool A {}\n".repeat(MAX_CALLS + 1));
  expect(calls).toEqual([]);
  expect(problems).toEqual(["Too many `/tool` lines: 33 (limit 32)."]);
});

test("any arguments come out as they were written", () => {
  const args = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 }));
  fc.assert(
    fc.property(args, (value) => {
      const json = JSON.stringify(value);
      expect(readToolLines(`/tool Any ${json}`).calls).toEqual([
        { tool: "Any", args: JSON.parse(json) as unknown },
      ]);
    }),
  );
});

test("no text is too odd to be read", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const { calls, problems } = readToolLines(`/tool ${text}`);
      expect(calls.length + problems.length).toBeGreaterThan(0);
    }),
  );
});
