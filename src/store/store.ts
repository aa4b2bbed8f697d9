/**
 * The store: everything that must survive, and the only place where the steps of the pipeline meet.
 *
 * Its verbs are whole operations of the broker. Each is one transaction: when its promise resolves, all
 * of it is on disk; when it rejects, none of it is. There is no exposed transaction and no way to write
 * half an operation.
 *
 * Three rules hold for every verb that writes.
 *
 * - It may be called again with the same ids. A call that failed with `store_writer_lost` may have been
 *   committed all the same; repeating it does nothing twice. It succeeds again, or is refused because
 *   things have gone on since.
 * - It refuses before it writes. Unknown ids, stale leases and bad input are CortexErrors, and nothing
 *   of the operation is kept.
 * - What a run writes carries its lease. Once another holder has taken the session over, every write
 *   with the old lease is refused with `lease_lost`.
 */
import type { Direction, PlaceKind } from "../model/event.ts";
import type {
  AgentId,
  ApprovalId,
  DelegationId,
  DeliveryId,
  DispatchId,
  EventId,
  ItemId,
  MessageId,
  PersonaId,
  RelayId,
  RunId,
  TurnId,
} from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Message, Role, ToolCall, ToolStatus } from "../model/message.ts";
import type { QueueMode } from "../model/queue-mode.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Usage } from "../model/usage.ts";

/** What can be read, also beside the one that writes. Reading takes no lock and changes nothing. */
export interface Ledger extends AsyncDisposable {
  readonly events: EventReads;
  readonly queue: QueueReads;
  readonly runs: RunReads;
  readonly turns: TurnReads;
  readonly sessions: SessionReads;
  readonly outbox: OutboxReads;
  readonly approvals: ApprovalReads;
  readonly delegations: DelegationReads;
  readonly relays: RelayReads;
  readonly team: TeamReads;
  readonly hooks: HookReads;
  /** What the files channel knows of the files that it watches. */
  readonly files: FileReads;
  /** What came to no good end, messages and deliveries alike. */
  readonly dead: DeadReads;
  /** What was changed, in order: for whoever shows it live. */
  readonly changes: ChangeReads;

  /** How much there is of everything, cheap enough to be asked for every few seconds. */
  counts(): Promise<Counts>;

  /** What is late or does not move, as cheap as the counts. */
  pulse(nowMs: number): Promise<Pulse>;

  /**
   * Read-only SQL over the public views. A statement that is not a single query is `query_refused`;
   * one that runs longer than the deadline is stopped and is `query_timeout`.
   */
  query(sql: string, params?: readonly SqlValue[], options?: QueryOptions): Promise<Row[]>;

  /**
   * Recomputes every turn's hash and names the first turn that does not match. Of a turn that was pruned, the hash is
   * taken as it is. Takes as long as it takes.
   */
  verify(): Promise<Verdict>;

  /** What `prune` would take that is from before a moment. Takes as long as it takes. */
  prunable(beforeMs: number): Promise<Prunable>;
}

export interface Store extends Ledger {
  readonly events: EventStore;
  readonly queue: QueueStore;
  readonly runs: RunStore;
  readonly turns: TurnStore;
  readonly sessions: SessionStore;
  readonly outbox: OutboxStore;
  readonly approvals: ApprovalStore;
  readonly delegations: DelegationStore;
  readonly relays: RelayStore;
  readonly team: TeamStore;
  readonly hooks: HookStore;
  readonly files: FileStore;

  /**
   * Takes what was said out of old rows, a step at a time, and leaves ids, times, hashes, costs, and who follows whom.
   * Whatever waits, is under way or could be tried again is left alone, and so is the context of every session that was
   * used since. A thread that is taken up where it was pruned begins with what came after.
   *
   * Turns go before events: an answer's event goes when its turn has gone.
   */
  prune(kind: PruneKind, request: PruneRequest): Promise<PruneStep>;

  /**
   * After pruning: takes out what other places than its rows still hold of it, the index, the log of writes and
   * copies that were made before an update. Traces may stay in parts of the file that nothing uses.
   */
  forgetPruned(): Promise<void>;

  /** Keeps the personas as they are configured, for queries: these and no others. May be called again. */
  syncPersonas(personas: readonly KeptPersona[]): Promise<void>;

  /**
   * Calls back after rows were written that somebody may be waiting for. A wake-up carries no data, may
   * come when nothing is to be done, and may be lost with the process: whoever waits also polls slowly.
   */
  onWake(topic: WakeTopic, listener: () => void): () => void;
}

export interface KeptPersona {
  readonly id: PersonaId;
  readonly identity: Json;
  readonly permissions: Json;
  readonly mainSession: SessionKey | undefined;
}

/** hooks: an event waits to be judged. */
export type WakeTopic = "queue" | "runs" | "outbox" | "changes" | "hooks";

/** A page of a list, newest first. What arrives meanwhile neither repeats an item nor hides one. */
export interface Listed<T> {
  readonly items: readonly T[];
  /** Give it back as `cursor` for the next page. Undefined: this was the last one. */
  readonly next: string | undefined;
}

export interface ListOptions {
  /** DEFAULT_PAGE unless told, at most MAX_PAGE. */
  readonly limit?: number;
  /** A cursor that this list did not give out is `request_invalid`. */
  readonly cursor?: string;
}

export interface Counts {
  /** Taken in so far. */
  readonly events: number;
  readonly turns: number;
  readonly sessions: number;
  /** Items that wait. */
  readonly queued: number;
  /** Runs that somebody holds. */
  readonly running: number;
  readonly suspended: number;
  /** Messages that are dead letters: those that failed, but for work whose caller is told. */
  readonly dead: number;
  readonly deliveries: Readonly<Record<Exclude<DeliveryState, "sent" | "dropped">, number>>;
}

export interface Pulse {
  /**
   * Sessions with a message that is due and not taken up. Those whose run is suspended are left out: they wait
   * for an answer, not for Cortex.
   */
  readonly sessionsWaiting: number;
  /** Since when the one of their messages has waited that has waited longest. */
  readonly waitingSinceMs: number | undefined;
  /** The runs at work whose journal has been still for longest come first, at most MAX_PULSE_RUNS of them. */
  readonly runs: readonly RunPulse[];
  /** Since when there is a delivery of which nobody knows whether it arrived, the oldest. */
  readonly unknownSinceMs: number | undefined;
  /** Since when the event has waited to be judged that has waited longest. */
  readonly unjudgedSinceMs: number | undefined;
}

export interface RunPulse {
  readonly run: RunId;
  readonly turn: TurnId;
  readonly session: SessionKey;
  /** When it began, or something last entered its journal. */
  readonly movedAtMs: number;
}

/* ---- dead letters ------------------------------------------------------------------------------- */

/** Those that were tried again or given up are no dead letters any more. */
export interface DeadReads {
  /** Those that died last come first. */
  list(options?: ListOptions): Promise<Listed<DeadLetter>>;

  /** By the id of the queue item or of the delivery. */
  get(id: string): Promise<DeadLetter | undefined>;
}

export type DeadLetter = DeadMessage | DeadDelivery;

/** A message whose turn failed for good. */
export interface DeadMessage {
  readonly kind: "message";
  readonly item: ItemId;
  readonly turn: TurnId;
  readonly session: SessionKey;
  readonly event: EventId;
  /** Why its last run failed. */
  readonly error: string;
  readonly attempts: number;
  readonly diedAtMs: number;
}

/** An answer, or a notice, that its channel will not take. */
export interface DeadDelivery {
  readonly kind: "delivery";
  readonly delivery: DeliveryId;
  readonly turn: TurnId | undefined;
  readonly session: SessionKey | undefined;
  /** The one that the turn was for. */
  readonly event: EventId | undefined;
  readonly target: DeliveryTarget;
  readonly error: string;
  readonly attempts: number;
  readonly diedAtMs: number;
}

/* ---- 1  events ---------------------------------------------------------------------------------- */

export interface EventReads {
  get(id: EventId): Promise<StoredEvent | undefined>;

  /** By the time at which they happened. */
  list(options?: ListOptions & EventFilter): Promise<Listed<StoredEvent>>;

  /** An event and what led to it, the event first, at most MAX_CHAIN_READ causes. Unknown: none. */
  chain(id: EventId): Promise<ChainLink[]>;

