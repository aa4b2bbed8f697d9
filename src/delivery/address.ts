/** The deliveries of an answer: to where its event came from, unless the dispatch names another address. */
import { CortexError } from "../model/errors.ts";
import { present } from "../model/present.ts";
import { DEFAULT_ACCOUNT, type DeliveryId } from "../model/ids.ts";
import type { OutgoingFile } from "../model/extras.ts";
import type { Json } from "../model/json.ts";
import type { DeliveryTarget, NewDelivery } from "../store/store.ts";
import { asVoice } from "./fit-extras.ts";
import { parseReply } from "./reply-tags.ts";

/** Where the answered event came from. */
interface Source {
  readonly channel: string;
  readonly account?: string | undefined;
  /** Absent for events that cannot be answered: timers, files, webhooks. */
  readonly place?: string | undefined;
  readonly topic?: string | undefined;
  /** The platform's own id of the message, which a reply to it must name. */
  readonly messageId?: string | undefined;
}

export interface Answer {
  readonly text: string;
  readonly source: Source;
  /** `{channel, account, place, topic, replyTo}` of the dispatch: wins over the source, field by field. */
  readonly delivery?: Json | undefined;
  readonly mintId: () => string;
  /** Sent with it. */
  readonly files?: readonly OutgoingFile[];
}

export function deliveriesOf({ text, source, delivery, mintId, files = [] }: Answer): NewDelivery[] {
  if (source.place === undefined && delivery === undefined) return [];
  const reply = parseReply(text);
  if (reply.silent && (files.length === 0 || reply.text.trim() !== "")) return [];
  const wanted = parseDelivery(delivery);
  const target = addressOf(source, wanted);
  if (target === undefined) return [];
  const replyTo = replyIn(target, source, reply.replyTo) ?? wanted.replyTo;
  return [
    {
      id: mintId() as DeliveryId,
      target,
      ...(replyTo === undefined ? {} : { replyTo }),
      ...(reply.text === text ? {} : { content: reply.text }), // otherwise the turn's answer is used, which is stored once
      ...(files.length === 0 ? {} : { extras: { files: reply.voice ? files.map(asVoice) : files } }),
    },
  ];
}

/** The deliveries of a text that answers nothing: none unless the address names a channel and a place. */
export function noticesTo(
  delivery: Json,
  text: string,
  mintId: () => string,
): (NewDelivery & { readonly content: string })[] {
  const { channel, place } = parseDelivery(delivery);
  if (channel === undefined || place === undefined) return [];
  return deliveriesOf({ text, source: { channel }, delivery, mintId }).map((each) =>
    Object.assign(each, { content: text }),
  );
}

const FIELDS = ["channel", "account", "place", "topic", "replyTo"] as const;
type Wanted = Readonly<Partial<Record<(typeof FIELDS)[number], string>>>;

/** Reads the `delivery` of a dispatch. Check it on entry: here, a mistake costs the whole turn. */
export function parseDelivery(delivery: Json | undefined): Wanted {
  if (delivery === undefined || delivery === null) return {};
  if (typeof delivery !== "object" || Array.isArray(delivery)) throw notAnAddress(delivery);
  const given = delivery as Readonly<Record<string, Json>>;
  const wanted: Partial<Record<(typeof FIELDS)[number], string>> = {};
  for (const field of FIELDS) {
    const value = given[field] ?? undefined;
    if (value === undefined) continue;
    if (typeof value !== "string" && typeof value !== "number") throw notAnAddress(delivery);
    const text = String(value).trim(); // ids of some platforms are numbers
    if (text === "") throw notAnAddress(delivery);
    wanted[field] = text;
  }
  if (wanted.channel !== undefined && wanted.place === undefined) throw notAnAddress(delivery);
  return wanted;
}

/** The source's topic is valid only in its own place, and its account only on its own channel. */
function addressOf(source: Source, wanted: Wanted): DeliveryTarget | undefined {
  const channel = wanted.channel ?? source.channel;
  const place = wanted.place ?? source.place;
  if (place === undefined) return undefined;
  const sameChannel = channel === source.channel;
  const account = wanted.account ?? (sameChannel ? source.account : undefined);
  const topic = wanted.topic ?? (sameChannel && place === source.place ? source.topic : undefined);
  return present({ channel, place, account, topic });
}

function replyIn(
  target: DeliveryTarget,
  source: Source,
  replyTo: ReturnType<typeof parseReply>["replyTo"],
): string | undefined {
  if (replyTo !== "current") return replyTo?.id;
  const isThere =
    target.channel === source.channel &&
    target.place === source.place &&
    (target.account ?? DEFAULT_ACCOUNT) === (source.account ?? DEFAULT_ACCOUNT);
  return isThere ? source.messageId : undefined;
}

function notAnAddress(delivery: Json): CortexError {
  return new CortexError("target_invalid", `Invalid delivery ${JSON.stringify(delivery).slice(0, 200)}`, {
    hint: 'Expected {"channel", "account", "place", "topic", "replyTo"} as strings; a channel needs a place.',
  });
}
