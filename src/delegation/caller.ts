/** The turn that gives work away, or writes to another agent: what it answers, for whom, and how far it has come. */
import { checkChain } from "../model/chain.ts";
import type { EventId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { answeredMessage, type Stamp } from "../model/stamp.ts";
import type { ToolContext } from "../model/tool.ts";
import type { QueueItem } from "../store/store.ts";
import { type Kin, readKin } from "./kin.ts";
import { onBehalf } from "./narrowing.ts";
import type { DelegationParts } from "./parts.ts";

export interface Caller {
  readonly context: ToolContext;
  readonly kin: Kin;
  /** The messages that its turn answers; there is at least one. */
  readonly items: readonly QueueItem[];
  readonly isByOthers: boolean;
  /** What a message narrows that acts for whoever began the turn. Undefined: nothing. */
  readonly behalf: Json | undefined;
}

export async function readCaller(context: ToolContext, parts: DelegationParts): Promise<Caller> {
  const { store } = parts;
  const [kin, items] = await Promise.all([
    readKin(context.session, store.sessions),
    store.queue.itemsOf(context.turn),
  ]);
  const isByOthers = parts.isByOthers(items);
  const behalf = onBehalf(parts.narrowedBy(items), isByOthers, context.delegable);
  return { context, kin, items, isByOthers, behalf };
}

export function stampFor(kind: Stamp["kind"], { context }: Pick<Caller, "context">): Stamp {
  const { session, agent, turn } = context;
  return { kind, from: { session, agent, turn } };
}

/** What leads to whatever the turn sends next. Agents that only answer each other come to an end here. */
export async function causeOf(
  { context, items }: { readonly context: Pick<ToolContext, "agent">; readonly items: readonly QueueItem[] },
  { config, onChainEnded }: Pick<DelegationParts, "config" | "onChainEnded">,
): Promise<EventId> {
  const { event } = answeredMessage(items)!;
  try {
    checkChain(event, config().broker, "tool_input_invalid");
  } catch (error) {
    await onChainEnded(event.id, `the agent ${context.agent}`);
    throw error;
  }
  return event.id;
}
