import * as fc from "fast-check";
import { expect, test } from "vitest";

import { agentStep, endStep, testRecord } from "../../../test/support/relays.ts";
import { addAgent, close, type EndingStart, finish, INTERRUPTED, reopenRelay } from "./ending.ts";
import type { RelayRecord, StopReason } from "./record.ts";
import { beginSteps } from "./record-step.ts";

const PLANNER = { agent: "planner", stage: null };
const COMPLETED: EndingStart = { stopReason: "no_matching_transition" };

function ended(ending: EndingStart, record: RelayRecord = testRecord()): RelayRecord {
  return close(finish(record, ending, 1000), 2000);
}

test("how a relay ends is known before its scripts are told, and shown after", () => {
  const known = finish(testRecord(), { stopReason: "aborted", abortReason: "no data" }, 1000);
  expect(known).toMatchObject({ status: "running", endedAt: null, abortReason: null });
  expect(known.phase).toMatchObject({ kind: "script", point: "end", state: "due" });
  expect(close(known, 2000)).toMatchObject({
    status: "aborted",
    stopReason: "aborted",
    abortReason: "no data",
    error: null,
    endedAt: "1970-01-01T00:00:02.000Z",
    phase: { kind: "ended" },
  });
});

test("an abort may have no reason", () => {
  expect(ended({ stopReason: "aborted", abortReason: null })).toMatchObject({
    status: "aborted",
    abortReason: null,
  });
});

test("a relay that comes to its end by its rules is completed, and the reason is kept", () => {
  const reasons: StopReason[] = ["converged", "max_iterations", "cost_limit", "no_matching_transition"];
  for (const stopReason of reasons)
    expect(ended({ stopReason })).toMatchObject({ status: "completed", stopReason });
});

test("a relay that was running when the process ended has failed, and says of what", () => {
  expect(ended({ stopReason: "failed", error: INTERRUPTED })).toMatchObject({
    status: "failed",
    error: "Interrupted by server restart",
  });
});

test("the first ending wins, before and after it is shown", () => {
  const endings = fc.constantFrom<EndingStart>(
    { stopReason: "cancelled" },
    { stopReason: "aborted", abortReason: "x" },
    { stopReason: "failed", error: "y" },
    COMPLETED,
  );
  fc.assert(
    fc.property(endings, endings, (first, second) => {
      const known = finish(testRecord(), first, 0);
      expect(finish(known, second, 1)).toBe(known);
      const shown = close(known, 2);
      expect(finish(shown, second, 3)).toBe(shown);
      expect(close(shown, 4)).toBe(shown);
    }),
  );
});

test("a relay that has no ending cannot be closed", () => {
  const record = testRecord();
  expect(close(record, 0)).toBe(record);
});

test("a waiting relay can be cancelled", () => {
  expect(ended({ stopReason: "cancelled" }, { ...testRecord(), status: "waiting" }).status).toBe("cancelled");
});

test("no slot of a relay that has ended is at work", () => {
  const slots = [{ slotId: "planner", profile: "main", persistSession: false }];
  const running = beginSteps(testRecord({ slots }), [agentStep(PLANNER)], 0);
  expect(ended({ stopReason: "cancelled" }, running).agents["planner"]?.status).toBe("completed");
});

const critic = { slotId: "critic", profile: "main", persistSession: true };
const addition = { slot: critic, stage: null, configHash: "other" };

test("an agent is added to a relay that is completed, and runs next", () => {
  const record = addAgent(ended(COMPLETED), { ...addition, message: "Be strict" }, 3000);
  expect(record).toMatchObject({
    status: "running",
    stopReason: null,
    ending: null,
    endedAt: null,
    activeAgent: "critic",
    active: [{ agent: "critic", stage: null, message: "Be strict" }],
    userMessage: "Do it",
    configHash: "other",
    phase: { kind: "steps" },
  });
  expect(record.agents["critic"]).toMatchObject({ status: "idle", sessionId: null });
});

test("an agent that is added again goes on with its session", () => {
  const slots = [{ ...critic }];
  const worked = endStep(
    beginSteps(testRecord({ slots }), [agentStep({ agent: "critic", stage: null })], 0),
    0,
  );
  expect(addAgent(ended(COMPLETED, worked), addition, 0).agents["critic"]?.sessionId).toBe(
    "thr:thr_0a1b2c3d:critic",
  );
});

test("a relay that had no workspace gets one with the agent", () => {
  const workspace = { path: "/w", artifact: "/w/artifact.md" };
  expect(addAgent(ended(COMPLETED), { ...addition, workspace }, 0)).toMatchObject({
    workspacePath: "/w",
    artifactPath: "/w/artifact.md",
  });
});

test("an agent is added to a relay that waits for a message", () => {
  expect(addAgent({ ...testRecord(), status: "waiting" }, addition, 0).status).toBe("running");
});

test("no agent is added to a relay that runs, has failed, was cancelled or aborted", () => {
  const others = [
    testRecord(),
    ended({ stopReason: "failed", error: "x" }),
    ended({ stopReason: "cancelled" }),
    ended({ stopReason: "aborted" }),
  ];
  for (const record of others)
    expect(() => addAgent(record, addition, 0)).toThrow(expect.objectContaining({ code: "state_conflict" }));
});

test("an agent that is added leaves the step behind that waits for an answer", () => {
  const suspended: RelayRecord = { ...beginSteps(testRecord(), [agentStep(PLANNER)], 0), status: "waiting" };
  const record = addAgent(suspended, addition, 0);
  expect(record).toMatchObject({ status: "running", activeAgent: "critic", leg: suspended.leg + 1 });
  expect(record.steps).toEqual(suspended.steps);
});

test("no agent is added to a relay whose last step has not ended yet", () => {
  const begun = beginSteps(testRecord(), [agentStep(PLANNER)], 0);
  expect(() => addAgent({ ...begun, status: "completed" }, addition, 0)).toThrow(
    "Step 1 of relay thr_0a1b2c3d (planner) has not ended",
  );
});

test.each([
  { kind: "steps" },
  { kind: "script", point: "transition", source: "template", state: "due" },
] as const)("a relay that has failed goes on where it was: $kind", (phase) => {
  const failed = ended({ stopReason: "failed", error: INTERRUPTED }, { ...testRecord(), phase });
  expect(reopenRelay(failed, 3000)).toMatchObject({
    status: "running",
    error: null,
    endedAt: null,
    stopReason: null,
    ending: null,
    active: [PLANNER],
    phase,
  });
});

test("a relay that is completed, aborted or running cannot be resumed", () => {
  for (const record of [ended(COMPLETED), ended({ stopReason: "aborted" }), testRecord()])
    expect(() => reopenRelay(record, 0)).toThrow(expect.objectContaining({ code: "state_conflict" }));
});

test("a relay whose step is still being ended cannot be resumed", () => {
  const running = beginSteps(testRecord(), [agentStep(PLANNER)], 0);
  expect(() => reopenRelay(ended({ stopReason: "cancelled" }, running), 0)).toThrow(/has not ended/);
});
