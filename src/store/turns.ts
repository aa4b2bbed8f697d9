import type { AgentId, EventId, PersonaId, RunId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Message, ToolCall } from "../model/message.ts";
import type { Principal } from "../model/principal.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Timing } from "../model/spans.ts";
import type { Usage } from "../model/usage.ts";
import type { NewApproval } from "./approvals.ts";
import type { NewDelivery } from "./deliveries.ts";
import type { NewEvent } from "./events.ts";
import type { Claim, Lease, LeaseRequest } from "./leases.ts";

export interface TurnReads {
  get(id: TurnId): Promise<StoredTurn | undefined>;

  /** A turn with its messages and tool calls. */
  read(id: TurnId): Promise<TurnContent | undefined>;

  /**
   * The context that the agent gets of a thread: the turns from this one back to the last compaction, oldest first,
   * at most `limit`. Costs as much as it reads, at any depth.
   */
  context(id: TurnId, options?: { limit?: number }): Promise<Context>;

  /** The turn and its ancestors, newest first, at most `limit`. */
  thread(id: TurnId, options: { limit: number }): Promise<StoredTurn[]>;

  children(id: TurnId): Promise<StoredTurn[]>;

  /**
   * The costs of turns committed in a period, most expensive first; by day, newest first. Runs beside everything
   * else, so it may be as slow as a query and fail like one.
   */
  costs(query: CostQuery): Promise<CostRow[]>;

  /**
   * What a persona has spent since the given time: turns committed since then, the journals of active runs, and those
   * of runs that failed since then. Unknown prices count as zero.
   */
  spentUsd(
    persona: PersonaId,
    sinceMs: number,
    options?: {
      /** Only for others than the owner: see `isOthers` of the model. */ readonly others?: boolean;
    },
  ): Promise<number>;

  /** The same of what a principal has caused, by any persona, with what hooks asked models about their messages. */
  spentByUsd(principal: Principal, sinceMs: number): Promise<number>;

  /**
   * Model calls since the given time, in steps of 15 minutes, by persona: for turns, compactions and hooks. Does not
   * count the offline model.
   */
  usedSince(
    sinceMs: number,
    options?: { /** Only for others than the owner. */ readonly others?: boolean },
  ): Promise<ModelUse[]>;

  /**
   * The attachments of the messages that this turn and its ancestors answered, newest first, from at most `limit`
   * messages. Does not walk the thread if no message ever had any.
   */
  attached(id: TurnId, options: { limit: number }): Promise<Json[]>;

  /** The ancestor at a depth; the root has depth 0. Undefined if the thread does not include it. */
  ancestor(id: TurnId, depth: number): Promise<TurnId | undefined>;
}

export interface ModelUse {
  /** Undefined: calls of hooks. */
  readonly persona: PersonaId | undefined;
  readonly calls: number;
  /** Input and output, without cached tokens. */
  readonly tokens: number;
}

export interface TurnStore extends TurnReads {
  /**
   * Commits a turn in one transaction: the turn, messages and tool calls not journalled yet, the head, the queue
   * items, the event of the answer and its deliveries. Refused with `lease_lost` or `head_moved` without writing
   * anything. With `claimNext`, the same commit leases the session that has waited longest, often the same one.
   */
  commit(turn: NewTurn): Promise<{ readonly next?: Claim }>;

  /**
   * Records that a run compacts its thread: the session is `compacting` from now until the compaction is committed or
   * the run ends.
   */
  beginCompaction(lease: Lease, run: RunId): Promise<void>;

  /**
   * Commits a compaction within a run: a turn of its own that becomes the head, so the run's turn follows it.
   * `firstKept` is the oldest turn that stays in the context verbatim.
   */
  compact(compaction: NewCompaction): Promise<void>;
}

/** How a turn was made. */
export interface TurnFacts {
  readonly role: "manager" | "worker";
  readonly profile: string;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  /** Null if the price is unknown. */
  readonly costUsd: number | null;
  readonly permissions?: { readonly granted: Json; readonly used: Json };
}

export interface NewTurn {
  readonly lease: Lease;
  readonly run: RunId;
  readonly turn: TurnId;
  /** From the claim. Refused if the head has moved since. */
  readonly parent: TurnId | undefined;
  readonly status: "completed" | "aborted";
  readonly facts: TurnFacts;
  /** Those not in the journal. The last assistant message has the id of the turn. */
  readonly messages: readonly Message[];
  readonly toolCalls: readonly ToolCall[];
  /** The event of the answer in the ledger. Its content is the last message of the turn. */
  readonly answer?: NewAnswer;
  /** Hooks have to judge the event of the answer, as with `judge` of `events.accept`. */
  readonly judge?: boolean;
  readonly deliveries?: readonly NewDelivery[];
  /** The answer, if it is only sent once a person approves it. */
  readonly held?: HeldAnswer | undefined;
  /** Where its time went. */
  readonly timing?: Timing | undefined;
  readonly claimNext?: LeaseRequest;
}

/** Approved, the deliveries are queued; denied or expired, the notice is. Each in the commit that decides. */
export interface HeldAnswer {
  readonly request: NewApproval;
  readonly deliveries: readonly NewDelivery[];
  readonly refused: readonly (NewDelivery & { readonly content: string })[];
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
  /** The session it was created in. A turn belongs to every thread that passes through it. */
  readonly session: SessionKey;
  readonly agent: AgentId;
  readonly persona: PersonaId;
  readonly facts: TurnFacts;
  readonly toolCallCount: number;
  /** Number of direct successors. The only field that changes after the commit. */
  readonly childCount: number;
  readonly sourceEvent: EventId | undefined;
  readonly startedAtMs: number;
  readonly completedAtMs: number;
  readonly hash: string;
  /** On whose authority it ran. Absent: its event did not say. */
  readonly principal?: Principal;
  /** The label of its session when it was committed, as stored. */
  readonly trust?: Json;
  /** When its content was pruned. Absent: it was not. */
  readonly prunedAtMs?: number;
}

export interface CostQuery {
  readonly by: "session" | "agent" | "persona" | "person" | "model" | "day";
  readonly sinceMs: number;
  readonly untilMs: number;
  /** By day: when each day starts, ascending. The first must not be after `sinceMs`. */
  readonly dayStartsMs?: readonly number[];
  /** By session: only these, reading only their turns. At most MAX_PAGE. */
  readonly sessions?: readonly SessionKey[];
  /** Defaults to DEFAULT_PAGE, at most MAX_PAGE. */
  readonly limit?: number;
}

export interface CostRow {
  /** The session, agent or persona; `provider/model`; or the time at which the day starts. */
  readonly key: string;
  readonly turns: number;
  readonly usage: Usage;
  readonly costUsd: number;
  /** Turns with an unknown price, which `costUsd` does not include. */
  readonly unpriced: number;
}

export interface TurnContent {
  readonly turn: StoredTurn;
  readonly messages: readonly Message[];
  readonly toolCalls: readonly ToolCall[];
}

export interface Context {
  /** The compaction that replaces everything before the turns. */
  readonly compaction: TurnContent | undefined;
  readonly turns: readonly TurnContent[];
}

export type Verdict =
  | {
      readonly ok: true;
      readonly turns: number;
      readonly pruned: number;
      /** Entries of the audit log. */
      readonly audited: number;
    }
  | { readonly ok: false; readonly turn: TurnId; readonly problem: string }
  /** The first entry of the audit log that does not match. */
  | { readonly ok: false; readonly entry: number; readonly problem: string };
