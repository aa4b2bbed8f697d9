/**
 * Who a turn speaks to: the person who wrote, or the room where they did. Data that is private to others must not reach
 * them.
 */
import { audienceOf, isOutside } from "../model/audience.ts";
import { OWNER_ADAPTERS, RELAY_ADAPTER, SCRIPT_ADAPTER } from "../model/event.ts";
import { DIRECT_HOOK } from "../model/hook-order.ts";
import { DEFAULT_ACCOUNT } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { isOwner, OWNER_PRINCIPAL, type Principal, principalKind, roomAudience } from "../model/principal.ts";
import { present } from "../model/present.ts";
import { answeredMessage } from "../model/stamp.ts";
import type { PersonaConfig } from "../config/config.ts";
import type { QueueItem, StoredEvent } from "../store/store.ts";

/** On whose authority the turn of these messages runs: of several, the first that is not the owner. */
export function principalOfTurn(items: readonly QueueItem[]): Principal {
  const principals = items.map(({ event }) => event.principal);
  return principals.find((principal) => principal !== OWNER_PRINCIPAL) ?? OWNER_PRINCIPAL;
}

/** The name of the principal or the room that gets the answer. */
export function audienceOfTurn(items: readonly QueueItem[]): string {
  const answered = answeredMessage(items);
  if (answered === undefined) return OWNER_PRINCIPAL;
  const event = { ...answered.event, principal: principalOfTurn(items) };
  const sent = answered.dispatches.find(({ delivery }) => delivery !== undefined);
  // Cortex copies the address with the audience. A hook's address is another one.
  if (event.audience !== undefined && (sent === undefined || COPIES.has(sent.hook))) return event.audience;
  return audienceAt(event, sent?.delivery);
}

const COPIES: ReadonlySet<string> = new Set([DIRECT_HOOK, RELAY_ADAPTER, SCRIPT_ADAPTER]);

/** The audience of what an event leads to, if it is sent to this address instead of back. */
export function audienceAt(event: StoredEvent, delivery: Json | undefined): string {
  const to = elsewhere(event, delivery);
  if (to === undefined) return audienceOf(event);
  // The owner, and the owner's programs such as timers, say where an answer goes.
  const isOwners = isOwner(event.principal) || principalKind(event.principal) === "source";
  return isOwners ? OWNER_PRINCIPAL : roomAudience(to);
}

/** As events of the work that a turn gives to others store it. Undefined: the owner, whom their principal names. */
export function outsideAudience(items: readonly QueueItem[]): string | undefined {
  const audience = audienceOfTurn(items);
  return isOutside(audience) ? audience : undefined;
}

/**
 * The audience whose data alone a turn may use, by the setting of its persona. Undefined: it may use what its agent may,
 * and an answer that holds too much waits for the owner.
 */
export function confinedTo(
  items: readonly QueueItem[],
  { answers }: Pick<PersonaConfig, "answers">,
): string | undefined {
  const audience = audienceOfTurn(items);
  return isOutside(audience) && (answers === "own" || isReadAtOnce(items)) ? audience : undefined;
}

/** Who writes through the API reads the answer as soon as it is committed: it cannot wait for anybody. */
function isReadAtOnce(items: readonly QueueItem[]): boolean {
  const event = answeredMessage(items)?.event;
  return event?.place === undefined && (OWNER_ADAPTERS as readonly string[]).includes(event?.channel ?? "");
}

type Address = Parameters<typeof roomAudience>[0];

/** The place that is named for the answer, if it is another one than that of the message. */
function elsewhere(event: StoredEvent, delivery: Json | undefined): Address | undefined {
  const wanted = addressIn(delivery);
  const channel = wanted.channel ?? event.channel;
  const place = wanted.place ?? event.place;
  if (place === undefined) return undefined;
  const account = wanted.account ?? (channel === event.channel ? event.account : undefined);
  const isThere =
    channel === event.channel &&
    place === event.place &&
    (account ?? DEFAULT_ACCOUNT) === (event.account ?? DEFAULT_ACCOUNT);
  return isThere ? undefined : { channel, place, account };
}

function addressIn(delivery: Json | undefined): Partial<Address> {
  if (typeof delivery !== "object" || delivery === null || Array.isArray(delivery)) return {};
  const { channel, place, account } = delivery as Readonly<Record<string, Json>>;
  return present({ channel: textOf(channel), place: textOf(place), account: textOf(account) });
}

/** Ids of some platforms are numbers. */
function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value).trim() : undefined;
}
