import { CortexError } from "./errors.ts";

/** A string that the compiler keeps apart from every other kind of string. */
type Id<Name extends string> = string & { readonly __id: Name };

export type EventId = Id<"event">;
export type DispatchId = Id<"dispatch">;
export type ItemId = Id<"item">;
export type RunId = Id<"run">;
/** Names a turn, the thread that ends with it, and its final assistant message. */
export type TurnId = Id<"turn">;
export type MessageId = Id<"message">;
export type DeliveryId = Id<"delivery">;
export type ApprovalId = Id<"approval">;
export type DelegationId = Id<"delegation">;
/** `thr_` and eight hexadecimal digits. */
export type RelayId = Id<"relay">;
export type AgentId = Id<"agent">;
export type PersonaId = Id<"persona">;

const AGENT_ID = /^[a-z0-9][a-z0-9_-]{0,63}$/;

const RELAY_ID = /^thr_[0-9a-f]{8}$/;

export const DEFAULT_AGENT = "main" as AgentId;
export const DEFAULT_ACCOUNT = "default";

export function isRelayId(text: string): text is RelayId {
  return RELAY_ID.test(text);
}

/** Ids for a new dispatch and for the queue item that it becomes. */
export function dispatchIds(mintId: () => string): { readonly id: DispatchId; readonly item: ItemId } {
  return { id: mintId() as DispatchId, item: mintId() as ItemId };
}

export function parseAgentId(text: string): AgentId {
  const id = text.toLowerCase();
  if (AGENT_ID.test(id)) return id as AgentId;
  throw new CortexError("id_invalid", `Invalid agent id "${text}"`, {
    hint: "An agent id has 1 to 64 letters, digits, - and _, and starts with a letter or digit.",
  });
}
