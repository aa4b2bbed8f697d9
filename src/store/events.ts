import type { Direction, PlaceKind } from "../model/event.ts";
import type { DispatchId, EventId, ItemId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { DispatchOutcome, Dispatched, NewDispatch } from "./dispatches.ts";
import type { LeaseRequest } from "./leases.ts";
import type { ListOptions, Listed } from "./list.ts";
import type { Progress } from "./progress.ts";
import type { FileState } from "./watched-files.ts";

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
   * that all of them were asked. An event that was in the ledger already is not judged again. With a file or
   * progress, that is recorded in the same commit, also where the event was in the ledger already.
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
  readonly progress?: Progress;
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

export interface Accepted {
  /** False: the event was in the ledger already. */
  readonly fresh: boolean;
  readonly dispatched?: Dispatched;
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