  /** What was made of an event, in order: why something ran. */
  dispatches(id: EventId): Promise<EventDispatch[]>;

  /**
   * What was said, by its words, best first. Whatever the text is, it is taken as plain words: texts that hold
   * all of them come before those that hold some. Finds also what was not indexed yet, up to SEARCHED_TAIL events.
   * Read beside everything else, so it may fail with `query_timeout`.
   */
  search(text: string, options?: SearchOptions): Promise<SearchHit[]>;

  /**
   * The event of an adapter whose id comes last in the order of texts. Where ids are made of times, as a timer's
   * are, that is the newest.
   */
  lastOf(adapter: string): Promise<StoredEvent | undefined>;

  /** The hashes of all attachments whose files are kept. */
  filed(): Promise<string[]>;

  /** How many events no search looks at yet: those before the newest SEARCHED_TAIL that wait to be indexed. */
  unsearched(): Promise<number>;
}

export type ChainLink = Pick<StoredEvent, "id" | "channel" | "depth">;

export interface SearchOptions {
  /** DEFAULT_HITS unless told, at most MAX_HITS. */
  readonly limit?: number | undefined;
  /** Only of these. */
  readonly channels?: readonly string[] | undefined;
  /** Not before this moment. */
  readonly sinceMs?: number | undefined;
  /** Before this moment. */
  readonly untilMs?: number | undefined;
  /** How long the texts of the hits may be: DEFAULT_HIT_LENGTH unless told, at most MAX_SEARCHED_CHARACTERS. */
  readonly textLength?: number | undefined;
}

export interface SearchHit {
  readonly event: EventId;
  /** Of an answer: the turn that it ends. */
  readonly turn: TurnId | undefined;
  readonly channel: string;
  readonly direction: Direction;
  readonly sender: string | undefined;
  readonly place: string | undefined;
  readonly atMs: number;
  /** What was said, or the part of it where the words are. */
  readonly text: string;
  /** From 0 to 1, larger is better. From ALL_FOUND of the model on, everything was found that was asked for. */
  readonly score: number;
}

export interface EventFilter {
  readonly channel?: string;
  readonly direction?: Direction;
  /** Not before this moment. */
  readonly sinceMs?: number;
  /** Before this moment. */
  readonly untilMs?: number;
}

export interface EventStore extends EventReads {
  /**
   * Takes an event in, once. A second event of the same id changes nothing but the count of differing
   * redeliveries. With a dispatch, event, dispatch and queue item are one commit; with a claim and an
   * idle session, the lease and the run are in it too.
   *
   * With `judge`, the event is to be judged by hooks: it is among `hooks.unjudged` until `hooks.judged` says
   * that all of them were asked. An event that was in the ledger already is not judged again. With a file, what
   * is known of it changes in the same commit.
   */
  accept(event: NewEvent, options?: AcceptOptions): Promise<Accepted>;

  /**
   * Turns a fired hook into work. A dispatch is unique by (event, hook). Those of an event to one session are
   * one turn: a second dispatch joins the item that waits, which keeps the queue mode of the first by name (an
   * explicit target comes before all hooks). One that comes after the turn has begun is an item of its own with
   * what it has to add (`late`): it enters that turn while it runs, else it is a turn after it.
   *
   * Where it makes a new item that has to wait, the same commit does what its mode asks for.
   *
   * - collect, with a moment to come: the quiet window begins anew. The session's other waiting messages of
   *   this mode become due at that same moment, but none later than MAX_QUIET_WINDOWS windows after it was
   *   queued, so that a steady stream holds nothing up for ever.
   * - interrupt: a run of the session that is not over is asked to abort, as by `requestAbort`, and the
   *   message goes before older ones of other modes.
   */
  dispatch(eventId: EventId, dispatch: NewDispatch, options?: { claim?: LeaseRequest }): Promise<Dispatched>;

  /**
   * Takes up to `max` events into the index that searches use, the oldest first; fewer where they are long. It is
   * called for as long as some wait, whenever there is time: nothing depends on how far it has come but the speed
   * of searches.
   */
  index(max: number): Promise<IndexStep>;
}

export interface AcceptOptions {
  readonly dispatch?: NewDispatch;
  readonly claim?: LeaseRequest;
  /** Leave it out where no hook is active: it costs a row. */
  readonly judge?: boolean;
  readonly file?: FileState;
}

export interface IndexStep {
  readonly indexed: number;
  /** How many are still to be indexed. */
  readonly waiting: number;
}

export interface NewEvent {
  /** `{adapter}:{sourceId}`, made by `eventId` of the model. */
  readonly id: EventId;
  readonly channel: string;
  readonly direction: Direction;
  readonly sender?: string;
  readonly account?: string;
  readonly place?: string;
  readonly topic?: string;
  /** What is known of the place, kept with it: an event that does not say it changes nothing. */
  readonly placeKind?: PlaceKind;
  readonly placeName?: string;
  /** The place around it on the same channel and account: a forum's channel, say. */
  readonly parentPlace?: string;
  /** Whether the agent was addressed by name, where the platform tells. */
  readonly mentionsMe?: boolean;
  readonly replyTo?: string;
  /** Null for events that say nothing, such as a timer's. */
  readonly content: string | null;
  readonly contentType?: string;
  readonly attachments?: Json;
  readonly payload?: Json;
  readonly metadata?: Json;
  readonly atMs: number;
  /** The event that led to this one: the one whose turn, hook or relay made it. Absent: it begins a chain. */
  readonly cause?: EventId;
  /** It brings back to its cause what came of it, and is no link of the chain: a report on work that was given. */
  readonly returns?: true;
}

/** The view `threads` has the names of places and what is around them. */
export interface StoredEvent extends Omit<NewEvent, "placeName" | "parentPlace" | "returns"> {
  /** How many links of its chain lie before it. 0: nothing of ours has led to it. */
  readonly depth: number;
  /** How many results have come back on the way to it. */
  readonly returned: number;
  readonly receivedAtMs: number;
  /** How many redeliveries had other content than the first, which is the one that was kept. */
  readonly differing: number;
  /** When what it said was taken out. Absent: it is there. */
  readonly prunedAtMs?: number;
}

export type DispatchTarget =
  /** The session is created, with no head, where it does not exist; as the worker of another one where that is said. */
  | {
      readonly kind: "session";
      readonly session: SessionKey;
      readonly agent: AgentId;
      readonly persona: PersonaId;
      readonly worker?: NewWorker;
    }
  /** The session whose head this turn is; failing that, a new session `forkAs` that starts there. */
  | { readonly kind: "turn"; readonly turn: TurnId; readonly forkAs: SessionKey };

export interface NewDispatch {
  readonly id: DispatchId;
  /** The id of the queue item, if this dispatch makes one. */
  readonly item: ItemId;
  readonly hook: string;
  readonly target: DispatchTarget;
  readonly mode: QueueMode;
  /** Not before this moment. */
  readonly dueMs?: number;
  /**
   * Other hooks may still have something to say about the event: an item that this makes waits so long for them, or
   * until `hooks.judged`. What interrupts does not wait.
   */
  readonly gatherMs?: number;
  /** What the turn of the event, or the one after it, is told where it has begun without this dispatch. */
  readonly late?: string;
  /** How many may wait in the session, if this dispatch makes an item that has to wait. */
  readonly cap?: QueueCap;
  /** With mode interrupt: older items that wait are dropped by the policy `interrupt`. */
  readonly drains?: "drop";
  readonly message?: string;
  readonly context?: Json;
  readonly permissions?: Json;
  readonly profile?: string;
  readonly delivery?: Json;
  /**
   * The session whose agent sends it. What that one has come into contact with (`trust` in its settings), the target
   * has come into contact with from then on, in the same commit.
   */
  readonly from?: SessionKey;
  /**
   * It is work that a turn of `from` waits for, or wants to be told of. `from` must be given too. `state_conflict`
   * where that turn is not under way, or is being aborted.
   */
  readonly delegation?: NewDelegation;
}

/** What makes a session a worker's. Kept from when it is created. */
export interface NewWorker {
  /** Must exist: else `session_unknown`. */
  readonly parent: SessionKey;
  readonly parentTurn: TurnId;
  /** The id of the tool call in it. */
  readonly parentCall: string;
  /** What the worker was given: its type, limits, permissions. */
  readonly worker: Json;
}

