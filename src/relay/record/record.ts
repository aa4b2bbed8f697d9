/**
 * The record of a relay: all that is known about it, as one value. What may be done to it are functions from a record
 * to the next one: `new-record.ts`, `record-step.ts`, `ending.ts`. Whoever keeps records writes each change in one commit.
 *
 * The fields of `ThreadRecord` and `AgentStep` have the names and forms that programs know from `threads.json`.
 */
import type { RelayId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import type { Endpoint } from "../templates/endpoint.ts";

/** `waiting`: a step is suspended, or the relay waits for a message of the user. */
export type RelayStatus = "running" | "waiting" | "completed" | "failed" | "cancelled" | "aborted";

export type StopReason =
  | "converged"
  | "max_iterations"
  | "cost_limit"
  | "no_matching_transition"
  | "aborted"
  | "cancelled"
  | "failed";

export interface ThreadRecord {
  /** `thr_` and 8 hexadecimal digits. */
  readonly id: RelayId;
  /** "default": a message of a chat. Null: a single agent. */
  readonly templateName: string | null;
  readonly status: RelayStatus;
  readonly channel: string;
  readonly platformThreadId: string | null;
  readonly userMessage: string;
  readonly userMessageTs: string;
  /** Empty where there is no workspace yet. */
  readonly workspacePath: string;
  readonly artifactPath: string;
  readonly agents: Readonly<Record<string, Slot>>;
  /** What runs, or runs next. In a fan-out the first of them. */
  readonly activeAgent: string;
  readonly activeStage: string | null;
  /** How many steps have ended. */
  readonly currentStepIndex: number;
  readonly steps: readonly AgentStep[];
  /** How often a convergence edge found no marker, by `from→to`. */
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
  /** The session that the next step of the slot continues. Null: it begins a new one. */
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

/** What the caller gave, and what waits for the next step. Other fields are kept as they are. */
export interface RelayMetadata {
  readonly trigger?: string;
  readonly project?: string;
  readonly scheduleTaskId?: string;
  readonly profileOverride?: string;
  /** Messages of the user for the next step. */
  readonly pendingMessages?: readonly string[];
  /** How many messages were too many for it. */
  readonly droppedMessages?: number;
  readonly [field: string]: Json | undefined;
}

export interface RelayRecord extends ThreadRecord {
  readonly steps: readonly RelayStep[];
  readonly stopReason: StopReason | null;
  /** The snapshot of the configuration that it is pinned to. */
  readonly configHash: string;
  /** What is done now. */
  readonly phase: Phase;
  /** What runs, or runs next: several in a fan-out. */
  readonly active: readonly ActiveEnd[];
  /** How many transitions were taken. */
  readonly leg: number;
  /** How it will end, from the moment that is known: its scripts are told first, then everyone. */
  readonly ending: Ending | null;
}

export interface ActiveEnd extends Endpoint {
  /** What the agent is asked in place of its usual input: it was added with a message. */
  readonly message?: string;
}

export interface RelayStep extends AgentStep {
  /**
   * `inserted`: a script asked for it. `script`: it is a script that failed, or of which nobody knows how it ended.
   * Only an agent's own step counts for the limit of steps and is left by a rule.
   */
  readonly kind: "agent" | "inserted" | "script";
  /** How many transitions led to it: steps with the same number run side by side. Null: it is no agent's own step. */
  readonly leg: number | null;
  readonly status: "running" | "completed" | "failed";
  readonly error: string | null;
  /** The artifact when the step began, by its content. Null: it could not be read, or nobody has looked. */
  readonly artifactBefore: string | null;
  /** The artifact after the step, by its content. Null: it could not be read, or is not known yet. */
  readonly artifactHash: string | null;
}

export type ScriptPoint = "start" | "transition" | "end";

export type Phase =
  | { readonly kind: "steps" }
  | {
      readonly kind: "script";
      readonly point: ScriptPoint;
      /** The template's first, then that of the caller. */
      readonly source: "template" | "extra";
      /** `begun`: not begun again, also after a crash. `inserted`: it has ended; the agent that it asked for, if any, is at work. */
      readonly state: "due" | "begun" | "inserted";
    }
  | { readonly kind: "ended" };

export interface Ending {
  readonly stopReason: StopReason;
  readonly error: string | null;
  readonly abortReason: string | null;
  /** What was done when it came, to go on with if the relay is resumed. Absent: steps. */
  readonly from?: Phase;
}

/** How many steps a relay has: a script that failed is on the list of steps, and none. */
export function countSteps({ steps }: { readonly steps: readonly Pick<RelayStep, "kind">[] }): number {
  return steps.filter(({ kind }) => kind !== "script").length;
}

const TERMINAL: ReadonlySet<RelayStatus> = new Set(["completed", "failed", "cancelled", "aborted"]);

export function isTerminal({ status }: Pick<ThreadRecord, "status">): boolean {
  return TERMINAL.has(status);
}
