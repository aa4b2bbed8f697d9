import type { ApprovalId, DeliveryId, EventId, RunId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Principal } from "../model/principal.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { DeliveryTarget, NewDelivery } from "./deliveries.ts";
import type { Lease } from "./leases.ts";
import type { ListOptions, Listed } from "./list.ts";

/**
 * Requests to people: to approve a tool call, or to answer a question of the agent. The commit that suspends the run
 * creates the request. It is answered once, and the run reads the answer when it continues.
 */
export interface ApprovalReads {
  get(id: ApprovalId): Promise<Approval | undefined>;

  /** With `session`: requests of its runs, and requests asked in its chat. */
  list(options?: ListOptions & { state?: ApprovalState; session?: SessionKey }): Promise<Listed<Approval>>;

  /** Open requests announced in this place by a notice, newest first. */
  openIn(place: DeliveryTarget): Promise<Approval[]>;

  /** The request announced by a message in this place: by the platform's message id or the delivery id. */
  toldBy(place: DeliveryTarget, message: string): Promise<Approval | undefined>;

  /** How many open requests are for the work of a principal, in other turns than this one. */
  countOpen(principal: Principal, besides?: TurnId): Promise<number>;

  /** When the next open request expires. Undefined: none is open. */
  nextExpiryMs(): Promise<number | undefined>;
}

export interface ApprovalStore extends ApprovalReads {
  /**
   * Answers an open request and makes its run ready. A message with buttons that announced it is edited to show the answer
   * without them; so it is when the request expires or becomes void. `approval_unknown`; `approval_expired` if it is too late;
   * `state_conflict` if it was answered before, its run is over, a question is approved or an approval is answered
   * with text. Both kinds can be denied. Repeating the same answer is no error.
   */
  answer(id: ApprovalId, answer: ApprovalAnswer): Promise<Approval>;

  /**
   * Marks an approved call as `used`, once, before it runs. False: it was used before, with an unknown outcome.
   * `state_conflict` if it is not approved.
   */
  use(lease: Lease, run: RunId, id: ApprovalId): Promise<boolean>;

  /** Expires requests that were open too long and makes their runs ready. Returns them. */
  expire(): Promise<ApprovalId[]>;
}

/**
 * An approval is open, then approved, denied or expired, and used once its call starts. A question ends up answered.
 * void: the turn ended, or was asked to, before anyone answered.
 */
export type ApprovalState = "open" | "approved" | "denied" | "answered" | "expired" | "used" | "void";

export interface NewApproval {
  readonly id: ApprovalId;
  readonly kind: "approval" | "question";
  /** The SHA-256 of the exact call, and of the labels and files that it is bound to. */
  readonly callHash: string;
  /** For the person who decides: a `Request`. */
  readonly request: Json;
  /** Undefined: open until answered or the run is over. */
  readonly expiresAtMs: number | undefined;
  /** Announces the request in another place. A request that existed before is not announced again. */
  readonly notice?: NewDelivery & { readonly content: string };
  /** An earlier request of the same call, open or approved, which becomes void. */
  readonly replaces?: ApprovalId;
}

export interface Approval extends Omit<NewApproval, "notice" | "replaces"> {
  readonly session: SessionKey;
  /**
   * The session in whose chat it is asked: for a worker, the one that delegated the work; for a step of a relay, the
   * one that started the relay; otherwise its own.
   */
  readonly chat: SessionKey;
  /** The delivery that announces it. */
  readonly notice: DeliveryId | undefined;
  readonly turn: TurnId;
  readonly run: RunId;
  readonly state: ApprovalState;
  readonly answer: ApprovalAnswer | undefined;
  readonly askedAtMs: number;
  readonly answeredAtMs: number | undefined;
}

/** `token`: the name of the scoped token by which it came; `event`: the message or the press by which it came, if known. */
export type ApprovalAnswer =
  /** With the labels of the session at that time. */
  | {
      readonly kind: "approve";
      readonly by: string;
      readonly token?: string;
      readonly labels?: readonly string[];
      readonly event?: EventId;
    }
  | {
      readonly kind: "deny";
      readonly by: string;
      readonly token?: string;
      readonly reason?: string;
      readonly event?: EventId;
    }
  | {
      readonly kind: "answer";
      readonly by: string;
      readonly token?: string;
      readonly text: string;
      readonly event?: EventId;
    };
