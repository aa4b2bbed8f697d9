import type { ItemId, RelayId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { NewDelivery } from "./deliveries.ts";
import type { NewDispatch } from "./dispatches.ts";
import type { NewEvent } from "./events.ts";
import type { Claim, LeaseRequest } from "./leases.ts";
import type { ListOptions, Listed } from "./list.ts";
import type { Wait } from "./runs.ts";
import type { HeldAnswer } from "./turns.ts";

/**
 * Relays and their steps. The store keeps the record of a relay without reading it. It does know when the message of
 * a step is settled: that commit ends the step and makes the relay due.
 *
 * Every change of a relay, including the end of a step, makes a new version. A change applies to one version.
 */
export interface RelayReads {
  get(id: RelayId): Promise<StoredRelay | undefined>;

  /** Newest first, without archived ones. */
  list(
    options?: ListOptions & { states?: readonly RelayState[]; channel?: string },
  ): Promise<Listed<StoredRelay>>;

  /** In order. Empty if the relay is unknown. */
  steps(id: RelayId): Promise<StoredRelayStep[]>;

  /** Relays that need attention, longest waiting first. */
  due(options?: { limit?: number }): Promise<RelayId[]>;

  /** Whether any relay is unfinished. Cheap enough for start-up. */
  anyOpen(): Promise<boolean>;

  /** Relays that ended before the given time and are not archived, oldest first. */
  endedBefore(atMs: number, options?: { limit?: number }): Promise<StoredRelay[]>;

  /** A configuration that relays are pinned to, as JSON. */
  config(hash: string): Promise<string | undefined>;

  /** The cost of all relay steps recorded as ended since the given time. */
  spentUsd(sinceMs: number): Promise<number>;
}

export interface RelayStore extends RelayReads {
  /** Creates a relay, due at once unless it is over. Does nothing if the id exists. */
  create(relay: NewRelay): Promise<{ readonly fresh: boolean }>;

  /**
   * Changes a relay with all consequences in one commit: steps, the messages that request them, deliveries, and
   * stopping what is running. `relay_unknown`; `state_conflict` if the version has changed.
   */
  save(
    id: RelayId,
    version: number,
    change: RelayChange,
  ): Promise<{ readonly version: number; readonly claim?: Claim }>;

  /** Removes finished relays from the lists. Skips others. */
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
  /** Additional data beside the record. */
  readonly detail?: Json;
  readonly config?: PinnedConfig;
  /** Where it was started, for filtering lists. */
  readonly channel?: string;
  /**
   * The tool call that waits for its end. `state_conflict` if its turn is not running. When that turn is asked to
   * abort, the relay becomes due with the reason in its detail as `unwanted`.
   */
  readonly caller?: RelayCaller;
  /** The steps it starts with. */
  readonly steps?: readonly Omit<RelayStepChange, "accept">[];
  /** For a relay that is imported after it ended. */
  readonly times?: { readonly createdAtMs: number; readonly endedAtMs: number };
}

export interface PinnedConfig {
  readonly hash: string;
  readonly json: string;
}

export interface RelayCaller {
  readonly session: SessionKey;
  readonly turn: TurnId;
  /** The tool call in that turn. */
  readonly ordinal: number;
}

export interface RelayChange {
  readonly state: RelayState;
  readonly record: Json;
  /** Absent: unchanged. */
  readonly detail?: Json;
  readonly config?: PinnedConfig;
  /** Whether it needs attention again at once. */
  readonly due?: boolean;
  readonly steps?: readonly RelayStepChange[];
  readonly deliveries?: readonly (NewDelivery & { readonly content: string })[];
  /** What is only sent once a person approves it. Without a step whose turn could ask, it counts as refused. */
  readonly held?: HeldAnswer | undefined;
  /** The reason to stop: drops waiting messages and aborts running turns of the relay. */
  readonly stop?: string;
  /** A message to whoever started it. */
  readonly tell?: { readonly event: NewEvent; readonly dispatch: NewDispatch };
  /** For the first step it requests. */
  readonly claim?: LeaseRequest;
}

/** A new or changed step. */
export interface RelayStepChange {
  readonly step: number;
  readonly slot: string;
  readonly record: Json;
  /** Recorded as ended. */
  readonly isEnded: boolean;
  readonly costUsd?: number | null;
  /** Requests its turn. */
  readonly accept?: RelayStepOrder;
}

export interface RelayStepOrder {
  readonly event: NewEvent;
  readonly dispatch: NewDispatch;
  /** What its session is given from now on, like a worker's. */
  readonly worker: Json;
  /**
   * Sessions whose `trust` marks are passed on to the step's session, because it sees their results. Skips unknown
   * ones.
   */
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
  /** Undefined: it requests no turn. */
  readonly item: ItemId | undefined;
  readonly session: SessionKey | undefined;
  /** What its run waits for, if it is suspended. */
  readonly wait: Wait["kind"] | undefined;
  readonly startedAtMs: number;
  readonly endedAtMs: number | undefined;
}
