/**
 * How a relay comes to its end, and goes on after it.
 *
 * An end has two moments. When it is known how the relay ends, that is kept: whatever comes later does not change it.
 * Then the scripts for the end run; and only after them is the relay shown as ended.
 */
import { CortexError } from "../../model/errors.ts";
import { newSlot, timestamp } from "./new-record.ts";
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

/** What a relay failed of that was running when the process ended. */
export const INTERRUPTED = "Interrupted by server restart";

export interface EndingStart {
  readonly stopReason: StopReason;
  readonly error?: string;
  readonly abortReason?: string | null;
}

/** The first ending wins: later ones give the record back as it is. */
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

/** Shows a relay as ended, once the scripts for its end have been told. */
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

export interface Addition {
  readonly slot: Pick<Slot, "slotId" | "profile" | "persistSession">;
  readonly stage: string | null;
  /** What the agent is asked. The relay's own message stays what it was started with. */
  readonly message?: string;
  /** The snapshot with the agent in it. */
  readonly configHash: string;
  /** Made for a relay that had none. */
  readonly workspace?: { readonly path: string; readonly artifact: string };
}

/**
 * Gives a relay that has ended, or waits for the user, one more agent. Anything else is `state_conflict`. Of one that waits,
 * the step that waits is left behind: nothing that becomes of it decides how the relay goes on.
 */
export function addAgent(record: RelayRecord, addition: Addition, nowMs: number): RelayRecord {
  if (record.status !== "completed" && record.status !== "waiting")
    throw conflict(
      `Relay ${record.id} is ${record.status}, and no agent can be added to it`,
      record.status === "running"
        ? "Wait until it has ended, or cancel it."
        : "`cortex relay resume` continues a relay that has failed; `!thread <agent>` begins another.",
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

/** Lets a relay that has failed, or was cancelled, go on where it was. Anything else is `state_conflict`. */
export function resume(record: RelayRecord, nowMs: number): RelayRecord {
  if (record.status !== "failed" && record.status !== "cancelled")
    throw conflict(
      `Relay ${record.id} is ${record.status} and cannot be resumed`,
      `Only a relay that has failed or was cancelled can. \`cortex relay add ${record.id} <agent>\` gives a completed one another step.`,
    );
  requireStill(record);
  // A script that had no chance to begin still has it, and one that was cut off is told of.
  return { ...reopen(record, nowMs), phase: record.ending?.from ?? { kind: "steps" } };
}

/** A step may outlive its relay for a moment, or be suspended. */
function requireStill({ id, steps }: RelayRecord): void {
  const busy = steps.find(({ status }) => status === "running");
  if (busy === undefined) return;
  throw conflict(
    `Step ${busy.stepIndex + 1} of relay ${id}, by ${busy.agentSlotId}, has not ended`,
    "Answer what it asks for, or wait until it has ended.",
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
