import type { Direction, PlaceKind } from "../model/event.ts";
import type { DispatchId, EventId, ItemId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Principal } from "../model/principal.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Label } from "../model/trust.ts";
import type { DeliveryTarget, NewDelivery } from "./deliveries.ts";
import type { DispatchOutcome, Dispatched, NewDispatch } from "./dispatches.ts";
import type { LeaseRequest } from "./leases.ts";
import type { ListOptions, Listed } from "./list.ts";
import type { SourceCursor } from "./cursors.ts";

export interface EventReads {
  get(id: EventId): Promise<StoredEvent | undefined>;

  /** Ordered by the time they happened. */
  list(options?: ListOptions & EventFilter): Promise<Listed<StoredEvent>>;

  /**
   * An event and its causes, the event first, at most MAX_CHAIN_READ causes. Empty if the event is unknown.
   */
  chain(id: EventId): Promise<ChainLink[]>;

  /** The dispatches of an event, in order: why something ran. */
  dispatches(id: EventId): Promise<EventDispatch[]>;

  /**
   * Full-text search, best match first. The text is always taken as plain words; texts with all of them rank above
   * those with some. Also finds the newest SEARCHED_TAIL events that are not indexed yet. Runs beside everything
   * else, so it may fail with `query_timeout`.
   */
  search(text: string, options?: SearchOptions): Promise<SearchHit[]>;

  /**
   * The event of an adapter with the highest id in text order. Where ids are times, as for timers, that is the
   * newest.
   */
  lastOf(adapter: string): Promise<StoredEvent | undefined>;

  /** The first event in a place that has this `messageId`. */
  findMessage(place: DeliveryTarget, messageId: string): Promise<StoredEvent | undefined>;

  /** The newest received message of each place of an account, newest first, at most `limit`. */
  newestMessages(account: ChannelAccount, limit: number): Promise<PlaceMessage[]>;

  /** The hashes of all attachments that are stored as files. */
  filed(): Promise<string[]>;

  /** How many events search misses: those not indexed yet, except the newest SEARCHED_TAIL. */
  unsearched(): Promise<number>;
}

export interface ChannelAccount {
  readonly channel: string;
  readonly account: string;
}

export interface PlaceMessage {
  readonly place: string;
  readonly topic: string | undefined;
  readonly kind: PlaceKind | undefined;
  readonly messageId: string;
  readonly atMs: number;
}

export type ChainLink = Pick<StoredEvent, "id" | "channel" | "depth">;

export interface SearchOptions {
  /** Defaults to DEFAULT_HITS, at most MAX_HITS. */
  readonly limit?: number | undefined;
  /** Only these channels. */
  readonly channels?: readonly string[] | undefined;
  /** Inclusive. */
  readonly sinceMs?: number | undefined;
  /** Exclusive. */
  readonly untilMs?: number | undefined;
  /** Only what was said to this audience, or within its hearing, and holds nothing that is private to others. */
  readonly audience?: string | undefined;
  /** Only messages that came from them, not what agents wrote on their behalf. */
  readonly writtenBy?: Principal | undefined;
  /** Maximum length of a hit's text. Defaults to DEFAULT_HIT_LENGTH, at most MAX_SEARCHED_CHARACTERS. */
  readonly textLength?: number | undefined;
}

export interface SearchHit {
  readonly event: EventId;
  /** For an answer, the turn it ends. */
  readonly turn: TurnId | undefined;
  readonly channel: string;
  readonly direction: Direction;
  readonly sender: string | undefined;
  readonly place: string | undefined;
  readonly atMs: number;
  readonly principal: Principal;
  /** Of what it says: whose words they are, and to whom they are private. */
  readonly label: Label;
  /** The content, or an excerpt around the matching words. */
  readonly text: string;
  /** From 0 to 1, higher is better. From ALL_FOUND of the model upwards, every word was found. */
  readonly score: number;
}

export interface EventFilter {
  readonly channel?: string;
  readonly direction?: Direction;
  /** Inclusive. */
  readonly sinceMs?: number;
  /** Exclusive. */
  readonly untilMs?: number;
}

export interface EventStore extends EventReads {
  /**
   * The id by which an event with this id is stored: its digest if it holds a secret, unless it was stored before the secret
   * was known. `accept` sees to it, too. An id stays the same when a secret is known no longer.
   */
  keptId(id: EventId): EventId;

  /**
   * Accepts an event once. A second event with the same id changes nothing but the count of differing redeliveries.
   * With a dispatch, the event, the dispatch and the queue item are one commit; with a claim and an idle session, so
   * are the lease and the run.
   *
   * With `judge`, hooks have to judge the event: it is listed by `hooks.unjudged` until `hooks.judged` confirms that
   * all were asked. An event that was in the ledger already is not judged again. A cursor is stored in the
   * same commit, even if the event was in the ledger already.
   */
  accept(event: NewEvent, options?: AcceptOptions): Promise<Accepted>;

  /**
   * Accepts several events in one commit, in order, with the cursor of the source that they were read from. All or
   * nothing: what keeps one of them from being accepted is thrown. May be repeated.
   */
  acceptAll(events: readonly EventToAccept[], cursor?: SourceCursor): Promise<Accepted[]>;

