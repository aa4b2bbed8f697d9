import { expect, test } from "vitest";

import { agentStep, endStep, testRecord } from "../../../test/support/relays.ts";
import { close, type EndingStart, finish } from "./ending.ts";
import type { RelayRecord } from "./record.ts";
import { beginSteps, recordFailedScript } from "./record-step.ts";
import { finalOutput, summarise } from "./summary.ts";

function worked(): RelayRecord {
  const begun = beginSteps(testRecord(), [agentStep({ agent: "coder", stage: "review" })], 0);
  return endStep(begun, 0, { output: "answer", costUsd: 0.125, numTurns: 3 });
}

const ended = (ending: EndingStart, nowMs = 83_000) => close(finish(worked(), ending, 0), nowMs);

test("what comes out of a relay is its artifact, else what was answered last", () => {
  expect(finalOutput(worked(), "# Result")).toBe("# Result");
  expect(finalOutput(worked(), " \n")).toBe("answer");
  expect(finalOutput(worked(), undefined)).toBe("answer");
  expect(finalOutput(testRecord(), undefined)).toBeUndefined();
});

test("a relay that is complete is summed up with its steps, cost, time and reason", () => {
  expect(summarise(ended({ stopReason: "converged" }), 0)).toBe(
    "✅ Thread complete | 1 step | $0.1250 | 1m 23s | converged\ncoder:review: 3 turns · $0.1250 · 0.0s",
  );
});

test("a relay that was aborted says why, or that nobody did", () => {
  const lines = (abortReason: string | null) =>
    summarise(ended({ stopReason: "aborted", abortReason }), 0).split("\n");
  expect(lines("no data")[0]).toMatch(/^⛔ Thread aborted \| 1 step/);
  expect(lines("no data").at(-1)).toBe("Aborted: no data");
  expect(lines(null).at(-1)).toBe("Aborted: no reason given");
});

test("a relay that failed says of what", () => {
  expect(summarise(ended({ stopReason: "failed", error: "No model" }), 0)).toMatch(
    /^❌ Thread failed.*\nError: No model$/s,
  );
});

test("a relay that runs is summed up until now, and a script that failed is a line of its own", () => {
  const failure = { point: "start", command: "x", startedAtMs: 0, error: "Exit code 1\nboom" } as const;
  expect(summarise(recordFailedScript(worked(), failure, 0), 7_265_000)).toBe(
    "▶️ Thread running | 1 step | $0.1250 | 2h 1m\n" +
      "coder:review: 3 turns · $0.1250 · 0.0s\n" +
      "hook-start: 0.0s · failed: Exit code 1: boom",
  );
});
