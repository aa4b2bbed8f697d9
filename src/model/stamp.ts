/**
 * Who sent a message from one agent to another. It is written by the tool that sends it, into an event of an adapter
 * that nothing from outside can have; so no text can claim it.
 */
import { AGENT_ADAPTER, splitEventId } from "./event.ts";
import type { AgentId, EventId, TurnId } from "./ids.ts";
import type { Json } from "./json.ts";
import type { SessionKey } from "./session-key.ts";

export type Stamp = {
  /** task: work that was given. report: how such work has ended. */
  readonly kind: "task" | "message" | "report";
  readonly from: {
    readonly session: SessionKey;
    readonly agent: AgentId;
    /** Undefined: no turn of it was begun. */
    readonly turn?: TurnId;
  };
};

interface Stamped {
  readonly id: EventId;
  readonly metadata?: Json;
}

/** Undefined: no agent has sent it to another. */
export function stampOf({ id, metadata }: Stamped): Stamp | undefined {
  const isOfAgent = splitEventId(id).adapter === AGENT_ADAPTER;
  return isOfAgent ? ((metadata ?? undefined) as Stamp | undefined) : undefined;
}

/** Of the messages that a turn answers, the one that says where to: what agents have written meanwhile has no say in it. */
export function answeredMessage<Item extends { readonly event: Stamped }>(
  items: readonly Item[],
): Item | undefined {
  return items.find(({ event }) => stampOf(event)?.kind !== "message") ?? items[0];
}
