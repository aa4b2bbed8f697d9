/** The phases of a relay between its start and its end: scripts, steps, and waiting. */
import { close } from "./ending.ts";
import { timestamp } from "./new-record.ts";
import { recordFailedScript } from "./record-step.ts";
import type { Phase, RelayRecord, ScriptPoint } from "./record.ts";
import type { RelayScript, RelayScripts, SnapshotContent } from "../templates/snapshot.ts";
import type { StoredRelayStep } from "../../store/store.ts";

/** The error of a script whose end was not observed. */
const SCRIPT_CUT_OFF = "Interrupted; its effects are unknown";

/** Save the result before the script starts, and before the agent it requested does. */
export function markScript(
  record: RelayRecord,
  state: Extract<Phase, { kind: "script" }>["state"],
  nowMs: number,
): RelayRecord {
  const { phase } = record;
  if (phase.kind !== "script") return record;
  return { ...record, phase: { ...phase, state }, updatedAt: timestamp(nowMs) };
}

/** Records a script that was running when the process or the relay ended. It does not run again. */
export function recordCutOff(record: RelayRecord, command: string, nowMs: number): RelayRecord {
  const { phase } = record;
  if (phase.kind !== "script" || phase.state !== "begun") return record;
  const startedAtMs = Date.parse(record.updatedAt);
  const failure = { point: phase.point, command, startedAtMs, error: SCRIPT_CUT_OFF };
  return markScript(recordFailedScript(record, failure, nowMs), "inserted", nowMs);
}

/** Continues after a script: the caller's script follows the template's, then the relay moves on. */
export function afterScript(record: RelayRecord, hasExtra: boolean, nowMs: number): RelayRecord {
  const { phase } = record;
  if (phase.kind !== "script") return record;
  const updatedAt = timestamp(nowMs);
  if (phase.source === "template" && hasExtra)
    return { ...record, phase: { ...phase, source: "extra", state: "due" }, updatedAt };
  return phase.point === "end" ? close(record, nowMs) : { ...record, phase: { kind: "steps" }, updatedAt };
}

/**
 * The record as shown: `waiting` while a step waits for an answer from a person or another agent. This is derived from the
 * step's run and not stored. A relay that is ending never waits.
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

/** `extra` are the caller's scripts. They are not stored and do not survive a restart. */
export function scriptAt(
  { point, source }: Pick<Extract<Phase, { kind: "script" }>, "point" | "source">,
  { template }: SnapshotContent,
  extra: RelayScripts | undefined,
): RelayScript | undefined {
  const scripts = source === "template" ? template?.hooks : extra;
  return scripts?.[SCRIPT_NAMES[point]];
}
