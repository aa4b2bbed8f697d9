/**
 * Gives work to another session: its message, its worker, and the record that a turn waits for the result or wants to be
 * told, are one commit. All ids are derived from the tool call, so the same call repeated after a crash finds what it did
 * before and does nothing.
 */
import { CortexError } from "../model/errors.ts";
import { AGENT_ADAPTER } from "../model/event.ts";
import { eventId } from "../model/event-id.ts";
import { DIRECT_HOOK } from "../model/hook-order.ts";
import { type DelegationId, dispatchIds, type EventId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { ToolContext } from "../model/tool.ts";
import { deriveUlid } from "../model/ulid.ts";
import type { Delegation, NewDispatch, NewEvent, Store } from "../store/store.ts";
import { acceptFromAgent, type DelegationPorts, queueingOfAgent } from "./accept.ts";
import { answeredBy, type Caller, causeOf, deliveryTo, stampFor } from "./caller.ts";
import type { SessionTarget } from "./kin.ts";
import { present } from "../model/present.ts";

/** How many open delegations one session may have. */
export const MAX_OPEN_DELEGATIONS = 100;
export const MAX_TASK_LENGTH = 100_000;

export interface Order {
  readonly task: string;
  readonly target: SessionTarget;
  readonly type?: string | undefined;
  /** The narrowing of the message. */
  readonly permissions: Json | undefined;
  /** For this message; a new worker has a profile of its own. */
  readonly profile?: string | undefined;
  readonly waits: boolean;
  readonly timeoutMs?: number | undefined;
}

/** A delegation as its tool call reports it. */
export type DelegationHandle = Pick<Delegation, "id" | "session">;

/** Recorded with a delegation, for the report of its end. A type, not an interface: it is stored as JSON. */
type DelegationDetail = {
  /** The event that led to the caller's turn: the report goes back there. */
  readonly cause?: EventId;
  readonly type?: string;
  readonly timeoutMs?: number;
  /** The narrowing of the report. */
  readonly permissions?: Json;
  /** Where the caller's turn answers to, and who hears it there. */
  readonly delivery?: Json;
  readonly audience?: string;
};

export function delegationDetail({ detail }: Pick<Delegation, "detail">): DelegationDetail {
  return detail as DelegationDetail; // written by `delegate`
}

/** What this call did before it was cut off. */
export function findDelegation(context: ToolContext, store: Store): Promise<DelegationHandle | undefined> {
  return store.delegations.get(delegationId(context));
}

export async function delegate(
  order: Order,
  caller: Caller,
  ports: DelegationPorts,
): Promise<DelegationHandle> {
  const { target, type, task, waits, timeoutMs, permissions, profile } = order;
  const { context, items, behalf, audience } = caller;
  const { clock, mintId, store } = ports;
  await checkOpen(context.session, store);
  const cause = await causeOf(caller, ports);
  const id = delegationId(context);
  const isNew = target.worker !== undefined;
  const event: NewEvent = {
    id: eventId(AGENT_ADAPTER, { kind: "id", sourceId: context.callKey }),
    channel: isNew ? channelOf(type) : AGENT_ADAPTER,
    direction: "sent",
    sender: context.agent,
    content: task,
    metadata: stampFor("task", caller),
    cause,
    ...present({ audience }),
    atMs: clock(),
  };
  const address = deliveryTo(answeredBy(items), "?", mintId())?.target;
  const delivery = address === undefined ? undefined : { ...address };
  const detail: DelegationDetail = {
    cause,
    ...present({ type, timeoutMs, permissions: behalf, delivery, audience }),
  };
  const dispatch: NewDispatch = {
    ...dispatchIds(mintId),
    hook: DIRECT_HOOK,
    target,
    ...(await queueingOfAgent(undefined, target, ports)),
    ...present({ permissions, profile }),
    from: context.session,
    delegation: {
      id,
      turn: context.turn,
      ordinal: ordinalOf(context),
      waits,
      ...(timeoutMs === undefined ? {} : { deadlineMs: clock() + timeoutMs }),
      detail,
    },
  };
  const { dispatched } = await acceptFromAgent(event, dispatch, ports);
  return { id, session: dispatched?.session ?? target.session };
}

/** The session of a worker that this call opens. */
export function workerId({ turn, callKey }: ToolContext): string {
  return deriveUlid(turn, `${callKey}/worker`).toLowerCase();
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
  throw new CortexError("tool_input_invalid", `This session already has ${items.length} workers running`, {
    hint: "Wait for some of them to finish.",
  });
}
