/**
 * Who a turn speaks to: the person who wrote, or the room where they did. What is private to somebody else must not
 * reach them.
 */
import type { Json } from "../model/json.ts";
import { placeKindOf } from "../model/event.ts";
import { OWNER_PRINCIPAL, type Principal, roomAudience } from "../model/principal.ts";
import { answeredMessage } from "../model/stamp.ts";
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
  const { event, dispatches } = answered;
  const principal = principalOfTurn(items);
  const to = dispatches.map(({ delivery }) => addressIn(delivery)).find((address) => address !== undefined);
  const { channel, account, place } = to ?? event;
  if (place === undefined || channel === undefined) return principal;
  const isElsewhere = to !== undefined && (to.channel !== event.channel || to.place !== event.place);
  const kind = isElsewhere ? undefined : placeKindOf(event);
  if (!isElsewhere && (kind === "dm" || (kind === undefined && place === event.sender))) return principal;
  // The owner's own programs, such as a webhook of theirs, get answers that the owner addressed.
  if (isElsewhere && principal === OWNER_PRINCIPAL) return OWNER_PRINCIPAL;
  return roomAudience({ channel, account, place });
}

interface Address {
  readonly channel?: string;
  readonly account?: string;
  readonly place?: string;
}

function addressIn(delivery: Json | undefined): Address | undefined {
  return typeof delivery === "object" && delivery !== null && !Array.isArray(delivery)
    ? (delivery as Address)
    : undefined;
}