/**
 * What happens to a message that would be one too many. new: it is dropped itself. old, summarize: the
 * oldest that wait are dropped until there is room; `queue.unseenDrops` brings up those of summarize. The
 * drop is the policy by which an item is then said to be dropped.
 *
 * Items of a turn that is to be tried again count, and are never dropped to make room; where that leaves
 * too few, the new message is dropped by the policy `new`, and no other.
 */
export interface QueueCap {
  /** At least 1, else `limit_invalid`. */
  readonly max: number;
  readonly drop: "old" | "new" | "summarize";
}

export interface Accepted {
  /** False: the event was in the ledger already. */
  readonly fresh: boolean;
  readonly dispatched?: Dispatched;
}

/**
 * queued: a new item. joined: added to the item of the same event that waits in that session, or is a
 * dead letter of it. late: that item is part of a turn already, and what the hook has to add is an item of its own,
 * which steers that turn or follows it. merged: the same, with nothing to add. silenced: an exclusive hook has taken
 * the event over. dropped: it was dropped before and stays so, or is dropped now because the queue is full.
 */
export type DispatchOutcome = "queued" | "joined" | "late" | "merged" | "silenced" | "dropped";

export interface Dispatched {
  /** repeated: this (event, hook) was dispatched before. */
  readonly outcome: DispatchOutcome | "repeated";
  readonly item: ItemId;
  readonly session: SessionKey;
  readonly claim?: Claim;
}

export interface EventDispatch {
  readonly id: DispatchId;
  readonly hook: string;
  readonly session: SessionKey;
  readonly item: ItemId;
  readonly outcome: DispatchOutcome;
  /** As in `ItemOutcome`. */
  readonly turn: TurnId | undefined;
  readonly atMs: number;
}

/* ---- 2  hooks ----------------------------------------------------------------------------------- */

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

/* ---- watched files ------------------------------------------------------------------------------ */

/**
 * What each watched file was like when its last event was taken in. What was missed while nobody watched is the
 * difference between this and what is found.
 */
export interface FileReads {
  /** Those whose path begins with a text, by path; with `after`, those behind that path. */
  known(options: {
    readonly under: string;
    readonly after?: string;
    readonly limit?: number;
  }): Promise<WatchedFile[]>;
}

export interface FileStore extends FileReads {
  /** Notes files without an event: those that were there before anybody watched, say. */
  note(files: readonly FileState[]): Promise<void>;
}

export interface WatchedFile {
  readonly path: string;
  /** Whole milliseconds. */
  readonly modifiedMs: number;
  readonly size: number;
  readonly sha256: string;
}

/** gone: nothing is known of it any more. */
export type FileState = WatchedFile | { readonly path: string; readonly gone: true };

/* ---- 4  queue ----------------------------------------------------------------------------------- */

export interface QueueReads {
  /** What waits in a session, in order. Read at every step of a run for messages that steer or interrupt. */
  pending(session: SessionKey, options?: { limit?: number }): Promise<QueueItem[]>;

  /** What waits in all sessions, or in one. */
  list(options?: ListOptions & { session?: SessionKey }): Promise<Listed<QueueItem>>;

  item(id: ItemId): Promise<QueueItem | undefined>;

  /** What became of an item so far: for whoever has sent it and waits. */
  outcome(id: ItemId): Promise<ItemOutcome | undefined>;

  /** The items of a turn that is under way or done, in order. */
  itemsOf(turn: TurnId): Promise<QueueItem[]>;

  /**
   * What was dropped from a session by the policy `summarize` and no turn has been told of, oldest first.
   * A turn is told by a message of its journal that names the items.
   */
  unseenDrops(session: SessionKey, options?: { limit?: number }): Promise<QueueItem[]>;

  /**
   * The earliest moment at which a session that nobody holds has something to do: a message that is due, a
   * retry. May be past. Undefined: there is none. Leases that run out are not told of.
   */
  nextReadyMs(): Promise<number | undefined>;

  /** Of the dead letters, the messages. Those that died last come first. */
  dead(options?: ListOptions): Promise<Listed<DeadMessage>>;
}

export interface QueueStore extends QueueReads {
  /**
   * Takes up to `max` sessions that have something to do: a message that is due, a run that was resumed
   * or is to be tried again, or a run whose holder let its lease expire. Those that have waited longest
   * come first. A holder is never given a session that it holds itself. Of the messages of a session that
   * are due, the oldest that interrupts is taken, else the oldest; a run takes others in by its journal.
   */
  lease(request: LeaseRequest, max: number): Promise<Claim[]>;

  /** Extends leases; returns those that are lost. */
  renew(request: LeaseRequest, leases: readonly Lease[]): Promise<Lease[]>;

  /** Gives sessions back with their runs unfinished, for the next holder to go on with. Lost ones are passed over. */
  release(leases: readonly Lease[]): Promise<void>;

  /** Drops items that still wait, by a policy with a name. Returns those it dropped. */
  drop(items: readonly ItemId[], policy: string): Promise<ItemId[]>;

  /** Queues a dead letter again, with all items of its turn; the turn keeps its id and its journal. */
  retryDead(item: ItemId): Promise<void>;

  /** Gives a dead letter up, with all items of its turn. What the turn was told of stays told. */
  dropDead(item: ItemId): Promise<void>;
}

export interface LeaseRequest {
  /** Who will hold the lease: one name for each process. */
  readonly holder: string;
  readonly ttlMs: number;
}

/** The right to write for a session, until somebody else has a lease of a higher epoch. */
export interface Lease {
  readonly session: SessionKey;
  readonly epoch: number;
}

/** A run to carry out. */
export interface Claim {
  readonly lease: Lease;
  readonly run: RunId;
  readonly turn: TurnId;
  /** The head of the session at this moment: the turn that the new one will follow. */
  readonly parent: TurnId | undefined;
  /** 1 for the first run of the turn. Only failed runs count. */
  readonly attempt: number;
  /** How often in a row the run was cut off by a crash. Counted anew from 1 when its journal has grown. */
  readonly interruptions: number;
  /** Whether there is a journal to replay. */
  readonly journalled: boolean;
  /** Somebody asked for the run to be aborted; the reason. */
  readonly abort: string | undefined;
}

export type ItemState = "queued" | "claimed" | "done" | "merged" | "dropped" | "dead";

export interface QueueItem {
  readonly id: ItemId;
  readonly session: SessionKey;
  readonly state: ItemState;
  readonly mode: QueueMode;
  readonly dueMs: number;
  readonly queuedAtMs: number;
  readonly event: StoredEvent;
  /** In the order of their hooks' names. */
  readonly dispatches: readonly DispatchInput[];
}

export interface ItemOutcome {
  readonly state: ItemState;
  readonly session: SessionKey;
  /** The turn that it is part of: committed, under way, or failed and perhaps to be tried again. */
  readonly turn: TurnId | undefined;
  /** By which it was dropped. */
  readonly policy: string | undefined;
  /** Of one that is dead: why its last run failed. */
  readonly error: string | undefined;
  /** The session that gave it as work to its own: it is told how it ends. Such a message is never a dead letter. */
  readonly caller: SessionKey | undefined;
  /** Of one that was dropped: the turn that was told of it, or that a dead letter was given up in. */
  readonly formerTurn: TurnId | undefined;
  /** When it came into its last state. Undefined: it is queued or claimed. */
  readonly settledAtMs: number | undefined;
}

export interface DispatchInput {
  readonly id: DispatchId;
  readonly hook: string;
  readonly message?: string;
  readonly context?: Json;
  readonly permissions?: Json;
  readonly profile?: string;
  readonly delivery?: Json;
}

/* ---- 5  runs and turns -------------------------------------------------------------------------- */

export interface RunReads {
  /** What the journal of this run's turn holds, over all attempts. */
  readJournal(run: RunId): Promise<Journal>;

  /** One message of it, by its place. */
  readMessage(run: RunId, place: number): Promise<Message | undefined>;

  /** One tool call of it, by its ordinal. */
  readCall(run: RunId, ordinal: number): Promise<ToolCall | undefined>;

  get(run: RunId): Promise<StoredRun | undefined>;

