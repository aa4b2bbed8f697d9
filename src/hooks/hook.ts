/**
 * What a hook is given and what it gives back: `import type { HookContext, HookResult } from "cortexd/hooks"`.
 *
 * Names are those that hooks of the original systems use, so most of them are in snake case. A result may be
 * written in either case.
 */
import type { Json } from "../model/json.ts";

export { cronMatches } from "./cron-matches.ts";
export type { Json } from "../model/json.ts";

/** The default export of a hook's file. */
export type Hook = (ctx: HookContext) => HookResult | Promise<HookResult>;

export interface HookContext {
  readonly event: HookEvent;
  /** The database, for `better-sqlite3`, which opens it for reading only. Null where the store is no file. */
  readonly dbPath: string | null;
  /** Read-only SQL over the public views: `events`, `agent_turns`, `hook_runs` and so on. */
  readonly query: (sql: string, params?: readonly SqlParameter[]) => Promise<HookRow[]>;
  /** What was said, by its words, best first. */
  readonly search: (text: string, options?: HookSearchOptions) => Promise<HookSearchHit[]>;
  /** Asks the model that is configured for hooks. Throws when what hooks may spend in a day is spent. */
  readonly llm: (prompt: string, options?: HookLlmOptions) => Promise<string>;
  /** Of a timer's event: the minute that it stands for, however late it is judged. */
  readonly now: Date;
  /** The moment of its schedule that was missed while Cortex was not running, where it is asked because of that. */
  readonly missed: Date | null;
  readonly hook: HookSelf;
  /** Aborts when the time of the hook is over. */
  readonly signal: AbortSignal;
}

export interface HookEvent {
  readonly id: string;
  /** When it happened, in milliseconds since 1970. */
  readonly timestamp: number;
  readonly channel: string;
  readonly direction: "received" | "sent" | "observed" | "created" | "updated" | "deleted";
  /** Null for events that say nothing, such as a timer's. */
  readonly content: string | null;
  readonly content_type: string | null;
  /** The conversation on its channel, as in the view `threads`. */
  readonly thread_id: string | null;
  readonly sender_id: string | null;
  readonly account: string | null;
  readonly place: string | null;
  readonly topic: string | null;
  /** Null: the adapter does not say. */
  readonly place_kind: "dm" | "group" | "channel" | null;
  /** Whether the agent was addressed by name. Null: the adapter does not say. */
  readonly mentions_me: boolean | null;
  readonly reply_to: string | null;
  // What adapters put here differs from one to the next, and a hook knows its own.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly metadata: any;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly payload: any;
  readonly attachments: Json;
  readonly source_adapter: string;
  readonly source_id: string;
  /** The session that whoever sent it has named. Null: nobody has said where it goes. */
  readonly target: { readonly session: string } | null;
}

export interface HookSelf {
  /** The name of the file, without its ending. */
  readonly id: string;
  readonly name: string;
  readonly created_at: number;
  /** How often it has fired. */
  readonly trigger_count: number;
  readonly last_triggered: number | null;
  /** What the file exports as `config`. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly config: any;
}

export type SqlParameter = string | number | bigint | null | Uint8Array;
// oxlint-disable-next-line typescript/no-explicit-any
export type HookRow = Record<string, any>;

export interface HookSearchOptions {
  readonly channels?: readonly string[];
  /** A date, milliseconds since 1970, or a text that `Date` reads. */
  readonly since?: Moment;
  readonly until?: Moment;
  readonly limit?: number;
}

export type Moment = Date | number | string;

export interface HookSearchHit {
  readonly eventId: string;
  /** From 0 to 1, larger is better. */
  readonly score: number;
  readonly text: string;
  readonly channel: string;
  readonly sender_id: string | null;
  readonly timestamp: number;
}

export interface HookLlmOptions {
  readonly system?: string;
  /** The answer is one JSON value, for `JSON.parse`. */
  readonly json?: boolean;
  readonly maxTokens?: number;
  readonly max_tokens?: number;
}

export interface HookResult {
  readonly fire: boolean;
  /** Where the event goes: one target. Absent: the main session. */
  readonly routing?: HookRouting;
  readonly context?: HookTurnContext;
  /** Where the answer is sent. Absent: to where the event came from. */
  readonly delivery?: HookDelivery;
  /** The hook wants to be asked no more, whether it fires or not. */
  readonly disable_hook?: boolean;
  readonly disableHook?: boolean;
  /** With a firing: the default hooks (`default-*`) have no say in this event. */
  readonly exclusive?: boolean;
}

export interface HookRouting {
  readonly thread?: string;
  readonly session?: string;
  readonly persona?: string;
  /** An agent, else a persona. */
  readonly agent?: string;
  readonly agent_id?: string;
  readonly agentId?: string;
  /** A template: starts a relay with the content of the event. */
  readonly relay?: string;
  readonly mode?: "thread" | "session" | "persona";
  /** What the mode names. */
  readonly target?: string;
  /** Look for the best target first, and fall back on the one that is named. */
  readonly smart?: boolean;
  readonly queue_mode?: HookQueueMode;
  readonly queueMode?: HookQueueMode;
}

export type HookQueueMode = "steer" | "steer-backlog" | "followup" | "queue" | "collect" | "interrupt";

export interface HookTurnContext {
  /** What the agent is to do about it. */
  readonly prompt?: string;
  /** What the hook has found in the event: any JSON. */
  readonly extracted?: unknown;
  /** False: the turn is to be read without what was said before. */
  readonly include_history?: boolean;
  readonly includeHistory?: boolean;
  readonly include_thread?: boolean;
}

export interface HookDelivery {
  readonly channel?: string;
  readonly account?: string;
  readonly place?: string;
  readonly topic?: string;
  readonly reply_to?: string;
  readonly replyTo?: string;
}

/** `export const filter`: judged before the hook is called. All that is given must hold. */
export interface Filter {
  /** `*` stands for any characters, here and below. */
  readonly channels?: readonly string[];
  /** `received` unless told. */
  readonly directions?: readonly HookEvent["direction"][];
  readonly senders?: readonly string[];
  /** The content type of the event, or the `type` of its metadata. */
  readonly types?: readonly string[];
  /** Of events that say something: a regular expression in the syntax of RE2, found anywhere in the content. */
  readonly match?: string | RegExp;
  /** Fields of the metadata, and what they must be. */
  readonly metadata?: { readonly [field: string]: Json };
  /** Only the timer's events that a schedule names: `0 9 * * 1-5`, `every 30m` or `at 2026-12-01T09:00`. */
  readonly cron?: string;
  /** For the schedule. The one of `cortex.json` unless told. */
  readonly timezone?: string;
  /** once: when Cortex was not running, the last moment that was missed counts. skip: it is missed. */
  readonly catchUp?: "skip" | "once";
}

/** `export const hook`: the other form of a hook's file. */
export interface HookDefinition {
  readonly name?: string;
  readonly description?: string;
  readonly mode?: "persistent" | "one-shot";
  readonly triggers?: {
    readonly principal?: { readonly [field: string]: Json };
    readonly event?: {
      readonly channels?: readonly string[];
      readonly types?: readonly string[];
      readonly direction?: string | readonly string[];
      readonly metadata?: { readonly [field: string]: Json };
    };
  };
  readonly filter?: Filter;
  readonly config?: unknown;
  readonly handler: Hook;
}
