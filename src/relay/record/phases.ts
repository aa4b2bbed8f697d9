/** What a relay does between the beginning and the end: its scripts, its steps, and waiting. */
import { close } from "./ending.ts";
import { timestamp } from "./new-record.ts";
import { recordFailedScript } from "./record-step.ts";
import type { Phase, RelayRecord, ScriptPoint } from "./record.ts";
import type { RelayScript, RelayScripts, SnapshotContent } from "../templates/snapshot.ts";
import type { StoredRelayStep } from "../../store/store.ts";

/** What is recorded of a script whose end nobody has seen. */
const SCRIPT_CUT_OFF = "It was cut off, and nobody knows what it did";

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

/** Records a script that had begun when the process ended, or the relay did. It is not begun again. */
export function recordCutOff(record: RelayRecord, command: string, nowMs: number): RelayRecord {
  const { phase } = record;
  if (phase.kind !== "script" || phase.state !== "begun") return record;
  const startedAtMs = Date.parse(record.updatedAt);
  const failure = { point: phase.point, command, startedAtMs, error: SCRIPT_CUT_OFF };
  return markScript(recordFailedScript(record, failure, nowMs), "inserted", nowMs);
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

/**
 * The record as it is shown: `waiting` while a step waits for an answer, be it a person's or that of somebody it has
 * given work to. That is not kept: it is what the run of the step is like now. A relay that comes to its end does not wait.
 */
export function asShown(record: RelayRecord, rows: readonly Pick<StoredRelayStep, "wait">[]): RelayRecord {
  const isWaiting = record.status === "running" && record.ending === null;
  return isWaiting && rows.some(({ wait }) => wait !== undefined) ? { ...record, status: "waiting" } : record;
}

const SCRIPT_NAMES = {
  start: "onStart",
  transition: "onTransition",
  end: "onEnd",
} as const satisfies Record<ScriptPoint, keyof RelayScripts>;

/** `extra` are those that the caller gave: they are not kept, so that after a restart there are none. */
export function scriptAt(
  { point, source }: Pick<Extract<Phase, { kind: "script" }>, "point" | "source">,
  { template }: SnapshotContent,
  extra: RelayScripts | undefined,
): RelayScript | undefined {
  const scripts = source === "template" ? template?.hooks : extra;
  return scripts?.[SCRIPT_NAMES[point]];
}