  /** All attempts at a turn, oldest first, whether it was committed, is under way or has failed. */
  ofTurn(turn: TurnId): Promise<StoredRun[]>;

  /** The runs that are not over: at work, waiting, or about to be tried again. Oldest first. */
  active(options?: { limit?: number }): Promise<StoredRun[]>;

  /** All runs, those that are over too. */
  list(options?: ListOptions & { state?: RunState }): Promise<Listed<StoredRun>>;
}

export interface RunStore extends RunReads {
  /**
   * Writes to the journal of a run. A message has a place in the turn, a tool call an ordinal; writing
   * the same again is harmless, writing something else there is `journal_conflict`. Items named by a
   * message become part of the turn in the same commit: that is how a steered message is done. Those of
   * `queue.unseenDrops` stay dropped, and no later turn is told of them. A run that was asked to abort takes none
   * of either: `state_conflict`.
   */
  journal(lease: Lease, run: RunId, entries: readonly JournalEntry[]): Promise<void>;

  /** Keeps what the run was started with (prompt, tools, profile), for the runs after a crash. */
  pin(lease: Lease, run: RunId, pinned: Json): Promise<void>;

  /**
   * Stops at a tool call that needs an answer from elsewhere. The lease ends; the session stays occupied. What a
   * person is to be asked is asked in the same commit; a request that was made before stays as it is. Where one of
   * them has been answered since, the run is ready at once.
   */
  suspend(lease: Lease, run: RunId, wait: Wait, requests?: readonly NewApproval[]): Promise<void>;

  /** Journals the answer to a wait and makes the run ready to be leased. False: it does not wait for this. */
  resume(run: RunId, wait: string, entries: readonly JournalEntry[]): Promise<boolean>;

  /** Leaves a note that the run is to be aborted, and wakes it where it waits. False: it is over. */
  requestAbort(run: RunId, reason: string): Promise<boolean>;

  /**
   * Ends an attempt. With a retry, the turn is tried again at that moment, before anything else of the
   * session, or taken up at once where it was asked to abort; as dead, its items are dead letters and the session goes on. A failed run moves no pointer
   * and leaves no turn.
   */
  fail(failure: RunFailure): Promise<{ readonly next?: Claim }>;
}

export type JournalEntry =
  | {
      readonly kind: "message";
      readonly place: number;
      readonly message: Message;
      readonly items?: readonly ItemId[];
      /**
       * How many dispatches the message was made of. Where its items have another number by now, a hook has joined
       * one of them since it was read: `item_unknown`.
       */
      readonly dispatches?: number;
    }
  | {
      readonly kind: "call";
      readonly ordinal: number;
      readonly callId: string;
      readonly tool: string;
      readonly params: Json;
      readonly startedAtMs: number;
    }
  | {
      readonly kind: "result";
      readonly ordinal: number;
      readonly status: Exclude<ToolStatus, "started">;
      readonly result: Json;
      readonly completedAtMs: number;
      readonly childSession?: SessionKey;
    };

export interface Journal {
  readonly messages: readonly Message[];
  readonly toolCalls: readonly ToolCall[];
  readonly pinned: Json | undefined;
  readonly wait: Wait | undefined;
}

/** What a suspended run waits for. The id keeps an answer that comes late from ending another wait. */
export interface Wait {
  readonly id: string;
  readonly kind: "approval" | "question" | "child" | "other";
  readonly detail: Json;
}

/* ---- approvals ---------------------------------------------------------------------------------- */

/**
 * What a person is asked: to approve one call, or to answer a question of the agent. A request is made by the
 * commit that suspends its run, and answered once. The run reads the answer when it is taken up again.
 */
export interface ApprovalReads {
  get(id: ApprovalId): Promise<Approval | undefined>;

  /** Of a session: what its runs ask, and what is asked in its chat. */
  list(options?: ListOptions & { state?: ApprovalState; session?: SessionKey }): Promise<Listed<Approval>>;

  /** Those that are open and that a place was told of by a notice, newest first. */
  openIn(place: DeliveryTarget): Promise<Approval[]>;

  /** The one that a message in this place told of: by the platform's id of the message, or that of the delivery. */
  toldBy(place: DeliveryTarget, message: string): Promise<Approval | undefined>;

  /** The earliest moment at which one that is open expires. Undefined: none is open. */
  nextExpiryMs(): Promise<number | undefined>;
}

export interface ApprovalStore extends ApprovalReads {
  /**
   * Answers a request that is open, and makes its run ready to be taken up. `approval_unknown`;
   * `approval_expired` where it came too late; `state_conflict` where it was answered before or its run is over,
   * or where a question is approved or an approval answered. Both can be denied. The same answer again is no error.
   */
  answer(id: ApprovalId, answer: ApprovalAnswer): Promise<Approval>;

  /**
   * Takes an approved call up, once: it is `used` from then on. False: it was used before, and nobody knows what
   * came of it. `state_conflict` where it is not approved.
   */
  use(lease: Lease, run: RunId, id: ApprovalId): Promise<boolean>;

  /** Closes what was open for too long, and makes the runs ready. Returns those it closed. */
  expire(): Promise<ApprovalId[]>;
}

/**
 * Of an approval: open, then approved, denied or expired; once its call is taken up, used. Of a question: answered.
 * void: its turn was over, or was asked to end, before anybody had answered.
 */
export type ApprovalState = "open" | "approved" | "denied" | "answered" | "expired" | "used" | "void";

export interface NewApproval {
  readonly id: ApprovalId;
  readonly kind: "approval" | "question";
  /** What exactly is asked for: the SHA-256 of the call. */
  readonly callHash: string;
  /** For whoever decides: `{tool, args, reason}` or `{question, options}`. */
  readonly request: Json;
  /** Undefined: it stays open until it is answered or its run is over. */
  readonly expiresAtMs: number | undefined;
  /** By which somebody is told of it who waits elsewhere. One that was asked before is not told of again. */
  readonly notice?: NewDelivery & { readonly content: string };
}

export interface Approval extends Omit<NewApproval, "notice"> {
  readonly session: SessionKey;
  /**
   * The session in whose chat it is asked: of a worker, that of whoever gave it the work, and of a step of a relay, that in
   * which the relay was started. Unless there is such a one, its own.
   */
  readonly chat: SessionKey;
  /** The delivery that tells of it. */
  readonly notice: DeliveryId | undefined;
  readonly turn: TurnId;
  readonly run: RunId;
  readonly state: ApprovalState;
  readonly answer: ApprovalAnswer | undefined;
  readonly askedAtMs: number;
  readonly answeredAtMs: number | undefined;
}

export type ApprovalAnswer =
  | { readonly kind: "approve"; readonly by: string }
  | { readonly kind: "deny"; readonly by: string; readonly reason?: string }
  /** With the message that it came in, where that is known. */
  | { readonly kind: "answer"; readonly by: string; readonly text: string; readonly event?: EventId };

export interface RunFailure {
  readonly lease: Lease;
  readonly run: RunId;
  readonly error: string;
  readonly outcome: { readonly kind: "retry"; readonly atMs: number } | { readonly kind: "dead" };
  /** A notice to the sender, say. */
  readonly deliveries?: readonly NewDelivery[];
  readonly claimNext?: LeaseRequest;
}

export type RunState = "running" | "suspended" | "resumable" | "failed" | "completed" | "aborted";

export interface StoredRun {
  readonly id: RunId;
  readonly turn: TurnId;
  readonly session: SessionKey;
  /** The one that the turn is for. */
  readonly sourceEvent: EventId | undefined;
  readonly attempt: number;
  readonly state: RunState;
  readonly interruptions: number;
  readonly wait: Wait | undefined;
  /** Why it was asked to abort. */
  readonly abort: string | undefined;
  /** The message that interrupted it, if that is why. */
  readonly abortedBy: EventId | undefined;
  readonly error: string | undefined;
  /** Whether it sums its thread up before it goes on. */
  readonly isCompacting: boolean;
  readonly startedAtMs: number;
  readonly endedAtMs: number | undefined;
}

export interface TurnReads {
  get(id: TurnId): Promise<StoredTurn | undefined>;

  /** A turn with all that was said and done in it. */
  read(id: TurnId): Promise<TurnContent | undefined>;

