/**
 * The format of an entry in the change feed: a flat JSON list of numbers, fact after fact, each with its kind, the
 * key of its row and the new state. Keys instead of ids, and positions in these lists instead of words, keep an entry
 * at about thirty bytes, so it is cheap to write one with every operation. Databases hold these numbers: only ever
 * append to the lists.
 */
import type { ToolStatus } from "../../model/message.ts";
import type {
  ApprovalState,
  ChangeBody,
  DelegationState,
  DeliveryState,
  HookState,
  ItemState,
  RelayState,
  RunState,
  Wait,
} from "../store.ts";

export const FACT = {
  event: 0, // seq
  dispatch: 1, // key
  item: 2, // key, state
  run: 3, // key, state, wait
  messages: 4, // run, first place, how many
  call: 5, // run, ordinal, status
  turn: 6, // key
  delivery: 7, // key, state
  session: 8, // key, what
  approval: 9, // key, state
  hook: 10, // key, state
  hookRun: 11, // key, outcome
  delegation: 12, // key, state
  relay: 13, // key, state
  compacting: 14, // run, whether it begins
} as const;

export const ITEM_STATE_CODES = [
  "queued",
  "claimed",
  "done",
  "merged",
  "dropped",
  "dead",
] as const satisfies readonly ItemState[];

export const RUN_STATE_CODES = [
  "running",
  "suspended",
  "resumable",
  "failed",
  "completed",
  "aborted",
] as const satisfies readonly RunState[];

/** The first means no wait. */
export const WAITS = [undefined, "approval", "question", "child", "other"] as const satisfies readonly (
  | Wait["kind"]
  | undefined
)[];

export const CALL_STATUS_CODES = [
  "started",
  "ok",
  "error",
  "unknown",
  "skipped",
  "aborted",
] as const satisfies readonly ToolStatus[];

export const DELIVERY_STATE_CODES = [
  "pending",
  "sending",
  "sent",
  "unknown",
  "dead",
  "dropped",
] as const satisfies readonly DeliveryState[];

export const APPROVAL_STATE_CODES = [
  "open",
  "approved",
  "denied",
  "answered",
  "expired",
  "used",
  "void",
] as const satisfies readonly ApprovalState[];

export const DELEGATION_STATE_CODES = [
  "open",
  "done",
  "aborted",
  "failed",
  "dropped",
  "timeout",
  "cancelled",
] as const satisfies readonly DelegationState[];

export const RELAY_STATE_CODES = [
  "running",
  "waiting",
  "completed",
  "failed",
  "cancelled",
  "aborted",
] as const satisfies readonly RelayState[];

export const HOOK_STATE_CODES = [
  "active",
  "disabled",
  "errored",
  "open",
] as const satisfies readonly HookState[];

type HookOutcome = Extract<ChangeBody, { kind: "hook_run" }>["outcome"];

export const HOOK_OUTCOMES = ["fired", "failed"] as const satisfies readonly HookOutcome[];

type SessionChange = Extract<ChangeBody, { kind: "session" }>["what"];

export const SESSION_CHANGES = ["forked", "reset", "configured"] as const satisfies readonly SessionChange[];
