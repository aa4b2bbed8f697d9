/** The turn that gives work away, or writes to another agent: what it answers, for whom, and how far it has come. */
import { CortexError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { type Stamp, stampOf } from "../model/stamp.ts";
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

/** The stamp of the next message. Agents that only answer each other come to an end here. */
export function nextStamp(
  kind: Stamp["kind"],
  { context, items }: Pick<Caller, "context" | "items">,
  maxHops: number,
): Stamp {
  const hops = hopsOf(items) + 1;
  if (hops > maxHops) throw tooManyHops(maxHops);
  const { session, agent, turn } = context;
  return { kind, from: { session, agent, turn }, hops };
}

/** How far the messages have come that a turn answers: 0 where people, timers or webhooks have sent them. */
function hopsOf(items: readonly QueueItem[]): number {
  return Math.max(0, ...items.map(({ event }) => stampOf(event)?.hops ?? 0));
}

function tooManyHops(maxHops: number): CortexError {
  return new CortexError(
    "tool_input_invalid",
    `${maxHops} messages of agents have led to this one, and no person has written in between`,
    { hint: "End here, and answer with what there is. `broker.maxHops` in cortex.json is the limit." },
  );
}
