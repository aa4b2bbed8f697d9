import type { EventId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Actor } from "./audit.ts";
import type { Dispatched, NewDispatch } from "./dispatches.ts";
import type { StoredEvent } from "./events.ts";
import type { LeaseRequest } from "./leases.ts";
import type { ListOptions, Listed } from "./list.ts";
import type { ModelUse } from "./turns.ts";

/**
 * Hooks and their runs.
 *
 * A hook is identified by its file name without the extension. Its history outlives the file. A hook judges an event
 * at most once: (event, hook) is unique among the runs.
 */
export interface HookReads {
  /** All hooks ever seen, by name, including those whose file is gone. */
  list(): Promise<StoredHook[]>;

  get(name: string): Promise<StoredHook | undefined>;

  /** Newest first. `hook_unknown`. */
  runs(name: string, options?: ListOptions): Promise<Listed<HookRun>>;

  /** The runs of all hooks on an event, by hook name. */
  ofEvent(event: EventId): Promise<HookRun[]>;

  /** Computed from the latest HEALTH_RUNS runs. `hook_unknown`. */
  health(name: string): Promise<HookHealth>;

  /** The model costs of all hook runs that ended since the given time. Unknown prices count as zero. */
  spentUsd(sinceMs: number): Promise<number>;

  /**
   * Events waiting for hooks, oldest first; with `after`, those accepted after that position. Each lists the hooks
   * that have judged it already, before a crash for example; they must not be asked again.
   */
  unjudged(options?: { readonly limit?: number; readonly after?: number }): Promise<Unjudged[]>;
}

export interface HookStore extends HookReads {
  /**
   * Takes the complete list of hook files and returns the same as `list`.
   *
   * Two files with the same name are `request_invalid`.
   *
   * - A new hook is active, or disabled if its file says so.
   * - New content closes the circuit. The hook stays enabled or disabled, except that content written by an agent
   *   disables it until a person enables it again.
   * - A hook that cannot be loaded is errored until it can.
   * - A hook whose file is gone is disabled. When the file returns, so does its previous state.
   */
  sync(found: readonly HookFile[]): Promise<StoredHook[]>;

  /** Enabling also closes the circuit. `hook_unknown`. */
  setEnabled(name: string, enabled: boolean, by?: Actor): Promise<StoredHook>;

  /**
   * Records that a hook has judged an event and, in the same commit, all consequences: the dispatch, exactly as by
   * `events.dispatch`; the counters; the circuit, which opens after CIRCUIT_ERRORS consecutive errors and closes
   * after a run without one (except that a streak of ended chains continues, because successful runs are what a chain
   * consists of); and disabling the hook if it asks for that or is a one-shot that has fired.
   *
   * A hook that was disabled after it was asked does not fire: its run is recorded without a dispatch. So a one-shot
   * fires once, however many events it judges concurrently.
   *
   * A firing that silences other hooks is exclusive: the same commit takes back what they have dispatched, unless a
   * turn has started with it, and hooks that yield dispatch nothing afterwards.
   *
   * Recording it again changes nothing and returns the first record. `hook_unknown`, `event_unknown` and whatever
   * `events.dispatch` refuses leave nothing recorded.
   */
  record(run: NewHookRun): Promise<Recorded>;

  /**
   * Delays what these hooks have dispatched for an event by `forMs`, or until `hooks.judged`, unless a turn has
   * started with it: another hook is about to silence them. Items of mode collect keep their own window.
   * `event_unknown`.
   */
  hold(event: EventId, hooks: readonly string[], forMs: number): Promise<void>;

  /** Adds model calls of hooks to `turns.usedSince`. Not idempotent. */
  countUsage(used: Pick<ModelUse, "calls" | "tokens">): Promise<void>;

  /**
   * Confirms that every hook has judged an event or was skipped: no hook is asked about it again, and its items stop
   * waiting (`gatherMs`). Runs of hooks that did not fire can be recorded in the same commit, as by `record`. Does
   * nothing if the event was not waiting for hooks.
   */
  judged(event: EventId, silent?: readonly SilentHookRun[]): Promise<void>;
}

