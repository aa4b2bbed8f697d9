/** What a relay does between the beginning and the end: its scripts, its steps, and waiting. */
import { close } from "./ending.ts";
import { timestamp } from "./new-record.ts";
import type { Phase, RelayRecord } from "./record.ts";

/** What is recorded of a script that had begun when the process ended. It is not begun again. */
export const SCRIPT_INTERRUPTED = "Cortex ended while it ran, and nobody knows what it did";

/** To be kept before the script begins, and before the agent does that it asked for. */
export function markScript(
  record: RelayRecord,
  state: Extract<Phase, { kind: "script" }>["state"],
  nowMs: number,
): RelayRecord {
  const { phase } = record;
  if (phase.kind !== "script") return record;
  return { ...record, phase: { ...phase, state }, updatedAt: timestamp(nowMs) };
}

/** A script's part is done: the caller's comes after the template's, and then what the scripts were told of. */
export function afterScript(record: RelayRecord, hasExtra: boolean, nowMs: number): RelayRecord {
  const { phase } = record;
  if (phase.kind !== "script") return record;
  const updatedAt = timestamp(nowMs);
  if (phase.source === "template" && hasExtra)
    return { ...record, phase: { ...phase, source: "extra", state: "due" }, updatedAt };
  return phase.point === "end" ? close(record, nowMs) : { ...record, phase: { kind: "steps" }, updatedAt };
}

/** Someone has to answer before it goes on. A relay that comes to its end does not wait. */
export function wait(record: RelayRecord, nowMs: number): RelayRecord {
  if (record.status !== "running" || record.ending !== null) return record;
  return { ...record, status: "waiting", updatedAt: timestamp(nowMs) };
}

export function wake(record: RelayRecord, nowMs: number): RelayRecord {
  if (record.status !== "waiting") return record;
  return { ...record, status: "running", updatedAt: timestamp(nowMs) };
}
