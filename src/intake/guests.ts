/** Events of guests: anybody can be one, so their events cost no more than recording them, and that is bounded. */
import type { Config } from "../config/config.ts";
import type { Json } from "../model/json.ts";
import { type Principal, principalKind } from "../model/principal.ts";
import { truncate } from "../model/truncate.ts";
import type { AcceptOptions, NewEvent } from "../store/store.ts";

type GuestEvent = NewEvent & { readonly principal: Principal };

/** What an agent has sent comes with the principal of its reader. */
export function isByGuest({ direction, principal }: GuestEvent): boolean {
  return direction !== "sent" && principalKind(principal) === "guest";
}

/** What is kept of a guest's event: the beginning of its text, and how much more there was. */
export function boundGuestEvent(event: GuestEvent, { people }: Config): GuestEvent {
  const { attachments, payload: _, metadata: __, content, ...rest } = event;
  const { characters } = people.guests;
  const cut = content === null || content.length <= characters ? undefined : content.length;
  const files = Array.isArray(attachments) ? attachments.length : 0;
  const left: Json = {
    ...(cut === undefined ? {} : { characters: cut }),
    ...(files === 0 ? {} : { attachments: files }),
  };
  const bounded = { ...rest, content: content === null ? null : truncate(content, characters) };
  return Object.keys(left).length === 0 ? bounded : { ...bounded, metadata: { bounded: left } };
}

export function guestQuota(
  { principal }: GuestEvent,
  { people: { guests } }: Config,
): Pick<AcceptOptions, "guest"> {
  const { eventsPerDay: perDay, allEventsPerDay: allPerDay } = guests;
  return { guest: { guest: principal, perDay, allPerDay } };
}
