import { expect, test } from "vitest";

import { agentStep, endStep, testRecord } from "../../../test/support/relays.ts";
import { finish } from "./ending.ts";
import { beginSteps, follow } from "./record-step.ts";
import { scriptContext } from "./script-context.ts";

test("at the start a script is told what is wanted and who begins", () => {
  expect(scriptContext(testRecord(), "start", "")).toEqual({
    threadId: "thr_0a1b2c3d",
    templateName: "test",
    phase: "start",
    currentStepIndex: 0,
    steps: [],
    activeAgent: "planner",
    activeStage: null,
    previousAgent: null,
    artifactContent: "",
    artifactPath: "",
    userMessage: "Do it",
    totalCostUsd: 0,
    stopReason: null,
    abortReason: null,
    error: null,
    metadata: null,
  });
});

test("between two steps it is told who has worked and who is next", () => {
  const worked = endStep(beginSteps(testRecord(), [agentStep({ agent: "planner", stage: null })], 0), 0, {
    output: "A plan",
    costUsd: 0.5,
  });
  const next = follow(worked, { to: [{ agent: "coder", stage: "implement" }], counted: undefined }, 0);
  expect(scriptContext(next, "transition", "# Plan")).toMatchObject({
    phase: "transition",
    currentStepIndex: 1,
    steps: [{ stepIndex: 0, agentSlotId: "planner", output: "A plan" }],
    activeAgent: "coder",
    activeStage: "implement",
    previousAgent: "planner",
    artifactContent: "# Plan",
    totalCostUsd: 0.5,
  });
});

test("at the end it is told why the relay stops, and steps that still run are left out", () => {
  const running = beginSteps(testRecord(), [agentStep({ agent: "planner", stage: null })], 0);
  const ended = finish(running, { stopReason: "aborted", abortReason: "stuck" }, 0);
  expect(scriptContext(ended, "end", undefined)).toMatchObject({
    phase: "end",
    steps: [],
    stopReason: "aborted",
    abortReason: "stuck",
    artifactContent: "",
  });
});

test("a single agent has no template's name", () => {
  expect(scriptContext(testRecord({ templateName: null }), "start", "").templateName).toBe("");
});
