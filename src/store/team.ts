import type { AgentId, ItemId, PersonaId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { NewDispatch } from "./dispatches.ts";
import type { NewEvent } from "./events.ts";
import type { Claim, LeaseRequest } from "./leases.ts";

/**
 * What Cortex knows about team members beyond their files: plans, results, when it last looked. The store keeps this
 * state without reading it. It does know the message that requests a member's current turn.
 */
export interface TeamReads {
  get(team: string, member: string): Promise<StoredMember | undefined>;

  /** All members of a team, by name. */
  list(team: string): Promise<StoredMember[]>;
}

export interface TeamStore extends TeamReads {
  /**
   * Stores the state of a member and what its session is given, creating the session if needed. The member's message
   * stays unless `isOver`. May be repeated.
   */
  keep(member: KeptMember & { readonly isOver?: boolean; readonly give?: TeamGift }): Promise<void>;

  /**
   * Requests a turn of a member: its message, what its session is given, and the member's state, in one commit. The
   * same event again is the same message and only updates the state.
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
  /** Like a worker's. */
  readonly worker: Json;
}

export interface TeamOrder extends KeptMember {
  readonly event: NewEvent;
  readonly dispatch: NewDispatch;
  /** What its session is given from now on, like a worker's. */
  readonly worker: Json;
  readonly claim?: LeaseRequest;
}

export interface StoredMember extends KeptMember {
  /** The message that requests a turn, until it is marked as over. */
  readonly item: ItemId | undefined;
  readonly updatedAtMs: number;
}
