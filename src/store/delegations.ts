import type { DelegationId, ItemId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { NewDispatch } from "./dispatches.ts";
import type { NewEvent } from "./events.ts";
import type { Claim, LeaseRequest } from "./leases.ts";
import type { ListOptions, Listed } from "./list.ts";

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
