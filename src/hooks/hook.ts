/**
 * The input and output of hooks: `import type { HookContext, HookResult } from "cortexd/hooks"`.
 *
 * The names are those of hooks of the original systems, so most are in snake case. Results may use either case.
 */
import type { Json } from "../model/json.ts";

export { cronMatches } from "./cron-matches.ts";
export type { Json } from "../model/json.ts";

/** The default export of a hook's file. */
export type Hook = (ctx: HookContext) => HookResult | Promise<HookResult>;

export interface HookContext {
  readonly event: HookEvent;
  /** The database, for `better-sqlite3`, which opens it read-only. Null if the store is not a file. */
  readonly dbPath: string | null;
  /** Read-only SQL over the public views: `events`, `agent_turns`, `hook_runs` and so on. */
  readonly query: (sql: string, params?: readonly SqlParameter[]) => Promise<HookRow[]>;
  /** Full-text search over all messages, best hits first. */
  readonly search: (text: string, options?: HookSearchOptions) => Promise<HookSearchHit[]>;
  /** Asks the model configured for hooks. Throws if the daily budget of hooks is spent. */
  readonly llm: (prompt: string, options?: HookLlmOptions) => Promise<string>;
  /** For timer events, the scheduled minute, even if the event is judged late. */
  readonly now: Date;
  /** The scheduled time that was missed while Cortex was not running, if the hook is called to catch up. */
  readonly missed: Date | null;
  readonly hook: HookSelf;
  /** Aborts when the hook times out. */
  readonly signal: AbortSignal;
}

export interface HookEvent {
  readonly id: string;
  /** When it happened, in milliseconds since 1970. */
  readonly timestamp: number;
  readonly channel: string;
  readonly direction: "received" | "sent" | "observed" | "created" | "updated" | "deleted";
  /** Null for events without content, such as a timer's. */
  readonly content: string | null;
  readonly content_type: string | null;
  /** The conversation on its channel, as in the view `threads`. */
  readonly thread_id: string | null;
  readonly sender_id: string | null;
  readonly account: string | null;
  readonly place: string | null;
  readonly topic: string | null;
  /** Null: unknown to the adapter. */
  readonly place_kind: "dm" | "group" | "channel" | null;
  /** Whether the agent was addressed by name. Null: unknown to the adapter. */
  readonly mentions_me: boolean | null;
  readonly reply_to: string | null;
  /** The platform's own id of the message. */
  readonly message_id: string | null;
  /** Of an edit, a deletion or a reaction: the `message_id` of the message it concerns. */
  readonly about: string | null;
  // The content depends on the adapter, and a hook knows its adapters.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly metadata: any;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly payload: any;
  readonly attachments: Json;
  readonly source_adapter: string;
  readonly source_id: string;
  /** The session that the sender named. Null: none. */
  readonly target: { readonly session: string } | null;
}

export interface HookSelf {
  /** The name of the file, without its extension. */
  readonly id: string;
  readonly name: string;
  readonly created_at: number;
  /** Number of times it fired. */
  readonly trigger_count: number;
  readonly last_triggered: number | null;
  /** The file's export `config`. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly config: any;
}

export type SqlParameter = string | number | bigint | null | Uint8Array;
// oxlint-disable-next-line typescript/no-explicit-any
export type HookRow = Record<string, any>;

export interface HookSearchOptions {
  readonly channels?: readonly string[];
  /** A date, milliseconds since 1970, or a string that `Date` parses. */
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
  /** On whose authority it happened, such as `owner` or `person:ada`. */
  readonly principal: string;
  /** Whose words it holds, to whom it is private, and what its authors may not use. */
  readonly label: {
    readonly untrusted: readonly string[];
    readonly private: readonly string[];
    readonly denied: readonly string[];
  };
}

export interface HookLlmOptions {
  readonly system?: string;
  /** Makes the answer a single JSON value, for `JSON.parse`. */
  readonly json?: boolean;
  readonly maxTokens?: number;
  readonly max_tokens?: number;
}

export interface HookResult {
  readonly fire: boolean;
  /** The target of the event. Absent: its own session. */
  readonly routing?: HookRouting;
  readonly context?: HookTurnContext;
  /** The address for the answer. Absent: the origin of the event. */
  readonly delivery?: HookDelivery;
  /** Disables the hook after this call, whether it fires or not. */
  readonly disable_hook?: boolean;
  readonly disableHook?: boolean;
  /** If it fires: silences the default hooks (`default-*`) for this event. */
  readonly exclusive?: boolean;
}

export interface HookRouting {
  readonly thread?: string;
  readonly session?: string;
  readonly persona?: string;
  /** An agent; if there is none of this name, a persona. */
  readonly agent?: string;
  readonly agent_id?: string;
  readonly agentId?: string;
  /** A relay template. Starts a relay with the content of the event. */
  readonly relay?: string;
  readonly mode?: "thread" | "session" | "persona";
  /** The name of the target, for `mode`. */
  readonly target?: string;
  /** Searches for the best target first, and falls back to the named one. */
  readonly smart?: boolean;
  readonly queue_mode?: HookQueueMode;
  readonly queueMode?: HookQueueMode;
}

export type HookQueueMode = "steer" | "steer-backlog" | "followup" | "queue" | "collect" | "interrupt";

export interface HookTurnContext {
  /** Instructions for the agent. */
  readonly prompt?: string;
  /** The hook's findings in the event: any JSON. */
  readonly extracted?: unknown;
  /** False: the turn starts without the earlier conversation. */
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

/** `export const filter`: applied before the hook is called. All given conditions must hold. */
export interface Filter {
  /** `*` matches any characters, here and below. */
  readonly channels?: readonly string[];
  /** Default: `received`. */
  readonly directions?: readonly HookEvent["direction"][];
  readonly senders?: readonly string[];
  /** The content type of the event, or the `type` of its metadata. */
  readonly types?: readonly string[];
  /** A regular expression in RE2 syntax, found anywhere in the content. Events without content do not match. */
  readonly match?: string | RegExp;
  /** Required values of metadata fields. */
  readonly metadata?: { readonly [field: string]: Json };
  /** A schedule for timer events: `0 9 * * 1-5`, `every 30m` or `at 2026-12-01T09:00`. */
  readonly cron?: string;
  /** The time zone of the schedule. Default: that of `cortex.json`. */
  readonly timezone?: string;
  /** After downtime: `once` catches up on the last missed time, `skip` on none. */
  readonly catchUp?: "skip" | "once";
}

/** `export const hook`: an alternative form of a hook's file. */
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
