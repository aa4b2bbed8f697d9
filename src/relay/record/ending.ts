/**
 * How a relay ends, and continues after its end.
 *
 * Ending has two phases. First the outcome is recorded; nothing later changes it. Then the end scripts run, and only
 * after them is the relay shown as ended.
 */
import { CortexError } from "../../model/errors.ts";
import { type NewRecord, type NewSlot, newSlot, timestamp } from "./new-record.ts";
import {
  type ActiveEnd,
  type Ending,
  isTerminal,
  type RelayRecord,
  type RelayStatus,
  type Slot,
  type StopReason,
} from "./record.ts";
import { leadTo } from "./record-step.ts";

/** The error of a relay that was running when the process ended. */
export const INTERRUPTED = "Interrupted by server restart";

export interface EndingStart {
  readonly stopReason: StopReason;
  readonly error?: string;
  readonly abortReason?: string | null;
}

/** The first ending wins: later ones return the record unchanged. */
export function finish(record: RelayRecord, ending: EndingStart, nowMs: number): RelayRecord {
  if (record.ending !== null || isTerminal(record)) return record;
  const { stopReason, error = null, abortReason = null } = ending;
  return {
    ...record,
    status: "running",
    ending: { stopReason, error, abortReason, from: record.phase },
    phase: { kind: "script", point: "end", source: "template", state: "due" },
    updatedAt: timestamp(nowMs),
  };
}

/** Marks a relay as ended, after its end scripts have run. */
export function close(record: RelayRecord, nowMs: number): RelayRecord {
  if (record.ending === null || isTerminal(record)) return record;
  const { stopReason, error, abortReason } = record.ending;
  const slots = Object.values(record.agents).map((slot): [string, Slot] => [
    slot.slotId,
    slot.status === "running" ? { ...slot, status: "completed" } : slot,
  ]);
  return {
    ...record,
    status: statusOf(stopReason),
    stopReason,
    error,
    abortReason: abortReason ?? record.abortReason,
    agents: Object.fromEntries(slots),
    phase: { kind: "ended" },
    updatedAt: timestamp(nowMs),
    endedAt: timestamp(nowMs),
  };
}

function statusOf(reason: Ending["stopReason"]): RelayStatus {
  switch (reason) {
    case "converged":
    case "max_iterations":
    case "cost_limit":
    case "no_matching_transition":
      return "completed";
    case "aborted":
    case "cancelled":
    case "failed":
      return reason;
  }
}

interface Addition {
  readonly slot: NewSlot;
  readonly stage: string | null;
  /** The message for the agent. The relay's own message does not change. */
  readonly message?: string;
  /** The snapshot that contains the agent. */
  readonly configHash: string;
  /** For a relay that had none. */
  readonly workspace?: NewRecord["workspace"];
}

/**
 * Adds an agent to a relay that is completed or waits for the user; otherwise `state_conflict`. A waiting step is left
 * behind: its outcome no longer affects the relay.
 */
export function addAgent(record: RelayRecord, addition: Addition, nowMs: number): RelayRecord {
  if (record.status !== "completed" && record.status !== "waiting")
    throw conflict(
      `Cannot add an agent to relay ${record.id}: it is ${record.status}`,
      record.status === "running"
        ? "Wait for it to end, or cancel it."
        : "`cortex relay resume` continues a failed relay; `!thread <agent>` starts another.",
    );
  if (record.status === "completed") requireStill(record);
  const { slot, stage, message, configHash, workspace } = addition;
  const entry: ActiveEnd = { agent: slot.slotId, stage, ...(message === undefined ? {} : { message }) };
  const known = record.agents[slot.slotId];
  return {
    ...reopen(record, nowMs),
    ...leadTo([entry]),
    leg: record.leg + 1,
    configHash,
    agents: { ...record.agents, [slot.slotId]: { ...(known ?? newSlot(slot)), ...slot } },
    ...(workspace === undefined ? {} : { workspacePath: workspace.path, artifactPath: workspace.artifact }),
  };
}

/** Continues a failed or cancelled relay where it stopped; otherwise `state_conflict`. */
export function reopenRelay(record: RelayRecord, nowMs: number): RelayRecord {
  if (record.status !== "failed" && record.status !== "cancelled")
    throw conflict(
      `Cannot resume relay ${record.id}: it is ${record.status}`,
      `Only failed and cancelled relays can be resumed. \`cortex relay add ${record.id} <agent>\` adds a step to a completed one.`,
    );
  requireStill(record);
  // A script that did not start still runs, and one that was interrupted is reported.
  return { ...reopen(record, nowMs), phase: record.ending?.from ?? { kind: "steps" } };
}

/** A step may outlive its relay for a moment, or be suspended. */
function requireStill({ id, steps }: RelayRecord): void {
  const busy = steps.find(({ status }) => status === "running");
  if (busy === undefined) return;
  throw conflict(
    `Step ${busy.stepIndex + 1} of relay ${id} (${busy.agentSlotId}) has not ended`,
    "Answer its request, or wait for it to end.",
  );
}

function reopen(record: RelayRecord, nowMs: number): RelayRecord {
  return {
    ...record,
    status: "running",
    stopReason: null,
    ending: null,
    error: null,
    endedAt: null,
    phase: { kind: "steps" },
    updatedAt: timestamp(nowMs),
  };
}

function conflict(message: string, hint: string): CortexError {
  return new CortexError("state_conflict", message, { hint });
}
