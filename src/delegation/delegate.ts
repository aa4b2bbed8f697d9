/**
 * Gives work to another session: its message, its worker and the note that a turn waits for it, or wants to be told
 * of it, are one commit. All ids are made from the tool call, so that the same call again, after a crash, finds
 * what it has done before and does nothing.
 */
import { CortexError } from "../model/errors.ts";
import { AGENT_ADAPTER, eventId } from "../model/event.ts";
import { DIRECT_HOOK } from "../model/hook-order.ts";
import type { DelegationId, DispatchId, EventId, ItemId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { ToolContext } from "../model/tool.ts";
import { deriveUlid } from "../model/ulid.ts";
import type { Delegation, NewDispatch, NewEvent, QueueItem, Store } from "../store/store.ts";
import { type Caller, causeOf, stampFor } from "./caller.ts";
import type { SessionTarget } from "./kin.ts";
import type { DelegationParts } from "./parts.ts";
import { answeredMessage, asMetadata } from "../model/stamp.ts";
import { present } from "../model/present.ts";

/** How much work one session may have given away at the same time. */
export const MAX_OPEN_DELEGATIONS = 100;
export const MAX_TASK_LENGTH = 100_000;

export interface Order {
  readonly task: string;
  readonly target: SessionTarget;
  readonly type?: string | undefined;
  /** What the message narrows. */
  readonly permissions: Json | undefined;
  /** Of this message; a new worker has one of its own. */
  readonly profile?: string | undefined;
  readonly waits: boolean;
  readonly timeoutMs?: number | undefined;
}

export interface Given {
  readonly id: DelegationId;
  readonly session: SessionKey;
}

/** What is kept with a delegation, to tell of its end. */
export interface DelegationDetail {
  /** What led to the turn that gave the work: the report goes back there. */
  readonly cause?: EventId;
  readonly type?: string;
  readonly timeoutMs?: number;
  /** What the message that tells of the end narrows. */
  readonly permissions?: Json;
  /** Where the caller's turn answers to. */
  readonly delivery?: Json;
}

export function detailOf({ detail }: Pick<Delegation, "detail">): DelegationDetail {
  return detail as unknown as DelegationDetail;
}

/** What this very call has given before, where it was cut off after that. */
export async function givenBefore(context: ToolContext, store: Store): Promise<Given | undefined> {
  const before = await store.delegations.get(delegationId(context));
  return before === undefined ? undefined : { id: before.id, session: before.session };
}

export async function delegate(order: Order, caller: Caller, parts: DelegationParts): Promise<Given> {
  const { target, type, task, waits, timeoutMs, permissions, profile } = order;
  const { context, items, behalf } = caller;
  const { clock, store } = parts;
  await checkOpen(context.session, store);
  const cause = await causeOf(caller, parts);
  const id = delegationId(context);
  const isNew = target.worker !== undefined;
  const event: NewEvent = {
    id: eventId(AGENT_ADAPTER, { kind: "id", sourceId: context.callKey }),
    channel: isNew ? channelOf(type) : AGENT_ADAPTER,
    direction: "sent",
    sender: context.agent,
    content: task,
    metadata: asMetadata(stampFor("task", caller)),
    cause,
    atMs: clock(),
  };
  const delivery = addressOf(answeredMessage(items), parts);
  const detail: DelegationDetail = {
    cause,
    ...present({ type, timeoutMs, permissions: behalf, delivery }),
  };
  const dispatch: NewDispatch = {
    id: parts.mintId() as DispatchId,
    item: parts.mintId() as ItemId,
    hook: DIRECT_HOOK,
    target,
    ...(await parts.queueing(undefined, target)),
    ...present({ permissions, profile }),
    from: context.session,
    delegation: {
      id,
      turn: context.turn,
      ordinal: ordinalOf(context),
      waits,
      ...(timeoutMs === undefined ? {} : { deadlineMs: clock() + timeoutMs }),
      detail: detail as unknown as Json,
    },
  };
  const { dispatched } = await parts.accept(event, dispatch);
  return { id, session: dispatched?.session ?? target.session };
}

/** The session of a worker that this call opens. */
export function workerId({ turn, callKey }: ToolContext): string {
  return deriveUlid(turn, `${callKey}/worker`).toLowerCase();
}

/** Where an answer to a message goes, as a dispatch says it. */
function addressOf(
  item: QueueItem | undefined,
  { deliveryOf, mintId }: Pick<DelegationParts, "deliveryOf" | "mintId">,
): Json | undefined {
  const target = item === undefined ? undefined : deliveryOf(item, "?", mintId())?.target;
  return target as Json | undefined;
}

function delegationId({ turn, callKey }: ToolContext): DelegationId {
  return deriveUlid(turn, callKey) as DelegationId;
}

function ordinalOf({ turn, callKey }: ToolContext): number {
  return Number(callKey.slice(turn.length + 1));
}

function channelOf(type: string | undefined): string {
  return type === undefined ? "subagent" : `subagent:${type}`;
}

async function checkOpen(caller: SessionKey, { delegations }: Store): Promise<void> {
  const { items } = await delegations.list({ caller, state: "open", limit: MAX_OPEN_DELEGATIONS });
  if (items.length < MAX_OPEN_DELEGATIONS) return;
  throw new CortexError("tool_input_invalid", `${items.length} workers of this session are at work already`, {
    hint: "Wait until some of them are done.",
  });
}
