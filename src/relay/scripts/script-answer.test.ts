import * as fc from "fast-check";
import { expect, test } from "vitest";

import { parseScriptAnswer } from "./script-answer.ts";

const parse = (answer: unknown) => parseScriptAnswer(JSON.stringify(answer), ["planner", "reviewer"]);

test("a script that answers nothing, or that no agent is wanted, lets the relay go on", () => {
  for (const output of [
    "",
    " \n",
    "null",
    "{}",
    '{"insertAgent":false}',
    '{"insertAgent":false,"prompt":"x"}',
    '{"insertAgent":null,"targetAgent":null,"prompt":null}',
  ])
    expect(parseScriptAnswer(output, [])).toEqual({ kind: "nothing" });
});

test("a script may ask for an agent of its own, with blanks around its answer", () => {
  const output = '\n{"insertAgent": true, "prompt": "Clean up", "profile": "haiku"}\n';
  expect(parseScriptAnswer(output, [])).toEqual({ kind: "insert", prompt: "Clean up", profile: "haiku" });
});

test("a directive stands before the prompt, in both ways", () => {
  const words = { prompt: "Clean up", directive: "You are tidy" };
  expect(parse({ insertAgent: true, ...words })).toEqual({
    kind: "insert",
    prompt: "You are tidy\n\nClean up",
  });
  expect(parse({ targetAgent: "planner", ...words })).toMatchObject({ prompt: "You are tidy\n\nClean up" });
});

test("a script may send a prompt to an agent of the relay, which wins over one of its own", () => {
  expect(parse({ targetAgent: "reviewer", insertAgent: true, prompt: "Check again" })).toEqual({
    kind: "target",
    agent: "reviewer",
    prompt: "Check again",
  });
});

test("what is not as agreed is said", () => {
  const wrong: readonly (readonly [string, string])[] = [
    ["done", 'Its output is not a single JSON value: "done"'],
    ["{} {}", 'Its output is not a single JSON value: "{} {}"'],
    ["[]", 'Expected a JSON object, got "[]"'],
    ["true", 'Expected a JSON object, got "true"'],
    ['{"insertAgent":"yes"}', 'insertAgent: expected true or false, got "yes"'],
    ['{"targetAgent":7}', "targetAgent: expected the name of an agent, got 7"],
    ['{"insertAgent":true}', "It requested an agent without a prompt"],
    ['{"insertAgent":true,"prompt":" "}', "It requested an agent without a prompt"],
    ['{"insertAgent":true,"prompt":"x","profile":1}', "profile: expected a string, got 1"],
    ['{"targetAgent":"nobody","prompt":"x"}', 'targetAgent: expected one of planner, reviewer, got "nobody"'],
  ];
  for (const [output, error] of wrong)
    expect(parseScriptAnswer(output, ["planner", "reviewer"])).toEqual({ kind: "failed", error });
});

test("of a long answer that is wrong the beginning is shown", () => {
  expect(parseScriptAnswer("x".repeat(10_000), [])).toMatchObject({
    error: expect.stringMatching(/: "x{199}…$/),
  });
});

test("whatever a script writes is an answer of one of the four kinds", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (output) => {
      expect(["nothing", "insert", "target", "failed"]).toContain(parseScriptAnswer(output, []).kind);
    }),
  );
});
