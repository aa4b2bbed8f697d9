import type { ItemId, RelayId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { NewDelivery } from "./deliveries.ts";
import type { NewDispatch } from "./dispatches.ts";
import type { NewEvent } from "./events.ts";
import type { Claim, LeaseRequest } from "./leases.ts";
import type { ListOptions, Listed } from "./list.ts";
import type { Wait } from "./runs.ts";

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