  /**
   * What the agent is given of a thread: the turns from this one back to the last compaction, oldest
   * first, at most `limit`. Costs in proportion to what is read, at any depth.
   */
  context(id: TurnId, options?: { limit?: number }): Promise<Context>;

  /** The turn and those before it, newest first, at most `limit`. */
  thread(id: TurnId, options: { limit: number }): Promise<StoredTurn[]>;

  children(id: TurnId): Promise<StoredTurn[]>;

  /**
   * What turns have cost that were committed in a time, the dearest first; by day, the newest first. Read beside
   * everything else, so it may take as long as a query, and fail like one.
   */
  costs(query: CostQuery): Promise<CostRow[]>;

  /**
   * What a persona has spent since a moment: turns that were committed since then, what runs under way have
   * journalled, and what runs had journalled that failed since then. Prices that are not known count as nothing.
   */
  spentUsd(persona: PersonaId, sinceMs: number): Promise<number>;

  /**
   * How often models were asked since a moment, to the quarter of an hour, by persona: for turns, compactions and
   * hooks. The offline model is not counted.
   */
  usedSince(sinceMs: number): Promise<ModelUse[]>;

  /**
   * What came with the messages that the turn and those before it answered: the attachments of each, newest first, of
   * at most `limit` messages. Where nothing ever came with a message, the thread is not walked.
   */
  attached(id: TurnId, options: { limit: number }): Promise<Json[]>;

  /** The ancestor at a depth; the root has depth 0. Undefined where the thread does not reach it. */
  ancestor(id: TurnId, depth: number): Promise<TurnId | undefined>;
}

export interface ModelUse {
  /** Undefined: hooks have asked. */
  readonly persona: PersonaId | undefined;
  readonly calls: number;
  /** In and out, without those that a cache had. */
  readonly tokens: number;
}

export interface TurnStore extends TurnReads {
  /**
   * Commits a turn: the turn, the messages and tool calls that were not journalled yet, the pointer, the
   * queue items, the event of the answer and its deliveries, in one transaction. Refused with
   * `lease_lost` or `head_moved`; then nothing of it is written. With `claimNext`, the session that has
   * waited longest is leased in the same commit; often that is the same session.
   */
  commit(turn: NewTurn): Promise<{ readonly next?: Claim }>;

  /**
   * Notes that a run sums its thread up: its session is `compacting` until the compaction is committed or the run ends,
   * and the compaction began now.
   */
  beginCompaction(lease: Lease, run: RunId): Promise<void>;

  /**
   * Commits a compaction within a run: a turn of its own that becomes the head, so that the run's turn
   * follows it. `firstKept` is the oldest turn that stays in the context word for word.
   */
  compact(compaction: NewCompaction): Promise<void>;
}

/** What is recorded of how a turn was made. */
export interface TurnFacts {
  readonly role: "manager" | "worker";
  readonly profile: string;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  /** Null where the price is not known. */
  readonly costUsd: number | null;
  readonly permissions?: { readonly granted: Json; readonly used: Json };
}

export interface NewTurn {
  readonly lease: Lease;
  readonly run: RunId;
  readonly turn: TurnId;
  /** As the claim said. A head that has moved since is refused. */
  readonly parent: TurnId | undefined;
  readonly status: "completed" | "aborted";
  readonly facts: TurnFacts;
  /** Those that are not in the journal. The id of the last assistant message is the turn's. */
  readonly messages: readonly Message[];
  readonly toolCalls: readonly ToolCall[];
  /** The event by which the answer enters the ledger; its content is the turn's last message. */
  readonly answer?: NewAnswer;
  /** The event of the answer is to be judged by hooks, as with `judge` of `events.accept`. */
  readonly judge?: boolean;
  readonly deliveries?: readonly NewDelivery[];
  readonly claimNext?: LeaseRequest;
}

export type NewAnswer = Omit<NewEvent, "content" | "direction" | "contentType">;

export interface NewCompaction {
  readonly lease: Lease;
  readonly run: RunId;
  readonly turn: TurnId;
  readonly facts: TurnFacts;
  readonly summary: Message;
  readonly firstKept: TurnId | undefined;
}

export interface StoredTurn {
  readonly id: TurnId;
  readonly parent: TurnId | undefined;
  readonly depth: number;
  readonly type: "normal" | "compaction";
  readonly status: "completed" | "aborted";
  /** The session at creation; a turn belongs to every thread that passes through it. */
  readonly session: SessionKey;
  readonly agent: AgentId;
  readonly persona: PersonaId;
  readonly facts: TurnFacts;
  readonly toolCallCount: number;
  /** How many turns follow it directly. The one field that changes later. */
  readonly childCount: number;
  readonly sourceEvent: EventId | undefined;
  readonly startedAtMs: number;
  readonly completedAtMs: number;
  readonly hash: string;
  /** When what was said in it was taken out. Absent: it is there. */
  readonly prunedAtMs?: number;
}

export interface CostQuery {
  readonly by: "session" | "agent" | "persona" | "model" | "day";
  readonly sinceMs: number;
  readonly untilMs: number;
  /** By day: where each begins, ascending, the first not after `sinceMs`. */
  readonly dayStartsMs?: readonly number[];
  /** By session: only of these, and only their turns are read. At most MAX_PAGE. */
  readonly sessions?: readonly SessionKey[];
  /** DEFAULT_PAGE unless told, at most MAX_PAGE. */
  readonly limit?: number;
}

export interface CostRow {
  /** Of the session, agent or persona; `provider/model`; of a day, the moment at which it began. */
  readonly key: string;
  readonly turns: number;
  readonly usage: Usage;
  readonly costUsd: number;
  /** Turns whose price is not known: they are not in `costUsd`. */
  readonly unpriced: number;
}

export interface TurnContent {
  readonly turn: StoredTurn;
  readonly messages: readonly Message[];
  readonly toolCalls: readonly ToolCall[];
}

export interface Context {
  /** The compaction that stands for all that came before the turns. */
  readonly compaction: TurnContent | undefined;
  readonly turns: readonly TurnContent[];
}

/** How much there is of what can be pruned. */
export type Prunable = Readonly<Record<PruneKind, number>> & {
  /** What was said in it, about. */
  readonly bytes: number;
};

/** In the order in which they are pruned. */
export const PRUNE_KINDS = ["turns", "events", "deliveries", "approvals", "relays"] as const;
export type PruneKind = (typeof PRUNE_KINDS)[number];

export interface PruneRequest {
  /** Only what is from before this moment. */
  readonly beforeMs: number;
  /** The `next` of the step before. */
  readonly after?: number | undefined;
  /** In this step, at most so many. */
  readonly max: number;
}

export interface PruneStep {
  readonly pruned: number;
  /** Undefined: this was the last step. */
  readonly next: number | undefined;
}

export type Verdict =
  | { readonly ok: true; readonly turns: number; readonly pruned: number }
  | { readonly ok: false; readonly turn: TurnId; readonly problem: string };

/* ---- delegations -------------------------------------------------------------------------------- */

/**
 * Work that the agent of one session has given to another. It begins with the commit that queues its message
 * (`NewDispatch.delegation`) and is over in the commit that settles that message, whatever the end: its turn was
 * committed or aborted, it is a dead letter, it was dropped. Whoever gave the work is then told once, by `report`.
 *
 * That a dead letter is tried again later changes nothing: the delegation is over.
 */
export interface DelegationReads {
  get(id: DelegationId): Promise<Delegation | undefined>;

  /** Newest first. `caller`: given by this session; `session`: given to it. */
  list(
    options?: ListOptions & { caller?: SessionKey; session?: SessionKey; state?: DelegationState },
  ): Promise<Listed<Delegation>>;

  /** Those that are over and that nobody was told of, the oldest first. */
  unreported(options?: { limit?: number }): Promise<Delegation[]>;

  /** The earliest deadline of those that are open. Undefined: none has one. */
  nextDeadlineMs(): Promise<number | undefined>;
}

export interface DelegationStore extends DelegationReads {
  /**
   * Tells whoever gave the work that it is over, once; the session of the caller has come into contact with whatever
   * the worker's has. Where a turn waits for it, its run is ready as soon as all that the turn waits for is reported,
   * and reads the outcomes from here; a call that has its result waits for nothing any more. Otherwise the message is
   * taken in, event and dispatch, in the same commit; without one, there is nothing more to say.
   *
   * False: it was reported or cancelled before, and nothing is changed. `delegation_unknown`; `state_conflict` where
   * it is open.
   */
  report(
    id: DelegationId,
    message?: DelegationReport,
  ): Promise<{ readonly reported: boolean; readonly claim?: Claim }>;

