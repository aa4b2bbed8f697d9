import type { Json } from "./json.ts";

/** `received` from outside, `sent` by an agent; the others are changes that an adapter only observed. */
export type Direction = "received" | "sent" | "observed" | "created" | "updated" | "deleted";

/** How many take part where something was said: two, or a group that somebody was taken into, or a channel that all may read. */
export const PLACE_KINDS = ["dm", "group", "channel"] as const;
export type PlaceKind = (typeof PLACE_KINDS)[number];

const KIND_OF_CHAT_TYPE: Readonly<Record<string, PlaceKind>> = {
  private: "dm",
  dm: "dm",
  group: "group",
  supergroup: "group",
  channel: "channel",
};

/** As the adapter says it, or else as platforms mark it in the metadata. Undefined: nobody says. */
export function placeKindOf(event: {
  readonly placeKind?: PlaceKind;
  readonly metadata?: Json;
}): PlaceKind | undefined {
  if (event.placeKind !== undefined) return event.placeKind;
  const { is_group, isGroup, chat_type } = (event.metadata ?? {}) as Readonly<Record<string, unknown>>;
  const type = String(chat_type);
  if (Object.hasOwn(KIND_OF_CHAT_TYPE, type)) return KIND_OF_CHAT_TYPE[type];
  if (is_group === true || isGroup === true) return "group";
  return is_group === false || isGroup === false ? "dm" : undefined;
}

/** The adapter of the answers: their ids are made from their turns'. */
export const ANSWER_ADAPTER = "cortex";
/** The adapter of what agents write to each other: their ids are made from their tool calls'. */
export const AGENT_ADAPTER = "agent";
/** The adapter, and the channel, of what relays ask of their steps: their ids are made from the relay's and the step's. */
export const RELAY_ADAPTER = "relay";
/** The adapter, and the channel, of the scripts of sessions: their ids are made from what they were run for. */
export const SCRIPT_ADAPTER = "script";
/** The adapter, and the channel, of what members of a team are asked to work on: their ids are made from the work's. */
export const TEAM_ADAPTER = "team";
/** The adapter of what a hook says after the turn of its event has begun: their ids are made from the dispatch's. */
export const HOOK_ADAPTER = "hook";
/** The adapter, and the channel, of the minutes. */
export const TIMER_ADAPTER = "timer";
/** The adapter, and the channel, of what happens in watched folders. */
export const FILES_ADAPTER = "files";
/** The channel of webhooks. Each is an adapter of its own, with its name after a colon. */
export const WEBHOOK_ADAPTER = "webhook";
/** The adapters, and the channels, of what the owner writes by our own programs. */
export const OWNER_ADAPTERS = ["http", "cli", "web"] as const;

/**
 * Of all our own sources. Whoever else could make an event of one of these could take its id first, and the event
 * itself would count as a repetition.
 */
export const OWN_ADAPTERS = [
  AGENT_ADAPTER,
  ANSWER_ADAPTER,
  FILES_ADAPTER,
  HOOK_ADAPTER,
  RELAY_ADAPTER,
  SCRIPT_ADAPTER,
  TEAM_ADAPTER,
  TIMER_ADAPTER,
  WEBHOOK_ADAPTER,
  ...OWNER_ADAPTERS,
] as const;

/** Of what agents cause. Their words are not an order: they are a source, like any other program of the owner. */
const AGENTS_ADAPTERS: ReadonlySet<string> = new Set([
  ANSWER_ADAPTER,
  AGENT_ADAPTER,
  RELAY_ADAPTER,
  SCRIPT_ADAPTER,
  TEAM_ADAPTER,
  HOOK_ADAPTER,
]);

/** Whether an agent caused an event, rather than the person on whose authority it happened. */
export function isByAgent({ id }: { readonly id: string }): boolean {
  return AGENTS_ADAPTERS.has(splitEventId(id).adapter);
}

/**
 * Of these, whose events other programs may bring in with a token that names the adapter. The others are the owner's own
 * words, the clock, or made by Cortex from its own rows.
 */
const GRANTED_ADAPTERS: ReadonlySet<string> = new Set([FILES_ADAPTER, WEBHOOK_ADAPTER]);

/** Whether an adapter is one of Cortex's own: `webhook:pay` is, like `webhook`, because their ids begin the same way. */
export function isOwnAdapter(adapter: string): boolean {
  return OWN.has(adapter.split(":", 1)[0]!);
}

/** Whether a token may be made for the events of an adapter. */
export function isGrantable(adapter: string): boolean {
  return isAdapter(adapter) && (!isOwnAdapter(adapter) || GRANTED_ADAPTERS.has(adapter.split(":", 1)[0]!));
}

const OWN: ReadonlySet<string> = new Set(OWN_ADAPTERS);

/** A webhook is an adapter of its own, with its name. */
export function isAdapter(name: string): boolean {
  return ADAPTER.test(name);
}

const ADAPTER = /^(?:webhook:)?[a-z0-9][a-z0-9_.-]{0,63}$/;

export const MAX_ATTACHMENTS = 20;
/** A larger one is recorded with its hash and size, and its bytes are not kept. */
export const MAX_ATTACHMENT_BYTES = 25 * 1024 * 1024;

/** The two parts of an event's id. */
export function splitEventId(id: string): { readonly adapter: string; readonly sourceId: string } {
  const [adapter = ""] = /^(?:webhook:[^:]+(?=:)|[^:]*)/.exec(id) ?? [];
  return { adapter, sourceId: id.slice(adapter.length + 1) };
}
