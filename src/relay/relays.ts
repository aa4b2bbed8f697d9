/** The API of relays for the rest of Cortex: start, inspect and steer them. */
import type { Principal } from "../model/principal.ts";
import type { Label } from "../model/trust.ts";
import type { ApprovalId, EventId, PersonaId, RelayId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Caller } from "../model/scopes.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { RelayRecord, StopReason } from "./record/record.ts";
import type { ExtraHooks } from "./templates/resolve.ts";
import type { RelayConfig } from "./templates/snapshot.ts";
import type { Listed } from "../store/store.ts";

export interface RelayRequest {
  /** A template, else an agent. */
  readonly name: string;
  /** Restricts `name` to one of the two. */
  readonly kind?: "template" | "agent";
  readonly message: string;
  /** The working folder of its steps (default: the relay's own workspace). */
  readonly dir?: string;
  /** For agents whose profile is `__active__`. */
  readonly profile?: string;
  readonly metadata?: { readonly [field: string]: Json };
  /** Where it was started and its notices go: channel, account, place, topic, replyTo. */
  readonly delivery?: Json;
  /** The channel in its record (default: the channel of `delivery`, else `cli`). */
  readonly channel?: string;
  readonly startedBy?: RelayStarter;
  /** The event that caused it. */
  readonly cause?: EventId;
  /** A cost limit for the whole relay. The template's limit also applies. */
  readonly budgetUsd?: number;
  /**
   * Scripts that run after the template's own: `{onStart?, onTransition?, onEnd?}`, each `{command, args?, timeout?}` as in
   * a template. They are not stored and do not run after a restart.
   */
  readonly extraHooks?: ExtraHooks;
  /** The former name of `extraHooks`. */
  readonly extraScripts?: ExtraHooks;
  /** Starting again with the same key returns the same relay. */
  readonly idempotencyKey?: string;
  /** A narrowing of its steps' permissions, for a relay not started for the owner. */
  readonly permissions?: Json;
  /** Whose words the message holds, beside those of the caller. */
  readonly label?: Label;
  /** On whose authority its steps run. Absent: that of its cause. */
  readonly principal?: Principal;
  /** Who hears its steps and its end. Absent: the owner. */
  readonly audience?: string;
  /** Folders its steps cannot access. */
  readonly hidden?: readonly string[];
  /** Continues after a restart regardless of the settings. */
  readonly resumes?: true;
}

export interface RelayStarter {
  readonly session?: SessionKey;
  readonly persona?: PersonaId;
  /** The turn of the session that starts it, which is notified of the end. */
  readonly turn?: TurnId;
  /** The tool call of that turn that waits for the end. Absent: the end comes as a message. */
  readonly ordinal?: number;
}

export interface RelayAddition {
  /** A completed or waiting relay. Otherwise `turn`, which becomes the first step of a new relay. */
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
  /** The current agents and templates. */
  config(): Promise<RelayConfig>;
  /** Resolves when the relay is stored. `template_unknown` if neither a template nor an agent has the name. */
  run(request: RelayRequest): Promise<RelayRecord>;
  /** `relay_unknown`, `turn_unknown`, `agent_unknown`, `state_conflict`. */
  add(addition: RelayAddition): Promise<RelayRecord>;
  /** False: it has ended or is already ending. `relay_unknown`. */
  cancel(id: RelayId): Promise<boolean>;
  /** `relay_unknown`, `state_conflict`. */
  resume(id: RelayId): Promise<RelayRecord>;
  /**
   * Answers the question that a relay waits for; otherwise buffers the message for its next step. Idempotent for the same
   * event. `relay_unknown`, `state_conflict` if it has ended.
   */
  say(id: RelayId, text: string, from?: RelaySender): Promise<RelaySaid>;
  /** The record as shown: `waiting` while a step is suspended. A turn is shown as a relay of one step. */
  get(id: RelayId | TurnId): Promise<RelayRecord | undefined>;
  list(options?: RelayListOptions): Promise<Listed<RelayRecord>>;
  /** After a step, counted from 1; without one, as it is now. Undefined: not stored, or unreadable. */
  artifact(id: RelayId, step?: number): Promise<string | undefined>;
  /** The steps it takes with the offline model. Stores nothing. */
  dryRun(request: RelayRequest): Promise<DryRun>;
  /** Resolves when a relay has ended. Undefined: the signal came first. */
  ended(id: RelayId, signal: AbortSignal): Promise<RelayRecord | undefined>;
}

export interface RelaySender {
  /** Identifies the message: repeating it has no effect. */
  readonly event?: EventId;
  /** Default: the owner. */
  readonly caller?: Caller | undefined;
}

export interface RelaySaid {
  /** How many messages wait for the next step. */
  readonly buffered: number;
  /** How many older messages were dropped. */
  readonly dropped: number;
  /** The question that was answered. Null: none was open. */
  readonly answered: ApprovalId | null;
}

export interface RelayListOptions {
  readonly running?: boolean;
  /** Only relays started there. */
  readonly channel?: string;
  readonly limit?: number;
  readonly cursor?: string;
}
