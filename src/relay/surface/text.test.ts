import { expect, test } from "vitest";

import { agentStep, endStep, testRecord } from "../../../test/support/relays.ts";
import { close, finish } from "../record/ending.ts";
import { beginSteps } from "../record/record-step.ts";
import { relayView } from "./views.ts";
import { describeDryRun, describeStep, endLine, relayProgressLine, stepLine } from "./text.ts";

const slots = [{ slotId: "planner", profile: "offline", persistSession: true }];
const step = agentStep({ agent: "planner", stage: "draft" });
const begun = beginSteps(testRecord({ slots }), [step], 0);
const ended = endStep(begun, 0, { costUsd: 0.5, output: "A \u001b[31mplan\nof two lines" });

test("a line says where a relay is: step, agent and stage, cost, elapsed", () => {
  const active = { ...begun, activeStage: "draft" };
  expect(relayProgressLine(relayView(active), 61_000)).toBe(
    "thr_0a1b2c3d running · step 1 · planner:draft · $0.0000 · 1 min 1 s",
  );
  expect(relayProgressLine(relayView(ended), 2_000)).toContain(" · step 2 · ");
  const last = { ...ended, activeStage: "draft" }; // its scripts run, and no other step may follow
  expect(relayProgressLine(relayView(last), 2_000)).toContain(" · step 1 · ");
});

test("a step that has ended is a line, in which nothing moves the cursor", () => {
  expect(stepLine(relayView(ended).steps[0]!)).toBe(
    "step 1 · planner:draft · completed · $0.5000 · 0 ms · A plan",
  );
  expect(describeStep({ ...relayView(ended).steps[0]!, input: "Plan it" })).toBe(
    [
      "step 1 · planner:draft · completed · $0.5000 · 0 ms",
      "  asked",
      "    Plan it",
      "  answered",
      "    A plan",
      "    of two lines",
    ].join("\n"),
  );
});

test("an end is told with its reason, and with what went wrong", () => {
  const end = (ending: Parameters<typeof finish>[1]) =>
    endLine(relayView(close(finish(ended, ending, 3_000), 3_000)), 0);
  expect(end({ stopReason: "converged" })).toBe(
    "thr_0a1b2c3d is completed (converged): 1 step, $0.5000, 3.0 s",
  );
  expect(end({ stopReason: "aborted", abortReason: "no disk" })).toMatch(/is aborted: .*\. no disk$/);
  expect(end({ stopReason: "failed", error: "no model" })).toMatch(/is failed: .*\. no model$/);
});

test("a dry run is the way that was taken, and how it ended", () => {
  const steps = [{ agent: "planner", stage: null, prompt: "Plan", output: "Done" }];
  expect(describeDryRun({ template: "t", steps, stopReason: "converged", artifact: "" })).toBe(
    "step 1  planner  Done\nStop reason: converged. Nothing was stored.",
  );
});
