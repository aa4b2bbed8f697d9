import { CortexError } from "../model/errors.ts";
import {
  type Direction,
  FILES_ADAPTER,
  isGrantable,
  isOwnAdapter,
  OWN_ADAPTERS,
  OWNER_ADAPTERS,
  type PlaceKind,
  placeKindOf,
  TIMER_ADAPTER,
  WEBHOOK_ADAPTER,
} from "../model/event.ts";
import { eventId, type EventSource } from "../model/event-id.ts";
import { isJsonObject, type Json } from "../model/json.ts";
import { present } from "../model/present.ts";
import { allows, type Caller, mayIngest, OWNER_CALLER, scopeMissing } from "../model/scopes.ts";
import type { NewEvent } from "../store/store.ts";

/** What an adapter received, in the words of its platform. */
export interface Incoming extends Omit<
  NewEvent,
  "id" | "direction" | "atMs" | "cause" | "returns" | "principal"
> {
  readonly adapter: string;
  /**
   * All that makes the message unique on its platform: its id there, or the file or minute it is about. If absent,
   * the content and the time decide.
   */
  readonly sourceId?: string | Extract<EventSource, { kind: "file" | "minute" }>;
  /** Default: received. */
  readonly direction?: Direction;
  readonly timestampMs: number;
}

/** What one of our own ways in received. */
export type OwnIncoming = Incoming & Pick<NewEvent, "principal">;

/** The ways in that are ours: what comes by them is an event like any other. */
const OWN_WAYS_IN: ReadonlySet<string> = new Set([
  TIMER_ADAPTER,
  FILES_ADAPTER,
  WEBHOOK_ADAPTER,
  ...OWNER_ADAPTERS,
]);
/** The channels on which agents talk to each other: what is shown to them must not look as if it came from there. */
const RESERVED_CHANNEL = /^(?:agent|subagent|relay|script|team)(?::|$)/;
const CHANNEL = /^[a-z0-9][a-z0-9_.:-]{0,63}$/;

/**
 * An event from another program, which names the adapter: none of ours, unless its token was made for it. The channel
 * decides what the sender may do, so it is none of ours either: claiming to be the owner has no effect.
 */
export function toForeignEvent(incoming: Incoming, caller: Caller = OWNER_CALLER): NewEvent {
  const { adapter, channel } = incoming;
  const isNamed = isGrantable(adapter) && mayIngest(caller, adapter);
  const isGranted = isNamed && [adapter, firstPart(adapter)].includes(channel);
  if (!isGranted && !allows(caller, "admin"))
    throw scopeMissing(caller, `ingest:${isNamed ? channel : adapter}`);
  if (!isGranted && isOwnAdapter(adapter)) throw adapterReserved(adapter);
  if (!isGranted && isOwnAdapter(channel)) throw channelOwn(channel);
  return toOwnEvent({ ...incoming, ...webhookOf(incoming), ...present({ token: caller.token }) });
}

/** Whose a webhook's event is and what hooks filter by, from its adapter: a token is for one webhook. */
function webhookOf({ adapter, metadata }: Incoming): Partial<Incoming> {
  const [kind, name] = adapter.split(":", 2);
  if (kind !== WEBHOOK_ADAPTER || name === undefined) return {};
  return { sender: name, metadata: { ...(isJsonObject(metadata) ? metadata : {}), webhook: name } };
}

/** The event of a message that the owner sends, on a channel that they name. */
export function toMessageEvent(incoming: Incoming): NewEvent {
  const isOwners = (OWNER_ADAPTERS as readonly string[]).includes(incoming.adapter);
  return isOwners ? toOwnEvent(incoming) : toForeignEvent(incoming);
}

/** The event that the ledger takes in, of one of our ways in. The same happening always gives the same id. */
export function toOwnEvent(incoming: OwnIncoming): NewEvent {
  const { adapter, sourceId, timestampMs, direction = "received", ...rest } = incoming;
  if (!CHANNEL.test(incoming.channel)) throw channelInvalid(incoming.channel);
  if (RESERVED_CHANNEL.test(incoming.channel)) throw channelReserved(incoming.channel);
  if (isOwnAdapter(adapter) && !OWN_WAYS_IN.has(firstPart(adapter))) throw adapterReserved(adapter);
  const source: EventSource =
    sourceId === undefined
      ? { kind: "content", timestampMs, payload: identifying(rest) }
      : typeof sourceId === "string"
        ? { kind: "id", sourceId }
        : sourceId;
  const kind = placeKindOf(rest);
  if (kind !== undefined && kind !== "dm" && rest.place === undefined && rest.placeKind !== undefined)
    throw placeMissing(kind);
  return {
    ...rest,
    ...(kind === undefined ? {} : { placeKind: kind }),
    id: eventId(adapter, source),
    direction,
    atMs: timestampMs,
  };
}

/** Who said what, and where: two people may say the same at the same time. */
function identifying({ content, payload = null, ...event }: Partial<Incoming>): Json {
  const { channel, account, place, topic, sender } = event;
  return present({ content, payload, channel, account, place, topic, sender });
}

function firstPart(adapter: string): string {
  return adapter.split(":", 1)[0]!;
}

function adapterReserved(adapter: string): CortexError {
  return new CortexError(
    "event_invalid",
    `The adapter ${JSON.stringify(adapter.slice(0, 80))} is reserved for Cortex's own events`,
    {
      hint:
        `Reserved names: ${OWN_ADAPTERS.toSorted().join(", ")}. Use a name of your own, such as "doorbell". ` +
        "Send messages with POST /api/messages, and webhooks to /webhooks/<name>.",
    },
  );
}

/** What comes on it counts as the owner's, as a source's or as an agent's, and the timer's runs schedules. */
function channelOwn(channel: string): CortexError {
  return new CortexError("event_invalid", `The channel "${channel}" is reserved for Cortex's own events`, {
    hint: "Use another channel. Send messages with POST /api/messages, and try a hook with `cortex hooks test`.",
  });
}

function placeMissing(kind: PlaceKind): CortexError {
  return new CortexError("event_invalid", `Missing \`place\`: the event is from a ${kind}`, {
    hint: "Set `place` to its id on the platform.",
  });
}

function channelReserved(channel: string): CortexError {
  return new CortexError(
    "event_invalid",
    `The channel "${channel}" is reserved for messages between agents`,
    {
      hint: "Use another channel name.",
    },
  );
}

function channelInvalid(channel: string): CortexError {
  return new CortexError("event_invalid", `Invalid channel name ${JSON.stringify(channel.slice(0, 80))}`, {
    hint: "A channel name has 1 to 64 lowercase letters, digits, dots, colons, - and _.",
  });
}
