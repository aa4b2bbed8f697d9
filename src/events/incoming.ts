import { CortexError } from "../model/errors.ts";
import {
  AGENT_ADAPTER,
  ANSWER_ADAPTER,
  type Direction,
  eventId,
  type EventSource,
  type PlaceKind,
  placeKindOf,
  RELAY_ADAPTER,
  SCRIPT_ADAPTER,
  TEAM_ADAPTER,
} from "../model/event.ts";
import type { Json } from "../model/json.ts";
import type { NewEvent } from "../store/store.ts";

/** What an adapter hands over: something that happened, in the words of its platform. */
export interface Incoming {
  readonly adapter: string;
  /**
   * All that makes the message unique on its platform: its id there, or the file or minute that it is about.
   * Without it, the content and the time decide.
   */
  readonly sourceId?: string | Extract<EventSource, { kind: "file" | "minute" }>;
  readonly channel: string;
  readonly direction?: Direction;
  readonly sender?: string;
  readonly account?: string;
  readonly place?: string;
  readonly topic?: string;
  /** Told from the metadata where it is not given: platforms mark a group there. */
  readonly placeKind?: PlaceKind;
  readonly placeName?: string;
  readonly parentPlace?: string;
  readonly mentionsMe?: boolean;
  readonly replyTo?: string;
  readonly content: string | null;
  readonly contentType?: string;
  readonly attachments?: Json;
  readonly payload?: Json;
  readonly metadata?: Json;
  readonly timestampMs: number;
}

/** Of what agents say: who has said it is known from these, so nothing else may have them. */
const RESERVED: ReadonlySet<string> = new Set([
  ANSWER_ADAPTER,
  AGENT_ADAPTER,
  RELAY_ADAPTER,
  SCRIPT_ADAPTER,
  TEAM_ADAPTER,
]);
/** The channels on which agents talk to each other: what is shown to them must not look as if it came from there. */
const RESERVED_CHANNEL = /^(?:agent|subagent|relay|script|team)(?::|$)/;
const CHANNEL = /^[a-z0-9][a-z0-9_.:-]{0,63}$/;

/** The event that the ledger takes in. The same happening always gives the same id. */
export function toEvent(incoming: Incoming): NewEvent {
  const { adapter, sourceId, timestampMs, direction = "received", ...rest } = incoming;
  if (!CHANNEL.test(incoming.channel)) throw channelInvalid(incoming.channel);
  if (RESERVED_CHANNEL.test(incoming.channel)) throw channelReserved(incoming.channel);
  if (RESERVED.has(adapter)) throw adapterReserved(adapter);
  const source: EventSource =
    sourceId === undefined
      ? { kind: "content", timestampMs, payload: { content: rest.content, payload: rest.payload ?? null } }
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

function adapterReserved(adapter: string): CortexError {
  return new CortexError("event_invalid", `No event from outside can be of the adapter "${adapter}"`, {
    hint: "What agents say is; give the adapter another name.",
  });
}

function placeMissing(kind: PlaceKind): CortexError {
  return new CortexError("event_invalid", `Missing \`place\`: the event is from a ${kind}`, {
    hint: "Give the id of the place on its platform.",
  });
}

function channelReserved(channel: string): CortexError {
  return new CortexError("event_invalid", `No event from outside can be on the channel "${channel}"`, {
    hint: "Agents write to each other there; give the channel another name.",
  });
}

function channelInvalid(channel: string): CortexError {
  return new CortexError(
    "event_invalid",
    `${JSON.stringify(channel.slice(0, 80))} is not the name of a channel`,
    {
      hint: "A channel's name has 1 to 64 lower-case letters, digits, dots, colons, - and _.",
    },
  );
}
