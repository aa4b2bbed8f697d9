import type { AgentId, EventId, PersonaId, RunId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Message, ToolCall } from "../model/message.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Timing } from "../model/spans.ts";
import type { Usage } from "../model/usage.ts";
import type { NewDelivery } from "./deliveries.ts";
import type { NewEvent } from "./events.ts";
import type { Claim, Lease, LeaseRequest } from "./leases.ts";

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
  /** Where its time went. */
  readonly timing?: Timing | undefined;
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

export type Verdict =
  | { readonly ok: true; readonly turns: number; readonly pruned: number }
  | { readonly ok: false; readonly turn: TurnId; readonly problem: string };
