import type { ApprovalId, DeliveryId, EventId, RunId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { DeliveryTarget, NewDelivery } from "./deliveries.ts";
import type { Lease } from "./leases.ts";
import type { ListOptions, Listed } from "./list.ts";

/**
 * What a person is asked: to approve one call, or to answer a question of the agent. A request is made by the
 * commit that suspends its run, and answered once. The run reads the answer when it is taken up again.
 */
export interface ApprovalReads {
  get(id: ApprovalId): Promise<Approval | undefined>;

  /** Of a session: what its runs ask, and what is asked in its chat. */
  list(options?: ListOptions & { state?: ApprovalState; session?: SessionKey }): Promise<Listed<Approval>>;

  /** Those that are open and that a place was told of by a notice, newest first. */
  openIn(place: DeliveryTarget): Promise<Approval[]>;

  /** The one that a message in this place told of: by the platform's id of the message, or that of the delivery. */
  toldBy(place: DeliveryTarget, message: string): Promise<Approval | undefined>;

  /** The earliest moment at which one that is open expires. Undefined: none is open. */
  nextExpiryMs(): Promise<number | undefined>;
}

export interface ApprovalStore extends ApprovalReads {
  /**
   * Answers a request that is open, and makes its run ready to be taken up. `approval_unknown`;
   * `approval_expired` where it came too late; `state_conflict` where it was answered before or its run is over,
   * or where a question is approved or an approval answered. Both can be denied. The same answer again is no error.
   */
  answer(id: ApprovalId, answer: ApprovalAnswer): Promise<Approval>;

  /**
   * Takes an approved call up, once: it is `used` from then on. False: it was used before, and nobody knows what
   * came of it. `state_conflict` where it is not approved.
   */
  use(lease: Lease, run: RunId, id: ApprovalId): Promise<boolean>;

  /** Closes what was open for too long, and makes the runs ready. Returns those it closed. */
  expire(): Promise<ApprovalId[]>;
}

/**
 * Of an approval: open, then approved, denied or expired; once its call is taken up, used. Of a question: answered.
 * void: its turn was over, or was asked to end, before anybody had answered.
 */
export type ApprovalState = "open" | "approved" | "denied" | "answered" | "expired" | "used" | "void";

export interface NewApproval {
  readonly id: ApprovalId;
  readonly kind: "approval" | "question";
  /** What exactly is asked for: the SHA-256 of the call. */
  readonly callHash: string;
  /** For whoever decides: `{tool, args, reason}` or `{question, options}`. */
  readonly request: Json;
  /** Undefined: it stays open until it is answered or its run is over. */
  readonly expiresAtMs: number | undefined;
  /** By which somebody is told of it who waits elsewhere. One that was asked before is not told of again. */
  readonly notice?: NewDelivery & { readonly content: string };
}

export interface Approval extends Omit<NewApproval, "notice"> {
  readonly session: SessionKey;
  /**
   * The session in whose chat it is asked: of a worker, that of whoever gave it the work, and of a step of a relay, that in
   * which the relay was started. Unless there is such a one, its own.
   */
  readonly chat: SessionKey;
  /** The delivery that tells of it. */
  readonly notice: DeliveryId | undefined;
  readonly turn: TurnId;
  readonly run: RunId;
  readonly state: ApprovalState;
  readonly answer: ApprovalAnswer | undefined;
  readonly askedAtMs: number;
  readonly answeredAtMs: number | undefined;
}

export type ApprovalAnswer =
  | { readonly kind: "approve"; readonly by: string }
  | { readonly kind: "deny"; readonly by: string; readonly reason?: string }
  /** With the message that it came in, where that is known. */
  | { readonly kind: "answer"; readonly by: string; readonly text: string; readonly event?: EventId };
