import type { DeliveryId, RunId, TurnId } from "../model/ids.ts";
import type { DeliveryTarget } from "./deliveries.ts";

/**
 * The messages on platforms that show an answer while it is written. There is at most one of a turn. It is recorded before
 * it is sent, the commit of the turn binds it to the delivery of the answer, and it stays recorded until it has become the
 * answer or was removed.
 */
export interface DraftReads {
  /** All of them, oldest first. There are few. */
  list(): Promise<Draft[]>;
  /** Of a turn. */
  get(turn: TurnId): Promise<Draft | undefined>;
  /** The one that a delivery replaces. */
  ofDelivery(delivery: DeliveryId): Promise<Draft | undefined>;
}

export interface DraftStore extends DraftReads {
  /** Records that a draft is about to be sent. False: the turn has one, or the run is not at work any more. */
  begin(run: RunId, target: DeliveryTarget): Promise<boolean>;

  /** Records the platform's id of the draft of a turn. */
  sent(turn: TurnId, platformId: string): Promise<void>;

  /** Forgets the draft of a turn: it has become the answer, or is gone. */
  forget(turn: TurnId): Promise<void>;
}

export interface Draft {
  readonly turn: TurnId;
  readonly target: DeliveryTarget;
  /** Undefined: it is being sent, or was when the process died. */
  readonly platformId: string | undefined;
  readonly state: DraftState;
}

/**
 * writing: the turn is at work. waiting: its answer will replace the draft. replaced: the draft is the answer now. stale:
 * nothing will replace it.
 */
export type DraftState = "writing" | "waiting" | "replaced" | "stale";