/** open: paused after repeated failures. The next try is due CIRCUIT_REST_MS after it opened. */
export type HookState = "active" | "disabled" | "errored" | "open";

/** persistent: may fire any number of times. one-shot: disabled by its first firing. */
export type HookMode = "persistent" | "one-shot";

/** A file in the hooks folder, as it was read. */
export interface HookFile {
  readonly name: string;
  /** For display. Defaults to the name. */
  readonly title?: string;
  readonly description?: string;
  readonly mode: HookMode;
  /** The digest of its content. */
  readonly digest: string;
  /** The exported filter, to show when the hook will fire. Stored with the same size limit as a result. */
  readonly filter?: Json;
  /** Who wrote it. */
  readonly origin?: HookOrigin;
  /** Start disabled if the hook is new. */
  readonly startsDisabled?: boolean;
  /** Why it cannot be loaded. */
  readonly error?: string;
}

export type HookOrigin = "person" | "agent";

export interface StoredHook {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mode: HookMode;
  readonly digest: string;
  readonly filter: Json | undefined;
  readonly origin: HookOrigin;
  /** The first that applies of: disabled or gone, errored, open, active. */
  readonly state: HookState;
  /** Whether it would be asked, provided that its file exists, can be loaded and its circuit is closed. */
  readonly enabled: boolean;
  /** False: its file is gone. */
  readonly present: boolean;
  /** Why it cannot be loaded, or why its latest run failed. */
  readonly error: string | undefined;
  readonly consecutiveErrors: number;
  /** When its circuit opened. A failed try resets it. */
  readonly openedAtMs: number | undefined;
  /** Number of times it fired. */
  readonly triggers: number;
  readonly triggeredAtMs: number | undefined;
  /** When it last finished judging an event. */
  readonly lastRunAtMs: number | undefined;
  readonly createdAtMs: number;
}

export interface SilentHookRun {
  readonly hook: string;
  /** What it returned. Results over MAX_HOOK_RESULT_BYTES are replaced by `{omittedBytes}`. */
  readonly result?: Json;
  /** Why it has no result. Truncated to MAX_HOOK_TEXT_LENGTH characters. */
  readonly error?: string;
  /** The hook asks to be disabled. */
  readonly disable?: boolean;
  readonly llmCalls?: number;
  /** Null if the price is unknown. */
  readonly costUsd?: number | null;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** The hook was not asked; the run only records why. Leaves its failure count and circuit alone. */
  readonly wasSkipped?: boolean;
}

export interface NewHookRun extends SilentHookRun {
  readonly event: EventId;
  readonly fired: boolean;
  /**
   * With a firing: hooks to silence for this event. What they have dispatched is taken back unless a turn has started
   * with it.
   */
  readonly silences?: readonly string[];
  /** The hook can be silenced: if an exclusive hook has fired before it, it dispatches nothing. */
  readonly yields?: boolean;
  /** Absent: it fires without consequences, because its sender may not ask for any, for example. */
  readonly dispatch?: Omit<NewDispatch, "hook">;
  readonly claim?: LeaseRequest;
}

export interface Recorded {
  /** False: this (event, hook) was recorded before. */
  readonly fresh: boolean;
  /** Also false if the hook was disabled before it was recorded. */
  readonly fired: boolean;
  /** The state of the hook afterwards. */
  readonly state: HookState;
  readonly dispatched?: Dispatched;
}

export interface HookRun {
  readonly hook: string;
  readonly event: EventId;
  readonly fired: boolean;
  /** It silences the default hooks. */
  readonly exclusive: boolean;
  readonly result: Json | undefined;
  readonly error: string | undefined;
  readonly llmCalls: number;
  readonly costUsd: number | null;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

export interface HookHealth {
  /** How many runs were counted, at most HEALTH_RUNS. */
  readonly runs: number;
  readonly fired: number;
  readonly errors: number;
  readonly consecutiveErrors: number;
  /** p95 duration in ms. Undefined: there are no runs. */
  readonly p95Ms: number | undefined;
}

export interface Unjudged {
  /** Its position among all events, by when they were accepted: pass it as `after`. */
  readonly place: number;
  readonly event: StoredEvent;
  /** The hooks that have judged it already. */
  readonly asked: readonly string[];
}
