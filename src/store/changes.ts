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
 * The feed of changes: what a live view has to know, in the order in which it was committed.
 *
 * Each operation that changes something writes one entry with a sequence number, in its own transaction;
 * so nothing that happened is missing and nothing that did not happen is there. An entry is read as one
 * or more small changes that share its number. They name things and say what state they came into; what
 * is in them is read from the ledger. What was removed since then (the journal of a dead letter that was
 * given up) is left out.
 */
export interface ChangeReads {
  /** What came after an entry, oldest first, at most `limit` entries. */
  since(seq: number, options?: { limit?: number }): Promise<Changes>;

  /** The number of the oldest entry that is kept; 0 where there is none yet. */
  first(): Promise<number>;

  /** The number of the newest entry; 0 where there is none yet. */
  last(): Promise<number>;
}

export interface Changes {
  readonly changes: readonly Change[];
  /** Where the next call goes on, also when nothing of the entries that were read is left to tell. */
  readonly seq: number;
  /**
   * Entries after the one asked for are no longer kept, or the one asked for was never written here. There
   * are no changes then: read the state anew and go on from `seq`, which is the newest.
   */
  readonly gap: boolean;
}

export type Change = ChangeBody & { readonly seq: number; readonly atMs: number };

export type ChangeBody =
  /** An event was taken in, or the answer of a turn entered the ledger. */
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
      /** What it waits for, where it is suspended. */
      readonly wait: Wait["kind"] | undefined;
      readonly attempt: number;
    }
  /** A run has begun to sum its thread up, or has done so. */
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
  /** A relay has changed: a step of it began or ended, or it did. */
  | { readonly kind: "relay"; readonly relay: RelayId; readonly state: RelayState }
  /** A hook came into another state, or its file was read anew. */
  | { readonly kind: "hook"; readonly hook: string; readonly state: HookState }
  /** A hook has judged an event, and has fired or failed. Others are not told of. */
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
