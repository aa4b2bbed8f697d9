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
    ["done", 'It wrote something other than one JSON value: "done"'],
    ["{} {}", 'It wrote something other than one JSON value: "{} {}"'],
    ["[]", 'It wrote "[]", not an object'],
    ["true", 'It wrote "true", not an object'],
    ['{"insertAgent":"yes"}', 'insertAgent is "yes", not true or false'],
    ['{"targetAgent":7}', "targetAgent is 7, not the name of an agent"],
    ['{"insertAgent":true}', "It asked for an agent and gave no prompt"],
    ['{"insertAgent":true,"prompt":" "}', "It asked for an agent and gave no prompt"],
    ['{"insertAgent":true,"prompt":"x","profile":1}', "profile is 1, not a text"],
    [
      '{"targetAgent":"nobody","prompt":"x"}',
      'targetAgent is "nobody", and the agents of this relay are planner, reviewer',
    ],
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
