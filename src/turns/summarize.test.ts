import * as fc from "fast-check";
import { expect, test } from "vitest";

import { toolCall } from "../../test/support/question.ts";
import { message } from "../../test/support/sample.ts";
import { calls, says, spoken } from "../../test/support/scripted-model.ts";
import { compactionTurn, spokenTurn, turnContent } from "../../test/support/thread.ts";
import { MAX_SUMMARY_ANSWER_LENGTH, MAX_SUMMARY_QUERY_LENGTH, outline, transcript } from "./summarize.ts";

const turns = Array.from({ length: 100 }, (_, i) => spokenTurn(i, `query ${i}`, `answer ${i}`));

test("a turn is told with what was said, called and found", () => {
  const turn = turnContent(
    0,
    [message("q", "user", "Look."), spoken("m", calls(["Read", { path: "a.txt" }])), spoken("a", says(""))],
    { toolCalls: [toolCall(0, { result: { text: "It says b." } })] },
  );
  expect(
    transcript([{ ...turn, messages: [...turn.messages, message("z", "assistant", "It is b.")] }], 10_000),
  ).toBe('User: Look.\nTool: Read {"path":"a.txt"} → It says b.\nAssistant: It is b.');
});

test("older turns are told in a line, the oldest not at all, and it is said how many", () => {
  const text = transcript(turns, 2_000);
  expect(text).toMatch(/^\(\d+ older turns omitted\)\n- query \d+ → answer \d+\n/);
  expect(text).toMatch(/User: query 99\nAssistant: answer 99$/);
});

test("an outline has one line for each turn, of a limited length", () => {
  const long = spokenTurn(0, "a b\nc ".repeat(100), "d".repeat(1_000));
  const [line, ...more] = outline([long, turns[1]!], 10_000).split("\n");
  expect(line!.length).toBe("-  → ".length + MAX_SUMMARY_QUERY_LENGTH + 1 + MAX_SUMMARY_ANSWER_LENGTH + 1);
  expect(more).toEqual(["- query 1 → answer 1"]);
});

test("what was summed up before stays at the beginning", () => {
  const all = [compactionTurn(0, "The code word is heron."), ...turns];
  for (const text of [transcript(all, 1_000), outline(all, 1_000)]) {
    expect(text).toMatch(/^The code word is heron\.\n/);
    expect(text).toContain("query 99");
  }
});

test("neither is longer than it may be, whatever was said", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), fc.string())), fc.nat(2_000), (said, maxLength) => {
      const all = [compactionTurn(0, "x".repeat(500)), ...said.map(([q, a], i) => spokenTurn(i + 1, q, a))];
      const slack = 60; // for the line that says how many are left out
      expect(transcript(all, maxLength).length).toBeLessThanOrEqual(maxLength + slack);
      expect(outline(all, maxLength).length).toBeLessThanOrEqual(maxLength + slack);
    }),
  );
});
