import type { EventId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Dispatched, NewDispatch } from "./dispatches.ts";
import type { StoredEvent } from "./events.ts";
import type { LeaseRequest } from "./leases.ts";
import type { ListOptions, Listed } from "./list.ts";
import type { ModelUse } from "./turns.ts";

/**
 * What is known of the hooks, and which of them has judged what.
 *
 * A hook is known by its name, the name of its file without the ending. Its history outlives the file. One hook
 * judges one event at most once: (event, hook) is unique among the runs.
 */
export interface HookReads {
  /** All that were ever seen, by name; those whose file is gone too. */
  list(): Promise<StoredHook[]>;

  get(name: string): Promise<StoredHook | undefined>;

  /** What a hook has judged, newest first. `hook_unknown`. */
  runs(name: string, options?: ListOptions): Promise<Listed<HookRun>>;

  /** Which hooks were asked about an event, by their names, and what they said. */
  ofEvent(event: EventId): Promise<HookRun[]>;

  /** How the last HEALTH_RUNS runs of a hook went. `hook_unknown`. */
  health(name: string): Promise<HookHealth>;

  /** What the runs of all hooks that ended since a moment have spent on models. Unknown prices count as nothing. */
  spentUsd(sinceMs: number): Promise<number>;

  /**
   * Events that are to be judged, oldest first; with `after`, those that came in after that place. Each comes
   * with the hooks that have judged it already, before a crash, say: they must not be asked again.
   */
  unjudged(options?: { readonly limit?: number; readonly after?: number }): Promise<Unjudged[]>;
}

export interface HookStore extends HookReads {
  /**
   * Says which hook files there are, all of them, and returns what `list` would.
   *
   * Two of the same name are `request_invalid`.
   *
   * - A new hook is active, or disabled where its file says so.
   * - With new content its circuit is closed again. It stays enabled or disabled as it was; but what an agent
   *   wrote is disabled until a person enables it, each time that it is written.
   * - One that cannot be loaded is errored, until it can.
   * - One whose file is gone is disabled. When the file is back, the hook is what it was.
   */
  sync(found: readonly HookFile[]): Promise<StoredHook[]>;

  /** Enabling also closes the circuit. `hook_unknown`. */
  setEnabled(name: string, enabled: boolean): Promise<StoredHook>;

  /**
   * Records that a hook has judged an event and, in the same commit, what follows: the dispatch, exactly as by
   * `events.dispatch`; the counters; the circuit, which CIRCUIT_ERRORS errors in a row open and a run without an
   * error closes (a row of chains that ended goes on then: such runs are what a chain is made of); and that the hook is disabled, because it asks for it or is a one-shot that has fired.
   *
   * A hook that was disabled since it was asked does not fire: its run is recorded, its dispatch is not made. So
   * a one-shot fires once, however many events it judges at the same time.
   *
   * A firing that silences others is exclusive: what they have asked for is taken back in the same commit, where
   * no turn has begun with it, and what they ask for later is not made where they yield.
   *
   * Recorded again, nothing changes, and the first record is told of. `hook_unknown`, `event_unknown`, and what
   * `events.dispatch` refuses: then nothing is recorded.
   */
  record(run: NewHookRun): Promise<Recorded>;

  /**
   * Lets what these hooks have asked for of an event wait for `forMs` from now, or until `hooks.judged`, where no turn
   * has begun with it: another hook is about to silence them. What collects keeps its own window. `event_unknown`.
   */
  hold(event: EventId, hooks: readonly string[], forMs: number): Promise<void>;

  /**
   * Counts what hooks have asked of models, for `turns.usedSince`. Called again, it counts again.
   */
  countUsage(used: Pick<ModelUse, "calls" | "tokens">): Promise<void>;

  /**
   * Says that every hook has judged an event, or has been passed over: nobody has to be asked about it again, and
   * what was made of it waits for nobody any more (`gatherMs`). Further runs, of hooks that did not fire, can be recorded in the same commit, as by `record`. Harmless where
   * the event was not to be judged.
   */
  judged(event: EventId, silent?: readonly SilentHookRun[]): Promise<void>;
}

/** open: it failed too often and is paused. One try is due CIRCUIT_REST_MS after it was opened. */
export type HookState = "active" | "disabled" | "errored" | "open";

/** persistent: fires as often as it likes. one-shot: is disabled by its first firing. */
export type HookMode = "persistent" | "one-shot";

/** A file in the folder of hooks, as it was read. */
export interface HookFile {
  readonly name: string;
  /** For people; the name unless told. */
  readonly title?: string;
  readonly description?: string;
  readonly mode: HookMode;
  /** Of its content: another digest is another content. */
  readonly digest: string;
  /** What it exports as filter, for whoever shows the hook and when it will fire. Kept like the result of a run. */
  readonly filter?: Json;
  /** Who wrote it. */
  readonly origin?: HookOrigin;
  /** A hook that is new begins disabled. */
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
  /** The first that holds of: disabled or gone, errored, open, active. */
  readonly state: HookState;
  /** Whether it would be asked if its file is there, can be loaded and does not rest. */
  readonly enabled: boolean;
  /** False: its file is gone. */
  readonly present: boolean;
  /** Why it cannot be loaded; else, while its runs fail, why the last one did. */
  readonly error: string | undefined;
  readonly consecutiveErrors: number;
  /** Where it is paused: since when. A failed try sets it anew. */
  readonly openedAtMs: number | undefined;
  /** How often it has fired. */
  readonly triggers: number;
  readonly triggeredAtMs: number | undefined;
  /** When it last finished judging an event. */
  readonly lastRunAtMs: number | undefined;
  readonly createdAtMs: number;
}

export interface SilentHookRun {
  readonly hook: string;
  /** What it returned. Of more than MAX_HOOK_RESULT_BYTES only `{omittedBytes}` is kept. */
  readonly result?: Json;
  /** Why it came to no result. Cut after MAX_HOOK_TEXT_LENGTH characters. */
  readonly error?: string;
  /** It does not want to be asked any more. */
  readonly disable?: boolean;
  readonly llmCalls?: number;
  /** Null where the price is not known. */
  readonly costUsd?: number | null;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** The hook was not asked; the run only records why. Its failures in a row, and whether it is paused, stay as they are. */
  readonly wasSkipped?: boolean;
}

export interface NewHookRun extends SilentHookRun {
  readonly event: EventId;
  readonly fired: boolean;
  /**
   * With a firing: hooks that have nothing to say about the event beside this one. What they have asked for is taken
   * back where no turn has begun with it.
   */
  readonly silences?: readonly string[];
  /** The hook is one of those: where an exclusive one has fired before it, its dispatch is not made. */
  readonly yields?: boolean;
  /** Absent: it fires without anything to be done, because its sender may not ask for anything, say. */
  readonly dispatch?: Omit<NewDispatch, "hook">;
  readonly claim?: LeaseRequest;
}

export interface Recorded {
  /** False: this (event, hook) was recorded before. */
  readonly fresh: boolean;
  /** Also false where the hook was disabled before it was recorded. */
  readonly fired: boolean;
  /** What the hook has come into. */
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
  /** How many are counted, at most HEALTH_RUNS. */
  readonly runs: number;
  readonly fired: number;
  readonly errors: number;
  readonly consecutiveErrors: number;
  /** In how many milliseconds 95 of 100 were done. Undefined: there are none. */
  readonly p95Ms: number | undefined;
}

export interface Unjudged {
  /** Its place among all events, by when they were taken in: for `after`. */
  readonly place: number;
  readonly event: StoredEvent;
  /** The hooks that have judged it already. */
  readonly asked: readonly string[];
}
