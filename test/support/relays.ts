/** Records of relays, for tests. */
import type { RelayId } from "../../src/model/ids.ts";
import { newRecord, type NewRecord } from "../../src/relay/record/new-record.ts";
import type { RelayRecord } from "../../src/relay/record/record.ts";
import { recordStep, type StepOutcome, type StepStart } from "../../src/relay/record/record-step.ts";

export function testRecord(relay: Partial<NewRecord> = {}): RelayRecord {
  return newRecord({
    id: "thr_0a1b2c3d" as RelayId,
    templateName: "test",
    configHash: "hash",
    slots: [],
    entry: { agent: "planner", stage: null },
    channel: "terminal",
    userMessage: "Do it",
    nowMs: 0,
    ...relay,
  });
}

export function agentStep({ agent, stage }: { agent: string; stage: string | null }): StepStart {
  return { kind: "agent", slot: agent, stage, input: "", session: `thr:thr_0a1b2c3d:${agent}` };
}

export function endStep(record: RelayRecord, at: number, outcome: Partial<StepOutcome> = {}): RelayRecord {
  return recordStep(
    record,
    at,
    {
      status: "completed",
      output: "",
      costUsd: 0,
      numTurns: 1,
      turn: null,
      artifactHash: null,
      ...outcome,
    },
    0,
  );
}
