import { expect, test } from "vitest";

import { agentStep, endStep, testRecord } from "../../../test/support/relays.ts";
import { finish } from "./ending.ts";
import { lastAnswered, nextSteps, previousOutput, scriptSession, targetSession } from "./next-step.ts";
import type { RelayRecord } from "./record.ts";
import { beginSteps, follow } from "./record-step.ts";
import type { RelayTemplate } from "../templates/snapshot.ts";

const A = { agent: "a", stage: null };
const B = { agent: "b", stage: "x" };
const LIMITED: RelayTemplate = {
  name: "test",
  description: "",
  agents: [],
  transitions: [],
  entryAgent: "a",
  maxTotalSteps: 10,
  maxTotalCostUsd: 2,
  hooks: {},
};
const slots = [
  { slotId: "a", profile: "main", persistSession: true },
  { slotId: "b", profile: "main", persistSession: false },
];

/** A relay at its steps: those that it is to run. */
function at(...active: RelayRecord["active"]): RelayRecord {
  return {
    ...follow(testRecord({ slots }), { to: active, counted: undefined }, 0),
    phase: { kind: "steps" },
  };
}

function ran(record: RelayRecord, output: string): RelayRecord {
  const begun = beginSteps(record, record.active.map(agentStep), 0);
  return record.active.reduce(
    (so, _, offset) => endStep(so, record.steps.length + offset, { output }),
    begun,
  );
}

test("an agent that keeps its session has one for the relay, and goes on with it once it has worked", () => {
  expect(nextSteps(at(A), undefined)).toMatchObject([{ session: "thr:thr_0a1b2c3d:a", isResumed: false }]);
  const again = {
    ...follow(ran(at(A), ""), { to: [A], counted: undefined }, 0),
    phase: { kind: "steps" },
  } as const;
  expect(nextSteps(again, undefined)).toMatchObject([{ session: "thr:thr_0a1b2c3d:a", isResumed: true }]);
});

test("an agent that keeps none has a new one for each step", () => {
  expect(nextSteps(at(B), undefined)).toMatchObject([
    { slot: "b", stage: "x", session: "thr:thr_0a1b2c3d:b:0", isResumed: false },
  ]);
});

test("the money that is left is what a step may spend, and several share it", () => {
  const record = { ...at(A, B), totalCostUsd: 0.5 };
  expect(nextSteps(record, LIMITED).map(({ maxCostUsd }) => maxCostUsd)).toEqual([0.75, 0.75]);
  expect(nextSteps({ ...at(A), totalCostUsd: 3 }, LIMITED)).toMatchObject([{ maxCostUsd: 0 }]);
  expect(nextSteps(at(A), undefined)).toMatchObject([{ maxCostUsd: undefined }]);
});

test("only steps that run side by side write sections, each its own", () => {
  expect(nextSteps(at(A), undefined)).toMatchObject([{ section: undefined }]);
  expect(nextSteps(at(A, B), undefined).map(({ section }) => section)).toEqual([
    "sections/1-0-a.md",
    "sections/1-1-b_x.md",
  ]);
});

test("no step is next while a script has its say, the relay waits, or it ends", () => {
  expect(nextSteps(testRecord(), undefined)).toEqual([]);
  expect(nextSteps({ ...at(A), status: "waiting" }, undefined)).toEqual([]);
  expect(nextSteps(finish(at(A), { stopReason: "cancelled" }, 0), undefined)).toEqual([]);
});

test("a step that has begun is not next", () => {
  expect(nextSteps(beginSteps(at(A), [agentStep(A)], 0), undefined)).toEqual([]);
});

test("before the first answer there is no previous output", () => {
  expect(previousOutput(at(A))).toBeNull();
});

test("the previous output is that of the last step that answered", () => {
  const record = follow(ran(at(A), "first"), { to: [B], counted: undefined }, 0);
  expect(previousOutput(record)).toBe("first");
  const silent = beginSteps(record, [agentStep(B)], 0);
  const failed = endStep(silent, 1, { status: "failed", output: null });
  expect(previousOutput({ ...failed, leg: failed.leg + 1 })).toBe("first");
});

test("the previous output of a fan-out is what all of its agents answered, in the order of the list", () => {
  const record = follow(ran(at(A, B), "done"), { to: [A], counted: undefined }, 0);
  expect(previousOutput(record)).toBe("[a]\n\ndone\n\n[b:x]\n\ndone");
  expect(lastAnswered(record)).toHaveLength(2);
});

test("what a step of a fan-out has answered already is no input to another that is run again", () => {
  const record = ran(at(A), "first");
  const split = follow(record, { to: [A, B], counted: undefined }, 0);
  const half = endStep(beginSteps(split, [agentStep(A)], 0), 1, { output: "half" });
  expect(previousOutput(half)).toBe("first");
});

test("an agent that a script asked for has a session of its own", () => {
  expect(scriptSession("thr_0a1b2c3d", "end", 4)).toBe("thr:thr_0a1b2c3d:hook-end:4");
});

test("a script's message goes to the slot's session, else to that of its last step", () => {
  expect(targetSession(ran(at(A), ""), "a")).toBe("thr:thr_0a1b2c3d:a");
  expect(targetSession(ran(at(B), ""), "b")).toBe("thr:thr_0a1b2c3d:b");
  expect(targetSession(at(A), "a")).toBeUndefined();
  expect(targetSession(at(A), "nobody")).toBeUndefined();
});
