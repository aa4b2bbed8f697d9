/**
 * The record of a relay: its whole state as one value. The functions that change it (`new-record.ts`, `record-step.ts`,
 * `ending.ts`) return a new record. Each change is saved in one commit.
 *
 * The fields of `ThreadRecord` and `AgentStep` have the names and formats of `threads.json`.
 */
import type { RelayId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import type { Endpoint } from "../templates/endpoint.ts";

/** `waiting`: a step is suspended, or the relay waits for a message from the user. */
export const RELAY_STATUSES = ["running", "waiting", "completed", "failed", "cancelled", "aborted"] as const;
export type RelayStatus = (typeof RELAY_STATUSES)[number];

export const STOP_REASONS = [
  "converged",
  "max_iterations",
  "cost_limit",
  "no_matching_transition",
  "aborted",
  "cancelled",
  "failed",
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

interface ThreadRecord {
  /** `thr_` and 8 hexadecimal digits. */
  readonly id: RelayId;
  /** "default": a chat message. Null: a single agent. */
  readonly templateName: string | null;
  readonly status: RelayStatus;
  readonly channel: string;
  readonly platformThreadId: string | null;
  readonly userMessage: string;
  readonly userMessageTs: string;
  /** Empty: no workspace yet. */
  readonly workspacePath: string;
  readonly artifactPath: string;
  readonly agents: Readonly<Record<string, Slot>>;
  /** The agent that is running or runs next. In a fan-out, the first one. */
  readonly activeAgent: string;
  readonly activeStage: string | null;
  /** How many steps have ended. */
  readonly currentStepIndex: number;
  readonly steps: readonly AgentStep[];
  /** How often each convergence edge was taken without its marker, by `from→to`. */
  readonly iterationCounts: Readonly<Record<string, number>>;
  readonly totalCostUsd: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly endedAt: string | null;
  readonly error: string | null;
  readonly abortReason: string | null;
  readonly metadata: RelayMetadata | null;
}

/** An agent's place in a relay. */
export interface Slot {
  readonly slotId: string;
  readonly profile: string;
  /** The session that the slot's next step continues. Null: a new one. */
  readonly sessionId: string | null;
  readonly sessionName: string | null;
  readonly status: "idle" | "running" | "completed";
  readonly lastOutput: string | null;
  readonly persistSession: boolean;
}

export interface AgentStep {
  readonly stepIndex: number;
  readonly agentSlotId: string;
  readonly stage: string | null;
  /** The turn. */
  readonly executionId: string | null;
  readonly sessionId: string | null;
  readonly sessionName: string | null;
  /** The whole prompt. */
  readonly input: string;
  readonly output: string | null;
  readonly costUsd: number | null;
  readonly numTurns: number | null;
  readonly durationS: number | null;
  readonly startedAt: string | null;
  /** Null while it runs. */
  readonly endedAt: string | null;
}

/** Fields of the metadata with a meaning to Cortex, which sets them itself. */
export const RESERVED_METADATA = [
  "pendingMessages",
  "droppedMessages",
  "profileOverride",
  "depth",
  "call",
  "contract",
] as const;

/** Metadata from the caller, and messages for the next step. Other fields are passed through. */
export interface RelayMetadata {
  readonly trigger?: string;
  readonly project?: string;
  readonly scheduleTaskId?: string;
  readonly profileOverride?: string;
  /** Messages from the user for the next step. */
  readonly pendingMessages?: readonly string[];
  /** How many older messages were dropped. */
  readonly droppedMessages?: number;
  readonly [field: string]: Json | undefined;
}

export interface RelayRecord extends ThreadRecord {
  readonly steps: readonly RelayStep[];
  readonly stopReason: StopReason | null;
  /** The configuration snapshot that it is pinned to. */
  readonly configHash: string;
  readonly phase: Phase;
  /** The ends that are running or run next: several in a fan-out. */
  readonly active: readonly ActiveEnd[];
  /** How many transitions were taken. */
  readonly leg: number;
  /** Its outcome, known before its end scripts run. */
  readonly ending: Ending | null;
}

export interface ActiveEnd extends Endpoint {
  /** Replaces the usual input of an agent that was added with a message. */
  readonly message?: string;
}

export interface RelayStep extends AgentStep {
  /**
   * `inserted`: requested by a script. `script`: a script that failed or whose end is unknown. Only steps of kind `agent`
   * count towards the step limit and are followed by transitions.
   */
  readonly kind: "agent" | "inserted" | "script";
  /** How many transitions led to it. Steps with the same number run in parallel. Null: kind is not `agent`. */
  readonly leg: number | null;
  readonly status: "running" | "completed" | "failed";
  readonly error: string | null;
  /** The hash of the artifact when the step began. Null: unreadable or unknown. */
  readonly artifactBefore: string | null;
  /** The hash of the artifact after the step. Null: unreadable, or not known yet. */
  readonly artifactHash: string | null;
}

export type ScriptPoint = "start" | "transition" | "end";

export type Phase =
  | { readonly kind: "steps" }
  | {
      readonly kind: "script";
      readonly point: ScriptPoint;
      /** The template's script runs first, then the caller's. */
      readonly source: "template" | "extra";
      /** `begun`: it never starts again, even after a crash. `inserted`: it ended; the agent it requested may be running. */
      readonly state: "due" | "begun" | "inserted";
    }
  | { readonly kind: "ended" };

export interface Ending {
  readonly stopReason: StopReason;
  readonly error: string | null;
  readonly abortReason: string | null;
  /** The phase to continue with if the relay is resumed. Absent: steps. */
  readonly from?: Phase;
}

/** The number of steps. Failed scripts are in the list but do not count. */
export function countSteps({ steps }: { readonly steps: readonly Pick<RelayStep, "kind">[] }): number {
  return steps.filter(({ kind }) => kind !== "script").length;
}

const TERMINAL: ReadonlySet<RelayStatus> = new Set(["completed", "failed", "cancelled", "aborted"]);

export function isTerminal({ status }: Pick<ThreadRecord, "status">): boolean {
  return TERMINAL.has(status);
}

/** A record in the format of `threads.json`, without the engine's own fields. */
export function showRecord(
  record: RelayRecord,
): ThreadRecord & Pick<RelayRecord, "stopReason" | "configHash"> {
  const { phase: _phase, active: _active, leg: _leg, ending: _ending, steps, ...shown } = record;
  return { ...shown, steps: steps.map(({ leg: _stepLeg, ...step }) => step) };
}