  /**
   * Ends those whose deadline has passed, as `timeout`: what waits of them is dropped by the policy `timeout`, the turn
   * that is under way for one is asked to abort. Returns them. They are still to be reported.
   */
  expire(): Promise<DelegationId[]>;

  /**
   * Ends all that a session has given and that is open, as `cancelled`, with all that was given on from there:
   * what waits is dropped by the policy `cancelled`, a turn that is under way for it is asked to abort (one that is
   * for another message, and has only taken this one in, goes on). Nobody is told. `requestAbort`, a message that
   * interrupts and the commit of an aborted turn do the same for what the turn in question has given. Returns how
   * many have ended. `session_unknown`.
   */
  cancel(caller: SessionKey, reason: string): Promise<number>;
}

/** dropped: its message was. failed: its message is a dead letter. timeout: its deadline passed. */
export type DelegationState = "open" | "done" | "aborted" | "failed" | "dropped" | "timeout" | "cancelled";

export interface NewDelegation {
  readonly id: DelegationId;
  /** The turn that gives it, which is under way, and the place of the call in it. */
  readonly turn: TurnId;
  readonly ordinal: number;
  /** The turn is suspended until it is over. Otherwise a message is sent. */
  readonly waits: boolean;
  readonly deadlineMs?: number;
  /** Whatever is needed to tell of its end. */
  readonly detail?: Json;
}

export interface DelegationReport {
  readonly event: NewEvent;
  readonly dispatch: NewDispatch;
  readonly claim?: LeaseRequest;
}

export interface Delegation {
  readonly id: DelegationId;
  /** Of whoever gave it. */
  readonly caller: SessionKey;
  readonly callerTurn: TurnId;
  readonly ordinal: number;
  /** Of whoever has it. */
  readonly session: SessionKey;
  readonly item: ItemId;
  readonly waits: boolean;
  readonly state: DelegationState;
  /** The turn that its message became part of, where there is one that was committed. */
  readonly turn: TurnId | undefined;
  /** Of one that failed: why. */
  readonly error: string | undefined;
  readonly deadlineMs: number | undefined;
  readonly detail: Json | undefined;
  readonly startedAtMs: number;
  readonly endedAtMs: number | undefined;
  readonly reportedAtMs: number | undefined;
}

/* ---- relays ------------------------------------------------------------------------------------- */

/**
 * Relays and their steps. What a relay is like is its record, which this store keeps and does not read; what it does
 * know is which step's message is settled: the commit that settles it ends the step and makes the relay due.
 *
 * Whatever happens to a relay makes it another version, also the end of a step. A change is made to one version.
 */
export interface RelayReads {
  get(id: RelayId): Promise<StoredRelay | undefined>;

  /** Newest first. Those that were archived are left out. */
  list(
    options?: ListOptions & { states?: readonly RelayState[]; channel?: string },
  ): Promise<Listed<StoredRelay>>;

  /** In their order. An unknown relay has none. */
  steps(id: RelayId): Promise<StoredRelayStep[]>;

  /** Those that somebody has to look at, those first that have waited longest. */
  due(options?: { limit?: number }): Promise<RelayId[]>;

  /** Whether any relay is not over: cheap, for whoever starts. */
  anyOpen(): Promise<boolean>;

  /** Those that are over since before a moment and not archived, oldest first. */
  endedBefore(atMs: number, options?: { limit?: number }): Promise<StoredRelay[]>;

  /** A configuration that relays are pinned to, as JSON. */
  config(hash: string): Promise<string | undefined>;

  /** What the steps of all relays have cost that were recorded as ended since a moment. */
  spentUsd(sinceMs: number): Promise<number>;
}

export interface RelayStore extends RelayReads {
  /** Keeps a new relay, which is due at once unless it is over. One whose id is there already changes nothing. */
  create(relay: NewRelay): Promise<{ readonly fresh: boolean }>;

  /**
   * Changes a relay, and all that follows with it in one commit: steps, the messages that ask for them, what people are
   * told, the end of what runs. `relay_unknown`; `state_conflict` where it is another version by now.
   */
  save(
    id: RelayId,
    version: number,
    change: RelayChange,
  ): Promise<{ readonly version: number; readonly claim?: Claim }>;

  /** Takes relays that are over out of the lists. Others are passed over. */
  archive(ids: readonly RelayId[]): Promise<void>;
}

/** The last four are final. */
export type RelayState = "running" | "waiting" | "completed" | "failed" | "cancelled" | "aborted";

export interface NewRelay {
  readonly id: RelayId;
  /** Null: a single agent. */
  readonly template: string | null;
  readonly state: RelayState;
  readonly record: Json;
  /** What is known about it beside its record. */
  readonly detail?: Json;
  readonly config?: PinnedConfig;
  /** Where it was started, by a name that lists are asked for. */
  readonly channel?: string;
  /**
   * The tool call that waits for its end. `state_conflict` where its turn is not under way. When that turn is asked
   * to end, the relay is due, and the reason is in its detail as `unwanted`.
   */
  readonly caller?: RelayCaller;
  /** Those that it begins with. */
  readonly steps?: readonly Omit<RelayStepChange, "accept">[];
  /** Of one that is kept after it was over. */
  readonly times?: { readonly createdAtMs: number; readonly endedAtMs: number };
}

export interface PinnedConfig {
  readonly hash: string;
  readonly json: string;
}

export interface RelayCaller {
  readonly session: SessionKey;
  readonly turn: TurnId;
  /** The tool call in it. */
  readonly ordinal: number;
}

export interface RelayChange {
  readonly state: RelayState;
  readonly record: Json;
  /** Absent: as it was. */
  readonly detail?: Json;
  readonly config?: PinnedConfig;
  /** Whether somebody has to look at it again at once. */
  readonly due?: boolean;
  readonly steps?: readonly RelayStepChange[];
  readonly deliveries?: readonly (NewDelivery & { readonly content: string })[];
  /** Ends what runs of it: messages that wait are dropped, runs are asked to abort. The reason. */
  readonly stop?: string;
  /** A message to whoever started it. */
  readonly tell?: { readonly event: NewEvent; readonly dispatch: NewDispatch };
  /** For the first step that it asks for. */
  readonly claim?: LeaseRequest;
}

/** A step that is new or has changed. */
export interface RelayStepChange {
  readonly step: number;
  readonly slot: string;
  readonly record: Json;
  /** Recorded as ended. */
  readonly isEnded: boolean;
  readonly costUsd?: number | null;
  /** Asks for its turn. */
  readonly accept?: RelayStepOrder;
}

export interface RelayStepOrder {
  readonly event: NewEvent;
  readonly dispatch: NewDispatch;
  /** What its session is given from now on, as a worker's is. */
  readonly worker: Json;
  /** Sessions whose marks of `trust` the step's session gets: it is told what came of them. Unknown ones are passed over. */
  readonly trust: readonly SessionKey[];
}

export interface StoredRelay {
  readonly id: RelayId;
  readonly template: string | null;
  readonly state: RelayState;
  readonly version: number;
  readonly record: Json;
  readonly detail: Json | undefined;
  readonly configHash: string | undefined;
  readonly isDue: boolean;
  readonly isArchived: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly endedAtMs: number | undefined;
}

export interface StoredRelayStep {
  readonly step: number;
  readonly slot: string;
  readonly record: Json;
  /** running: its message is not settled. */
  readonly state: "running" | "ended";
  /** Undefined: it asks for no turn. */
  readonly item: ItemId | undefined;
  readonly session: SessionKey | undefined;
  /** Its run waits for an answer; for what. */
  readonly wait: Wait["kind"] | undefined;
  readonly startedAtMs: number;
  readonly endedAtMs: number | undefined;
}

/* ---- teams -------------------------------------------------------------------------------------- */

/**
 * What Cortex knows of the members of a team beside what their files say: what it intends to do for one of them, what was
 * done, when it last looked. This store keeps that and does not read it; what it does know is the message that asks for
 * the turn which is under way.
 */
export interface TeamReads {
  get(team: string, member: string): Promise<StoredMember | undefined>;

