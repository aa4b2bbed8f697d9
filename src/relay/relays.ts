/** Relays as the rest of the runtime and its surfaces see them: start one, look at it, steer it. */
import type { ApprovalId, EventId, PersonaId, RelayId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { RelayRecord, StopReason } from "./record/record.ts";
import type { ExtraHooks } from "./templates/resolve.ts";
import type { RelayConfig } from "./templates/snapshot.ts";
import type { Listed } from "../store/store.ts";

export interface RelayRequest {
  /** A template, else an agent. */
  readonly name: string;
  /** Which of the two it must be. */
  readonly kind?: "template" | "agent";
  readonly message: string;
  /** Where its steps work. Unless told, the relay's own workspace. */
  readonly dir?: string;
  /** For agents whose profile is `__active__`. */
  readonly profile?: string;
  readonly metadata?: { readonly [field: string]: Json };
  /** Where it was started, and where its notices and its end go: channel, account, place, topic, replyTo. */
  readonly delivery?: Json;
  /** The channel that the record names. Unless told, that of `delivery`, else `cli`. */
  readonly channel?: string;
  readonly startedBy?: RelayStarter;
  /** The event that led to it. */
  readonly cause?: EventId;
  /** What all of it may cost at most, where the template allows more or says nothing. */
  readonly budgetUsd?: number;
  /**
   * Scripts beside the template's own, which run first: `{onStart?, onTransition?, onEnd?}`, each `{command, args?, timeout?}`
   * as in a template. They are not stored: after a restart they do not run.
   */
  readonly extraHooks?: ExtraHooks;
  /** The former name of `extraHooks`. */
  readonly extraScripts?: ExtraHooks;
  /** The same key again is the same relay. */
  readonly idempotencyKey?: string;
  /** What its steps may do at most, as a narrowing: it was started for somebody else than the owner. */
  readonly permissions?: Json;
  /** Folders that stay closed to its steps. */
  readonly hidden?: readonly string[];
  /** Goes on after a restart, whatever the settings say. */
  readonly resumes?: true;
}

export interface RelayStarter {
  readonly session?: SessionKey;
  readonly persona?: PersonaId;
  /** The turn of the session that starts it. It is told of the end. */
  readonly turn?: TurnId;
  /** The tool call of that turn which waits for the end. Absent: the turn goes on, and the end comes as a message. */
  readonly ordinal?: number;
}

export interface RelayAddition {
  /** A relay that has ended or waits; else a turn, which becomes the first step of a new relay. */
  readonly id?: RelayId;
  readonly turn?: TurnId;
  readonly agent: string;
  readonly message?: string;
  readonly delivery?: Json;
}

export interface DryRun {
  readonly template: string | null;
  readonly steps: readonly DryStep[];
  readonly stopReason: StopReason | null;
  readonly artifact: string;
}

export interface DryStep {
  readonly agent: string;
  readonly stage: string | null;
  readonly prompt: string;
  readonly output: string | null;
}

export interface Relays {
  /** As it is now. */
  config(): Promise<RelayConfig>;
  /** `template_unknown` where the name is neither a template's nor an agent's. Resolves when it is kept and begins. */
  run(request: RelayRequest): Promise<RelayRecord>;
  /** `relay_unknown`, `turn_unknown`, `agent_unknown`, `state_conflict`. */
  add(addition: RelayAddition): Promise<RelayRecord>;
  /** False: it was over, or is already coming to its end. `relay_unknown`. */
  cancel(id: RelayId): Promise<boolean>;
  /** `relay_unknown`, `state_conflict`. */
  resume(id: RelayId): Promise<RelayRecord>;
  /**
   * Answers the question that a relay waits with; otherwise keeps the message for its next step. `relay_unknown`,
   * `state_conflict` where it is over. What comes of the same event is done once.
   */
  say(id: RelayId, text: string, from?: RelaySender): Promise<RelaySaid>;
  /** The record as it is shown: `waiting` where a step is suspended. A turn is shown as a relay of one step. */
  get(id: RelayId | TurnId): Promise<RelayRecord | undefined>;
  list(options?: RelayListOptions): Promise<Listed<RelayRecord>>;
  /** As it was after a step, counted from 1; unless told, as it is now. Undefined: it is not kept, or cannot be read. */
  artifact(id: RelayId, step?: number): Promise<string | undefined>;
  /** The path that it takes with the offline model. Nothing is kept of it. */
  dryRun(request: RelayRequest): Promise<DryRun>;
  /** Resolves when a relay has ended. Undefined: the signal came first. */
  ended(id: RelayId, signal: AbortSignal): Promise<RelayRecord | undefined>;
}

export interface RelaySender {
  /** The message that it came in: the same one again changes nothing. */
  readonly event?: EventId;
}

export interface RelaySaid {
  /** How many messages wait for the next step. */
  readonly buffered: number;
  /** How many were too many for it. */
  readonly dropped: number;
  /** The question that it answered. Null: none was open. */
  readonly answered: ApprovalId | null;
}

export interface RelayListOptions {
  readonly running?: boolean;
  /** Only those that were started there. */
  readonly channel?: string;
  readonly limit?: number;
  readonly cursor?: string;
}
