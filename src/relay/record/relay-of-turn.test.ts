import { expect, test } from "vitest";

import { testRecord } from "../../../test/support/relays.ts";
import { addAgent } from "./ending.ts";
import { previousOutput } from "./next-step.ts";
import { showRecord } from "./record.ts";
import { type EndedTurn, relayOfTurn } from "./relay-of-turn.ts";

const TURN: EndedTurn = {
  turn: "01TURN",
  kind: "chat",
  agent: "main",
  profile: "sonnet",
  session: "agent:main:main",
  channel: "telegram",
  question: "What is new?",
  answer: "Nothing.",
  costUsd: 0.5,
  numTurns: 2,
  startedAtMs: 1000,
  endedAtMs: 4000,
};

test("a message of a chat is a relay of one step by the name of default", () => {
  expect(showRecord(relayOfTurn(TURN))).toMatchObject({
    templateName: "default",
    status: "completed",
    stopReason: "no_matching_transition",
    channel: "telegram",
    userMessage: "What is new?",
    workspacePath: "",
    artifactPath: "",
    totalCostUsd: 0.5,
    currentStepIndex: 1,
    createdAt: "1970-01-01T00:00:01.000Z",
    endedAt: "1970-01-01T00:00:04.000Z",
    steps: [{ agentSlotId: "main", executionId: "01TURN", output: "Nothing.", durationS: 3, numTurns: 2 }],
    agents: { main: { sessionId: "agent:main:main", status: "completed" } },
  });
});

test("a turn of a single agent has no template", () => {
  expect(relayOfTurn({ ...TURN, kind: "agent" }).templateName).toBeNull();
});

test("a turn that failed is a relay that failed", () => {
  expect(relayOfTurn({ ...TURN, answer: null, error: "No model" })).toMatchObject({
    status: "failed",
    error: "No model",
    steps: [{ status: "failed", output: null }],
  });
});

test("a turn has the same id each time, and another turn another", () => {
  expect(relayOfTurn(TURN).id).toMatch(/^thr_[0-9a-f]{8}$/);
  expect(relayOfTurn(TURN).id).toBe(relayOfTurn(TURN).id);
  expect(relayOfTurn({ ...TURN, turn: "01OTHER" }).id).not.toBe(relayOfTurn(TURN).id);
});

test("an agent that is added to a turn is given what the turn answered", () => {
  const slot = { slotId: "critic", profile: "main", persistSession: false };
  const workspace = { path: "/w", artifact: "/w/artifact.md" };
  const relay = addAgent(relayOfTurn(TURN), { slot, stage: null, configHash: "hash", workspace }, 5000);
  expect(relay).toMatchObject({ status: "running", activeAgent: "critic", artifactPath: "/w/artifact.md" });
  expect(previousOutput(relay)).toBe("Nothing.");
});

test("a record is shown with the fields of threads.json, why it stopped, and nothing of the engine's", () => {
  expect(Object.keys(showRecord(testRecord())).toSorted()).toEqual([
    "abortReason",
    "activeAgent",
    "activeStage",
    "agents",
    "artifactPath",
    "channel",
    "configHash",
    "createdAt",
    "currentStepIndex",
    "endedAt",
    "error",
    "id",
    "iterationCounts",
    "metadata",
    "platformThreadId",
    "status",
    "steps",
    "stopReason",
    "templateName",
    "totalCostUsd",
    "updatedAt",
    "userMessage",
    "userMessageTs",
    "workspacePath",
  ]);
});