  /** All of a team, in the order of their names. */
  list(team: string): Promise<StoredMember[]>;
}

export interface TeamStore extends TeamReads {
  /**
   * Keeps what is known of a member, and what its session is given, which is made where there is none. Its message stays
   * with it, unless it is over. May be called again.
   */
  keep(member: KeptMember & { readonly isOver?: boolean; readonly give?: TeamGift }): Promise<void>;

  /**
   * Asks for a turn of a member: its message, what its session is given, and what is known of it, in one commit. The
   * same event again is the same message, and changes nothing but what is known.
   */
  order(
    order: TeamOrder,
  ): Promise<{ readonly item: ItemId; readonly fresh: boolean; readonly claim?: Claim }>;
}

export interface KeptMember {
  /** The team directory. */
  readonly team: string;
  readonly member: string;
  readonly state: Json;
}

export interface TeamGift {
  readonly session: SessionKey;
  readonly agent: AgentId;
  readonly persona: PersonaId;
  /** As a worker's. */
  readonly worker: Json;
}

export interface TeamOrder extends KeptMember {
  readonly event: NewEvent;
  readonly dispatch: NewDispatch;
  /** What its session is given from now on, as a worker's is. */
  readonly worker: Json;
  readonly claim?: LeaseRequest;
}

export interface StoredMember extends KeptMember {
  /** The message that asks for a turn, until it is said to be over. */
  readonly item: ItemId | undefined;
  readonly updatedAtMs: number;
}

/* ---- sessions ----------------------------------------------------------------------------------- */

export interface SessionReads {
  /** The turn that a session points at: undefined before its first turn. Reading an unknown session is an error. */
  head(session: SessionKey): Promise<TurnId | undefined>;
  get(session: SessionKey): Promise<StoredSession | undefined>;
  /**
   * Most recently used first. One that is used between two pages moves ahead of both. With `open`, those that are closed
   * are left out.
   */
  list(options?: ListOptions & { readonly open?: boolean }): Promise<Listed<StoredSession>>;
  /** The sessions of its workers, oldest first. An unknown session has none. */
  children(session: SessionKey, options?: { limit?: number }): Promise<StoredSession[]>;
  /** The session that opened it, the one that opened that, and so on. */
  ancestors(session: SessionKey): Promise<StoredSession[]>;
}

export interface SessionStore extends SessionReads {
  /**
   * A new session that points at this turn: one row, at any depth. `session_exists` if the label is taken.
   *
   * Its settings are empty but for `trust`: what a thread has come into contact with, every session on it has. A
   * fork has the marks which the session of the turn had when the turn was committed, and those which that
   * session has now and every session that points at the turn. The same holds for the fork that a dispatch to a
   * turn makes.
   */
  fork(turn: TurnId, label: SessionKey): Promise<StoredSession>;

  /**
   * Starts afresh: the head becomes none. The old thread stays addressable by its turn.
   *
   * A run that is under way was to follow the old head. Its commit is refused with `head_moved`; failed
   * with a retry, its turn is tried again with the same journal and follows no turn. A run that waits is
   * continued after the new head without that.
   *
   * The marks of `trust` in its settings go with the old thread, whose turns keep them for whoever forks there.
   * They stay where a journal of the session can still be replayed: a run is under way, or there is a dead letter.
   */
  reset(session: SessionKey): Promise<void>;

  /**
   * Merges into the settings of a session; a null removes a field, objects merge field by field. One that does
   * not exist is `session_unknown`, or is created, with no head, where it is said who it belongs to.
   */
  configure(
    session: SessionKey,
    settings: Settings,
    options?: { create?: { readonly agent: AgentId; readonly persona: PersonaId } },
  ): Promise<void>;
}

export type Settings = { readonly [name: string]: Json };

/**
 * queued: something waits, be it a message or a run that is to be taken up again. streaming: a run is at
 * work. tool: at work, and a tool call of it has no result yet. suspended: its run waits for an answer.
 */
export type SessionState = "idle" | "queued" | "streaming" | "tool" | "compacting" | "suspended";

export interface StoredSession {
  readonly key: SessionKey;
  readonly agent: AgentId;
  readonly persona: PersonaId;
  readonly head: TurnId | undefined;
  /** Of the turn at its head. Undefined: there is none. */
  readonly model: string | undefined;
  /** A limit ended the turn at its head. */
  readonly limitReached: boolean;
  /** Of the turns that were made in it, and of what was said in them. */
  readonly turnCount: number;
  readonly messageCount: number;
  readonly state: SessionState;
  /** It is a step's, of a relay that is over. */
  readonly isClosed: boolean;
  /** What it waits for, where it is suspended. */
  readonly wait: Wait["kind"] | undefined;
  /** Of the event that opened it. */
  readonly channel: string | undefined;
  /** The session whose agent opened this one; the turn in which it did, and the id of the tool call. */
  readonly parentSession: SessionKey | undefined;
  readonly parentTurn: TurnId | undefined;
  readonly parentCall: string | undefined;
  /** What it was given as a worker. Undefined: it is none. */
  readonly worker: Json | undefined;
  /** How many sessions it has opened. */
  readonly children: number;
  readonly settings: Settings;
  readonly queued: number;
  readonly run: RunId | undefined;
  readonly holder: string | undefined;
  readonly createdAtMs: number;
  readonly usedAtMs: number;
}

/* ---- 6  outbox ---------------------------------------------------------------------------------- */

export interface OutboxReads {
  get(id: DeliveryId): Promise<StoredDelivery | undefined>;
  list(options?: ListOptions & { state?: DeliveryState }): Promise<Listed<StoredDelivery>>;
  /** What went out because of a turn, oldest first: its answer, or a notice that it failed. */
  ofTurn(turn: TurnId): Promise<StoredDelivery[]>;
}

export interface OutboxStore extends OutboxReads {
  /**
   * Sends something on behalf of a turn that is not over: what a tool of it asks for. It goes out whatever becomes
   * of the turn. One whose id is there already does nothing.
   */
  add(lease: Lease, run: RunId, delivery: NewDelivery & { readonly content: string }): Promise<void>;

  /** Sends what Cortex itself has to say, on behalf of no turn. One whose id is there already does nothing. */
  notify(delivery: NewDelivery & { readonly content: string }): Promise<void>;

  /**
   * Takes deliveries to work on, in order: of each target only the oldest that is not settled, and only
   * when it is due. One that is `unknown` is handed out to be reconciled, not to be sent again.
   */
  claim(request: LeaseRequest, max: number): Promise<DeliveryClaim[]>;

  /** Fixes how a delivery is split. The first plan stays. */
  plan(claim: DeliveryFence, chunks: readonly string[]): Promise<void>;

  /** Says that a chunk is about to be sent. A crash after this leaves it `unknown`. */
  sending(claim: DeliveryFence, chunk: number): Promise<void>;

  /** Records what became of a chunk. The last one sent settles the delivery. */
  settle(claim: DeliveryFence, chunk: number, outcome: ChunkOutcome): Promise<void>;

  /** Records that nothing could be sent at all: the delivery is tried again later, or is dead. */
  fail(claim: DeliveryFence, outcome: Extract<ChunkOutcome, { kind: "retry" | "dead" }>): Promise<void>;

  /** Gives deliveries back at once. One with a chunk under way is `unknown`. */
  release(claims: readonly DeliveryFence[]): Promise<void>;

  /** Makes a dead delivery pending again; chunks that were sent are not sent again. */
  retry(id: DeliveryId): Promise<void>;

  /** Gives a dead delivery up. What was sent of it stays sent. */
  dropDead(id: DeliveryId): Promise<void>;
}

/** dropped: it was dead, and was given up. */
export type DeliveryState = "pending" | "sending" | "sent" | "unknown" | "dead" | "dropped";

export interface DeliveryTarget {
  readonly channel: string;
  readonly account?: string;
  readonly place: string;
  readonly topic?: string;
}

export interface NewDelivery {
  readonly id: DeliveryId;
  readonly target: DeliveryTarget;
  readonly replyTo?: string;
  /** Absent: the answer of the turn. */
  readonly content?: string;
}

export interface DeliveryFence {
  readonly delivery: DeliveryId;
  readonly epoch: number;
}

