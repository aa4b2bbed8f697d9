import type { AgentId, ItemId, PersonaId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { NewDispatch } from "./dispatches.ts";
import type { NewEvent } from "./events.ts";
import type { Claim, LeaseRequest } from "./leases.ts";

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
