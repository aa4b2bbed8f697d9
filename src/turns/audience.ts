/**
 * Who a turn speaks to: the person who wrote, or the room where they did. Data that is private to others must not reach
 * them.
 */
import { audienceOf, isOutside } from "../model/audience.ts";
import { OWNER_ADAPTERS } from "../model/event.ts";
import { DEFAULT_ACCOUNT } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { OWNER_PRINCIPAL, type Principal, principalKind, roomAudience } from "../model/principal.ts";
import { present } from "../model/present.ts";
import { answeredMessage } from "../model/stamp.ts";
import type { PersonaConfig } from "../config/config.ts";
import type { QueueItem } from "../store/store.ts";

/** On whose authority the turn of these messages runs: of several, the first that is not the owner. */
export function principalOfTurn(items: readonly QueueItem[]): Principal {
  const principals = items.map(({ event }) => event.principal);
  return principals.find((principal) => principal !== OWNER_PRINCIPAL) ?? OWNER_PRINCIPAL;
}

/** The name of the principal or the room that gets the answer. */
export function audienceOfTurn(items: readonly QueueItem[]): string {
  const answered = answeredMessage(items);
  if (answered === undefined) return OWNER_PRINCIPAL;
  const principal = principalOfTurn(items);
  const event = { ...answered.event, principal };
  const to = elsewhere(answered);
  if (to === undefined) return audienceOf(event);
  // The owner, and the owner's programs such as timers, say where an answer goes.
  const isOwners = principal === OWNER_PRINCIPAL || principalKind(principal) === "source";
  return isOwners ? OWNER_PRINCIPAL : roomAudience(to);
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

/** The place that a dispatch names for the answer, if it is another one than that of the message. */
function elsewhere({ event, dispatches }: QueueItem): Address | undefined {
  const wanted = addressIn(dispatches.find(({ delivery }) => delivery !== undefined)?.delivery);
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