export interface DeliveryClaim extends DeliveryFence {
  readonly state: "pending" | "unknown";
  readonly target: DeliveryTarget;
  readonly replyTo: string | undefined;
  readonly content: string;
  readonly attempt: number;
  readonly chunks: readonly Chunk[];
}

export interface Chunk {
  readonly content: string;
  readonly state: "pending" | "sending" | "sent" | "unknown";
  readonly platformId: string | undefined;
}

export type ChunkOutcome =
  | { readonly kind: "sent"; readonly platformId?: string }
  | { readonly kind: "unknown"; readonly error: string; readonly retryAtMs: number }
  | { readonly kind: "retry"; readonly error: string; readonly retryAtMs: number }
  | { readonly kind: "dead"; readonly error: string };

export interface StoredDelivery {
  readonly id: DeliveryId;
  readonly turn: TurnId | undefined;
  readonly target: DeliveryTarget;
  readonly replyTo: string | undefined;
  readonly state: DeliveryState;
  readonly attempt: number;
  readonly error: string | undefined;
  readonly content: string;
  readonly chunks: readonly Chunk[];
  readonly createdAtMs: number;
  readonly settledAtMs: number | undefined;
}

/* ---- changes ------------------------------------------------------------------------------------ */

/**
 * The feed of changes: what a live view has to know, in the order in which it was committed.
 *
 * Each operation that changes something writes one entry with a sequence number, in its own transaction;
 * so nothing that happened is missing and nothing that did not happen is there. An entry is read as one
 * or more small changes that share its number. They name things and say what state they came into; what
 * is in them is read from the ledger. What was removed since then (the journal of a dead letter that was
 * given up) is left out.
 */
export interface ChangeReads {
  /** What came after an entry, oldest first, at most `limit` entries. */
  since(seq: number, options?: { limit?: number }): Promise<Changes>;

  /** The number of the oldest entry that is kept; 0 where there is none yet. */
  first(): Promise<number>;

  /** The number of the newest entry; 0 where there is none yet. */
  last(): Promise<number>;
}

export interface Changes {
  readonly changes: readonly Change[];
  /** Where the next call goes on, also when nothing of the entries that were read is left to tell. */
  readonly seq: number;
  /**
   * Entries after the one asked for are no longer kept, or the one asked for was never written here. There
   * are no changes then: read the state anew and go on from `seq`, which is the newest.
   */
  readonly gap: boolean;
}

export type Change = ChangeBody & { readonly seq: number; readonly atMs: number };

export type ChangeBody =
  /** An event was taken in, or the answer of a turn entered the ledger. */
  | {
      readonly kind: "event";
      readonly event: EventId;
      readonly channel: string;
      readonly direction: Direction;
    }
  | {
      readonly kind: "dispatch";
      readonly dispatch: DispatchId;
      readonly hook: string;
      readonly event: EventId;
      readonly item: ItemId;
      readonly session: SessionKey;
      readonly outcome: DispatchOutcome;
    }
  | { readonly kind: "item"; readonly item: ItemId; readonly session: SessionKey; readonly state: ItemState }
  | {
      readonly kind: "run";
      readonly run: RunId;
      readonly turn: TurnId;
      readonly session: SessionKey;
      readonly state: RunState;
      /** What it waits for, where it is suspended. */
      readonly wait: Wait["kind"] | undefined;
      readonly attempt: number;
    }
  /** A run has begun to sum its thread up, or has done so. */
  | {
      readonly kind: "compacting";
      readonly run: RunId;
      readonly turn: TurnId;
      readonly session: SessionKey;
      readonly isBegun: boolean;
    }
  | {
      readonly kind: "message";
      readonly turn: TurnId;
      readonly run: RunId;
      readonly session: SessionKey;
      readonly place: number;
      readonly message: MessageId;
      readonly role: Role;
    }
  | {
      readonly kind: "call";
      readonly turn: TurnId;
      readonly run: RunId;
      readonly session: SessionKey;
      readonly ordinal: number;
      readonly callId: string;
      readonly tool: string;
      /** At that time. */
      readonly status: ToolStatus;
    }
  | {
      readonly kind: "turn";
      readonly turn: TurnId;
      readonly parent: TurnId | undefined;
      readonly session: SessionKey;
      readonly type: "normal" | "compaction";
      readonly status: "completed" | "aborted";
    }
  | {
      readonly kind: "delivery";
      readonly delivery: DeliveryId;
      readonly turn: TurnId | undefined;
      readonly state: DeliveryState;
    }
  | {
      readonly kind: "approval";
      readonly approval: ApprovalId;
      readonly turn: TurnId;
      readonly session: SessionKey;
      readonly chat: SessionKey;
      readonly state: ApprovalState;
    }
  | {
      readonly kind: "delegation";
      readonly delegation: DelegationId;
      readonly caller: SessionKey;
      readonly callerTurn: TurnId;
      readonly session: SessionKey;
      readonly state: DelegationState;
    }
  /** A relay has changed: a step of it began or ended, or it did. */
  | { readonly kind: "relay"; readonly relay: RelayId; readonly state: RelayState }
  /** A hook came into another state, or its file was read anew. */
  | { readonly kind: "hook"; readonly hook: string; readonly state: HookState }
  /** A hook has judged an event, and has fired or failed. Others are not told of. */
  | {
      readonly kind: "hook_run";
      readonly hook: string;
      readonly event: EventId;
      readonly outcome: "fired" | "failed";
    }
  | {
      readonly kind: "session";
      readonly session: SessionKey;
      readonly what: "forked" | "reset" | "configured";
    };

/* ---- queries ------------------------------------------------------------------------------------ */

export type SqlValue = string | number | bigint | null | Uint8Array;
export type Row = Record<string, SqlValue>;

export interface QueryOptions {
  readonly deadlineMs?: number;
  readonly maxRows?: number;
}

/* ---- limits, the same for every store ----------------------------------------------------------- */

/** One message of a turn, with its body. A model's answer of 10 MB fits. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** One part of an event: its content, payload or metadata. Larger content travels as an attachment. */
export const MAX_EVENT_BYTES = 1024 * 1024;
export const MAX_MESSAGES_IN_TURN = 65_536;
export const MAX_TOOL_CALLS_IN_TURN = 65_536;
export const MAX_CHUNKS_IN_DELIVERY = 10_000;
/** How many entries of the feed of changes are kept; some hundreds more may be there. */
export const KEPT_CHANGES = 200_000;
/** What a query may bring back, in characters and bytes. */
export const MAX_QUERY_BYTES = 16 * 1024 * 1024;
export const DEFAULT_QUERY_DEADLINE_MS = 5_000;
export const DEFAULT_QUERY_ROWS = 10_000;
/** What is read at a time: items of a list, entries of the feed of changes. */
export const DEFAULT_PAGE = 100;
export const MAX_PAGE = 1_000;
/** How many causes of an event are read at once. */
export const MAX_CHAIN_READ = 1_000;

/** What a search gives back. */
export const DEFAULT_HITS = 20;
export const MAX_HITS = 100;
export const DEFAULT_HIT_LENGTH = 300;
/** So much of a text is searched, from its beginning. */
export const MAX_SEARCHED_CHARACTERS = 64 * 1024;
/** How many events, the newest, are searched while they wait to be indexed. */
export const SEARCHED_TAIL = 2_000;
export const SEARCH_DEADLINE_MS = 10_000;

/** Of how many runs the pulse is taken. */
export const MAX_PULSE_RUNS = 100;
/** How many quiet windows a message of mode collect waits at most, counted from when it was queued. */
export const MAX_QUIET_WINDOWS = 10;
/** The settings of a session, as JSON. */
export const MAX_SETTINGS_BYTES = 64 * 1024;

/** So many errors in a row open the circuit of a hook. */
export const CIRCUIT_ERRORS = 5;
/** How long a hook is paused whose circuit is open; then one try is due. */
export const CIRCUIT_REST_MS = 5 * 60_000;
/** How many of its last runs say how a hook does. */
export const HEALTH_RUNS = 100;
/** What a hook returned, or exports as its filter, as JSON. */
export const MAX_HOOK_RESULT_BYTES = 256 * 1024;
/** The title, the description and the errors of a hook, in characters. The rest is cut off. */
export const MAX_HOOK_TEXT_LENGTH = 4_000;