  /**
   * Turns a fired hook into work. A dispatch is unique by (event, hook). All dispatches of an event to one session
   * become one turn: a second one joins the waiting item, which keeps the queue mode of the first hook by name (an
   * explicit target comes before all hooks). A dispatch that arrives after the turn has started becomes an item of
   * its own with its `late` text; it joins that turn while it runs, otherwise it becomes the next turn.
   *
   * If it creates an item that has to wait, the same commit applies the queue mode.
   *
   * - collect, due in the future: restarts the quiet window. The session's other waiting messages of this mode become
   *   due at the same time, but at most MAX_QUIET_WINDOWS windows after they were queued, so a steady stream cannot
   *   delay them forever.
   * - interrupt: aborts an unfinished run of the session, like `requestAbort`, and puts the message ahead of older
   *   ones of other modes.
   */
  dispatch(eventId: EventId, dispatch: NewDispatch, options?: { claim?: LeaseRequest }): Promise<Dispatched>;

  /**
   * Adds up to `max` events to the search index, oldest first; fewer if they are long. Call it again while events are
   * waiting. Only the speed of searches depends on it.
   */
  index(max: number): Promise<IndexStep>;
}

export interface EventToAccept {
  readonly event: NewEvent;
  readonly options?: AcceptOptions;
}

export interface AcceptOptions {
  readonly dispatch?: NewDispatch;
  readonly claim?: LeaseRequest;
  /** Omit it where no hook is active: it costs a row. */
  readonly judge?: boolean;
  /**
   * It is another wording of an earlier event: its message is replaced where it still waits. Then `dispatch` is not carried
   * out, which tells of the change where it does not.
   */
  readonly revises?: { readonly event: EventId; readonly message: string };
  /** What is sent because of it, in the same commit; nothing if the event was in the ledger already. */
  readonly notices?: readonly (NewDelivery & { readonly content: string })[];
  /** The talk in its place goes on in another session. */
  readonly moves?: Move;
  /** It is the deletion of an earlier event: where that still waits, it is dropped. Then `dispatch` is not carried out. */
  readonly withdraws?: EventId;
  readonly cursor?: SourceCursor;
  /** Bounds how many new events of a guest are stored in a day of UTC. Beyond that, they are only counted. */
  readonly guest?: GuestQuota;
}

/** Which session a talk is in from now on, where another one is named for its place. */
export interface Move {
  /** The session that the place is in by the configuration. */
  readonly from: SessionKey;
  readonly to: SessionKey;
}

export interface GuestQuota {
  readonly guest: Principal;
  readonly perDay: number;
  /** For all guests together. */
  readonly allPerDay: number;
}

export interface IndexStep {
  readonly indexed: number;
  /** Events still to be indexed. */
  readonly waiting: number;
}

export interface NewEvent {
  /** `{adapter}:{sourceId}`, built by `eventId` of the model. */
  readonly id: EventId;
  readonly channel: string;
  readonly direction: Direction;
  readonly sender?: string;
  readonly account?: string;
  readonly place?: string;
  readonly topic?: string;
  /** Stored with the place. An event that omits them changes nothing. */
  readonly placeKind?: PlaceKind;
  readonly placeName?: string;
  /** The enclosing place on the same channel and account, such as a forum's channel. */
  readonly parentPlace?: string;
  /** Whether the agent was mentioned, if the platform says so. */
  readonly mentionsMe?: boolean;
  readonly replyTo?: string;
  /** The platform's own id of the message. */
  readonly messageId?: string;
  /** Of an edit, a deletion, a reaction or a pressed button: the `messageId` of the message it concerns. */
  readonly about?: string;
  /** Null for events without text, such as a timer's. */
  readonly content: string | null;
  readonly contentType?: string;
  readonly attachments?: Json;
  readonly payload?: Json;
  readonly metadata?: Json;
  readonly atMs: number;
  /** The event whose turn, hook or relay produced this one. Absent: it starts a chain. */
  readonly cause?: EventId;
  /** The name of the scoped token by which it came. */
  readonly token?: string;
  /** It reports a result back to its cause and adds no link to the chain. */
  readonly returns?: true;
  /** On whose authority it happened. Absent: that of its cause. */
  readonly principal?: Principal;
  /** Of its content, in addition to what its principal says. */
  readonly label?: Label;
  /**
   * Who hears what comes of it: a person or a room. Of what has no place of its own, such as delegated work. Absent: that
   * of its cause; if that has none either, the place and the principal say it.
   */
  readonly audience?: string | undefined;
}

/** The names and parents of places are in the view `threads`. */
export interface StoredEvent extends Omit<NewEvent, "placeName" | "parentPlace" | "returns" | "principal"> {
  readonly principal: Principal;
  /** Number of links before it in its chain. 0: Cortex did not cause it. */
  readonly depth: number;
  /** Number of results reported back before it in its chain. */
  readonly returned: number;
  readonly receivedAtMs: number;
  /** Redeliveries whose content differed from the first, which was kept. */
  readonly differing: number;
  /** When its content was pruned. Absent: it was not. */
  readonly prunedAtMs?: number;
}

export interface Accepted {
  /** False: the event was in the ledger already. */
  readonly fresh: boolean;
  /** It was counted, and is not in the ledger: too many of a guest, or of all, came that day. */
  readonly unkept?: true;
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
