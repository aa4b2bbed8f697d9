/** The turn that delegates work or writes to another agent: what it answers, and on whose behalf. */
import assert from "node:assert/strict";

import type { Settings } from "../config/settings.ts";
import { deliveriesOf } from "../delivery/address.ts";
import { checkChain } from "../model/chain.ts";
import type { EventId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Ports } from "../feature/ports.ts";
import { answeredMessage, type Stamp } from "../model/stamp.ts";
import type { ToolContext } from "../model/tool.ts";
import type { NewDelivery, QueueItem, Store } from "../store/store.ts";
import { outsideAudience } from "../turns/audience.ts";
import { isByOthers, isByPeople, narrowedBy } from "../turns/setup.ts";
import { type Kin, readKin } from "./kin.ts";
import { onBehalf } from "./narrowing.ts";

export interface Caller {
  readonly context: ToolContext;
  readonly kin: Kin;
  /** The messages that its turn answers; at least one. */
  readonly items: readonly QueueItem[];
  /** Whether anyone but the owner wrote any of the messages. */
  readonly isByOthers: boolean;
  /** Whether the others are people, or programs that pass on the text of people. */
  readonly isByPeople: boolean;
  /** The narrowing of a message sent on behalf of the turn's sender. Undefined: none. */
  readonly behalf: Json | undefined;
  /** Who hears the turn. Undefined: the owner. */
  readonly audience: string | undefined;
}

export async function readCaller(context: ToolContext, store: Store): Promise<Caller> {
  const [kin, items] = await Promise.all([
    readKin(context.session, store.sessions),
    store.queue.itemsOf(context.turn),
  ]);
  const byOthers = isByOthers(items);
  const behalf = onBehalf(narrowedBy(items), byOthers, context.delegable);
  return {
    context,
    kin,
    items,
    isByOthers: byOthers,
    isByPeople: isByPeople(items),
    behalf,
    audience: outsideAudience(items),
  };
}

export function stampFor(kind: Stamp["kind"], { context }: Pick<Caller, "context">): Stamp {
  const { session, agent, turn } = context;
  return { kind, from: { session, agent, turn } };
}

/** The event that causes whatever the turn sends next. Agents that only answer each other are stopped here. */
export async function causeOf(
  { context, items }: { readonly context: Pick<ToolContext, "agent">; readonly items: readonly QueueItem[] },
  { settings, onChainEnded }: { readonly settings: Pick<Settings, "config"> } & Pick<Ports, "onChainEnded">,
): Promise<EventId> {
  const { event } = answeredBy(items);
  try {
    checkChain(event, settings.config().broker, "tool_input_invalid");
  } catch (error) {
    await onChainEnded(event.id, `the agent ${context.agent}`);
    throw error;
  }
  return event.id;
}

/** Of the messages that a turn answers, the one whose sender gets the answer. */
export function answeredBy(items: readonly QueueItem[]): QueueItem {
  const answered = answeredMessage(items);
  assert(answered !== undefined, "a turn answers at least one message");
  return answered;
}

/** The delivery of a text to the sender of a message. Undefined: the sender has no address. */
export function deliveryTo(
  { event, dispatches }: QueueItem,
  text: string,
  id: string,
): NewDelivery | undefined {
  const delivery = dispatches.find((dispatch) => dispatch.delivery !== undefined)?.delivery;
  return deliveriesOf({ text, source: event, delivery, mintId: () => id })[0];
}
