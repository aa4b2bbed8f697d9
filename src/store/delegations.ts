import type { DelegationId, ItemId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { NewDispatch } from "./dispatches.ts";
import type { NewEvent } from "./events.ts";
import type { Claim, LeaseRequest } from "./leases.ts";
import type { ListOptions, Listed } from "./list.ts";

/**
 * Work that the agent of one session has delegated to another. It starts with the commit that queues its message
 * (`NewDispatch.delegation`) and ends with the commit that settles that message, however it ends: its turn is
 * committed or aborted, it becomes a dead letter, or it is dropped. `report` then tells the caller once.
 *
 * Retrying a dead letter later changes nothing: the delegation is over.
 */
export interface DelegationReads {
  get(id: DelegationId): Promise<Delegation | undefined>;

  /** Newest first. `caller` delegated the work, `session` received it. */
  list(
    options?: ListOptions & { caller?: SessionKey; session?: SessionKey; state?: DelegationState },
  ): Promise<Listed<Delegation>>;

  /** Ended but not reported, oldest first. */
  unreported(options?: { limit?: number }): Promise<Delegation[]>;

  /** The earliest deadline of an open delegation. Undefined: none has one. */
  nextDeadlineMs(): Promise<number | undefined>;
}

export interface DelegationStore extends DelegationReads {
  /**
   * Reports the end to the caller, once, and passes the `trust` marks of the worker's session on to the caller's. If
   * a turn waits for it, its run becomes ready once everything it waits for is reported, and reads the outcomes from
   * here; a call that has its result no longer waits. Otherwise the same commit accepts and dispatches the message;
   * without a message, there is nothing to tell.
   *
   * False: it was reported or cancelled before; nothing changes. `delegation_unknown`; `state_conflict` if it is
   * open.
   */
  report(
    id: DelegationId,
    message?: DelegationReport,
  ): Promise<{ readonly reported: boolean; readonly claim?: Claim }>;

  /**
   * Ends delegations past their deadline as `timeout`: drops their waiting messages by the policy `timeout` and
   * aborts the turns running for them. Returns them. They still have to be reported.
   */
  expire(): Promise<DelegationId[]>;

  /**
   * Cancels all open delegations of a session and those further down: drops waiting messages by the policy
   * `cancelled` and aborts the turns running for them (a turn that is for another message and only took this one in
   * continues). No one is told. `requestAbort`, an interrupting message and the commit of an aborted turn do the same
   * for the delegations of that turn. Returns how many ended. `session_unknown`.
   */
  cancel(caller: SessionKey, reason: string): Promise<number>;
}

/**
 * dropped: its message was dropped. failed: its message is a dead letter. timeout: it missed its deadline.
 */
export type DelegationState = "open" | "done" | "aborted" | "failed" | "dropped" | "timeout" | "cancelled";

export interface DelegationReport {
  readonly event: NewEvent;
  readonly dispatch: NewDispatch;
  readonly claim?: LeaseRequest;
}

export interface Delegation {
  readonly id: DelegationId;
  /** The session that delegated the work. */
  readonly caller: SessionKey;
  readonly callerTurn: TurnId;
  readonly ordinal: number;
  /** The session that does the work. */
  readonly session: SessionKey;
  readonly item: ItemId;
  readonly waits: boolean;
  readonly state: DelegationState;
  /** The committed turn that includes its message, if any. */
  readonly turn: TurnId | undefined;
  /** Why it failed. */
  readonly error: string | undefined;
  readonly deadlineMs: number | undefined;
  readonly detail: Json | undefined;
  readonly startedAtMs: number;
  readonly endedAtMs: number | undefined;
  readonly reportedAtMs: number | undefined;
}
