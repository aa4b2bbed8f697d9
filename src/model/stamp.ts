/**
 * The sender of a message between agents. The sending tool writes it into an event of a reserved adapter, so no text can
 * forge it.
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

/** Undefined: not a message between agents. */
export function stampOf({ id, metadata }: Stamped): Stamp | undefined {
  const isOfAgent = splitEventId(id).adapter === AGENT_ADAPTER;
  return isOfAgent ? ((metadata ?? undefined) as Stamp | undefined) : undefined;
}

/** The message whose sender gets the answer of a turn: messages that agents sent meanwhile do not count. */
export function answeredMessage<Item extends { readonly event: Stamped }>(
  items: readonly Item[],
): Item | undefined {
  return items.find(({ event }) => stampOf(event)?.kind !== "message") ?? items[0];
}
