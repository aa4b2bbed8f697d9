import type { Direction } from "../model/event.ts";
import type {
  ApprovalId,
  DelegationId,
  DeliveryId,
  DispatchId,
  EventId,
  ItemId,
  MessageId,
  RelayId,
  RunId,
  TurnId,
} from "../model/ids.ts";
import type { Role, ToolStatus } from "../model/message.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { ApprovalState } from "./approvals.ts";
import type { DelegationState } from "./delegations.ts";
import type { DeliveryState } from "./deliveries.ts";
import type { DispatchOutcome } from "./dispatches.ts";
import type { HookState } from "./hooks.ts";
import type { ItemState } from "./queue-items.ts";
import type { RelayState } from "./relays.ts";
import type { RunState, Wait } from "./runs.ts";

/**
 * The change feed: what a live view needs to know, in commit order.
 *
 * Every operation that changes something writes one row with a sequence number in its own transaction, so the feed is
 * complete and holds nothing that was rolled back. A row is read as one or more small changes with the same number.
 * They name things and their new states; the details are in the ledger. Changes of things that were removed since,
 * such as the journal of a dropped dead letter, are left out.
 */
export interface ChangeReads {
  /** What follows a row, oldest first, at most `limit` rows. */
  since(seq: number, options?: { limit?: number }): Promise<Changes>;

  /** The number of the oldest row that is kept; 0 if there is none yet. */
  first(): Promise<number>;

  /** The number of the newest row; 0 if there is none yet. */
  last(): Promise<number>;
}

export interface Changes {
  readonly changes: readonly Change[];
  /** Where the next call continues, even if the rows read had no changes left. */
  readonly seq: number;
  /**
   * Rows after the given one were trimmed, or it was never written here. Then there are no changes: reread the state
   * and continue from `seq`, the newest row.
   */
  readonly gap: boolean;
}

export type Change = ChangeBody & { readonly seq: number; readonly atMs: number };

export type ChangeBody =
  /** An event was accepted, or the answer of a turn entered the ledger. */
  | {
      readonly kind: "event";
      readonly event: EventId;
      readonly channel: string;
      readonly direction: Direction;
    }
  | {
      readonly kind: "dispatch";
      readonly dispatch: DispatchId;
      readonly hook: string;
      readonly event: EventId;
      readonly item: ItemId;
      readonly session: SessionKey;
      readonly outcome: DispatchOutcome;
    }
  | { readonly kind: "item"; readonly item: ItemId; readonly session: SessionKey; readonly state: ItemState }
  | {
      readonly kind: "run";
      readonly run: RunId;
      readonly turn: TurnId;
      readonly session: SessionKey;
      readonly state: RunState;
      /** What it waits for, if it is suspended. */
      readonly wait: Wait["kind"] | undefined;
      readonly attempt: number;
    }
  /** A run has started or finished compacting its thread. */
  | {
      readonly kind: "compacting";
      readonly run: RunId;
      readonly turn: TurnId;
      readonly session: SessionKey;
      readonly isBegun: boolean;
    }
  | {
      readonly kind: "message";
      readonly turn: TurnId;
      readonly run: RunId;
      readonly session: SessionKey;
      readonly place: number;
      readonly message: MessageId;
      readonly role: Role;
    }
  | {
      readonly kind: "call";
      readonly turn: TurnId;
      readonly run: RunId;
      readonly session: SessionKey;
      readonly ordinal: number;
      readonly callId: string;
      readonly tool: string;
      /** At that time. */
      readonly status: ToolStatus;
    }
  | {
      readonly kind: "turn";
      readonly turn: TurnId;
      readonly parent: TurnId | undefined;
      readonly session: SessionKey;
      readonly type: "normal" | "compaction";
      readonly status: "completed" | "aborted";
    }
  | {
      readonly kind: "delivery";
      readonly delivery: DeliveryId;
      readonly turn: TurnId | undefined;
      readonly state: DeliveryState;
    }
  | {
      readonly kind: "approval";
      readonly approval: ApprovalId;
      readonly turn: TurnId;
      readonly session: SessionKey;
      readonly chat: SessionKey;
      readonly state: ApprovalState;
    }
  | {
      readonly kind: "delegation";
      readonly delegation: DelegationId;
      readonly caller: SessionKey;
      readonly callerTurn: TurnId;
      readonly session: SessionKey;
      readonly state: DelegationState;
    }
  /** A relay has changed: it or one of its steps started or ended. */
  | { readonly kind: "relay"; readonly relay: RelayId; readonly state: RelayState }
  /** A hook has changed its state, or its file was read again. */
  | { readonly kind: "hook"; readonly hook: string; readonly state: HookState }
  /** A hook has judged an event and has fired or failed. Other runs are not reported. */
  | {
      readonly kind: "hook_run";
      readonly hook: string;
      readonly event: EventId;
      readonly outcome: "fired" | "failed";
    }
  | {
      readonly kind: "session";
      readonly session: SessionKey;
      readonly what: "forked" | "reset" | "configured";
    };
