import { expect, test } from "vitest";

import { agentStep, endStep, testRecord } from "../../../test/support/relays.ts";
import { newRelayId } from "./keys.ts";
import { beginSteps, follow, recordFailedScript, recordStep, stepsOfLeg, unbegun } from "./record-step.ts";

const slot = (slotId: string, persistSession = false) => ({ slotId, profile: "main", persistSession });
const PLANNER = { agent: "planner", stage: null };
const A = { agent: "a", stage: null };
const B = { agent: "b", stage: "x" };

test("a relay begins with its first script, its slots idle and nothing spent", () => {
  const record = testRecord({
    slots: [slot("planner")],
    workspace: { path: "/w", artifact: "/w/artifact.md" },
  });
  expect(record).toMatchObject({
    status: "running",
    activeAgent: "planner",
    activeStage: null,
    currentStepIndex: 0,
    totalCostUsd: 0,
    workspacePath: "/w",
    artifactPath: "/w/artifact.md",
    createdAt: "1970-01-01T00:00:00.000Z",
    endedAt: null,
    error: null,
    metadata: null,
    phase: { kind: "script", point: "start", state: "due" },
  });
  expect(record.agents).toEqual({
    planner: {
      slotId: "planner",
      profile: "main",
      sessionId: null,
      sessionName: null,
      status: "idle",
      lastOutput: null,
      persistSession: false,
    },
  });
});

test("a relay without a workspace has empty paths", () => {
  expect(testRecord()).toMatchObject({ workspacePath: "", artifactPath: "" });
});

test("the id of a relay is thr_ and eight hexadecimal digits", () => {
  expect(newRelayId()).toMatch(/^thr_[0-9a-f]{8}$/);
});

test("a step that has begun runs in its slot, and one that has ended is what the slot has done", () => {
  const begun = beginSteps(testRecord({ slots: [slot("planner", true)] }), [agentStep(PLANNER)], 1000);
  expect(begun.agents["planner"]?.status).toBe("running");
  expect(begun.steps).toMatchObject([
    { stepIndex: 0, status: "running", endedAt: null, startedAt: "1970-01-01T00:00:01.000Z" },
  ]);
  expect(begun.currentStepIndex).toBe(0);

  const outcome = {
    status: "completed",
    output: "A plan",
    costUsd: 0.25,
    numTurns: 3,
    turn: "turn-1",
    artifactHash: "abc",
  } as const;
  const ended = recordStep(begun, 0, outcome, 3500);
  expect(ended).toMatchObject({ currentStepIndex: 1, totalCostUsd: 0.25 });
  expect(ended.steps).toMatchObject([
    {
      output: "A plan",
      executionId: "turn-1",
      numTurns: 3,
      durationS: 2.5,
      artifactHash: "abc",
      error: null,
    },
  ]);
  expect(ended.agents["planner"]).toMatchObject({
    status: "completed",
    lastOutput: "A plan",
    sessionId: "thr:thr_0a1b2c3d:planner",
  });
});

test("a slot that keeps no session begins a new one each time", () => {
  const begun = beginSteps(testRecord({ slots: [slot("planner")] }), [agentStep(PLANNER)], 0);
  expect(endStep(begun, 0).agents["planner"]?.sessionId).toBeNull();
});

test("a step ends once", () => {
  const ended = endStep(beginSteps(testRecord(), [agentStep(PLANNER)], 0), 0, { costUsd: 1 });
  expect(endStep(ended, 0, { costUsd: 1 })).toBe(ended);
  expect(endStep(ended, 7)).toBe(ended);
});

test("a step of unknown cost adds nothing to what was spent", () => {
  expect(endStep(beginSteps(testRecord(), [agentStep(PLANNER)], 0), 0, { costUsd: null }).totalCostUsd).toBe(
    0,
  );
});

test("a script that failed is among the steps, on no leg and in no slot", () => {
  const failure = {
    point: "end",
    command: "node x.mjs",
    startedAtMs: 1000,
    error: "Exit code 1: boom",
  } as const;
  const record = recordFailedScript(testRecord(), failure, 2000);
  expect(record.steps).toMatchObject([
    {
      kind: "script",
      agentSlotId: "hook-end",
      stage: null,
      leg: null,
      status: "failed",
      input: "node x.mjs",
      error: "Exit code 1: boom",
      durationS: 1,
    },
  ]);
  expect(record).toMatchObject({ agents: {}, currentStepIndex: 1, totalCostUsd: 0 });
});

test("a transition leads to what is next, counts its edge, and lets the scripts go first", () => {
  const record = follow(testRecord(), { to: [B, A], counted: "planner→b:x,a" }, 0);
  expect(record).toMatchObject({
    leg: 1,
    active: [B, A],
    activeAgent: "b",
    activeStage: "x",
    iterationCounts: { "planner→b:x,a": 1 },
    phase: { kind: "script", point: "transition", source: "template", state: "due" },
  });
  expect(follow(record, { to: [A], counted: "planner→b:x,a" }, 0).iterationCounts).toEqual({
    "planner→b:x,a": 2,
  });
  expect(follow(record, { to: [A], counted: undefined }, 0).iterationCounts).toEqual(record.iterationCounts);
});

test("steps that run side by side are one leg", () => {
  let record = endStep(beginSteps(testRecord(), [agentStep(PLANNER)], 0), 0);
  record = beginSteps(follow(record, { to: [A, B], counted: undefined }, 0), [agentStep(A), agentStep(B)], 0);
  expect(stepsOfLeg(record).map(({ agentSlotId }) => agentSlotId)).toEqual(["a", "b"]);
});

test("what runs or has run is not begun again, and what failed is", () => {
  let record = follow(testRecord(), { to: [A, B], counted: undefined }, 0);
  expect(unbegun(record)).toEqual([A, B]);
  record = beginSteps(record, [agentStep(A), agentStep(B)], 0);
  expect(unbegun(record)).toEqual([]);
  record = endStep(endStep(record, 0), 1, { status: "failed", error: "lost" });
  expect(unbegun(record)).toEqual([B]);
  record = endStep(beginSteps(record, [agentStep(B)], 0), 2);
  expect(unbegun(record)).toEqual([]);
});
