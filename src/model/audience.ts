/**
 * Who hears what is said: the owner, one person, or everyone in a room. Data that is private to others must not reach
 * them, except the owner, who may know everything.
 */
import { OWNER_ADAPTERS, type PlaceKind, placeKindOf } from "./event.ts";
import type { Json } from "./json.ts";
import { isRoom, type Principal, principalKind, roomAudience } from "./principal.ts";
import type { Names } from "./trust.ts";

interface Utterance {
  readonly principal: Principal;
  readonly channel: string;
  readonly account?: string | undefined;
  readonly place?: string | undefined;
  readonly sender?: string | undefined;
  readonly placeKind?: PlaceKind;
  readonly metadata?: Json;
  readonly audience?: string | undefined;
}

export function audienceOf(event: Utterance): string {
  const { principal, channel, account, place, sender, audience } = event;
  if (audience !== undefined) return audience;
  if (place === undefined || (OWNER_ADAPTERS as readonly string[]).includes(channel)) return principal;
  const kind = placeKindOf(event);
  const isBetweenTwo = kind === "dm" || (kind === undefined && place === sender);
  return isBetweenTwo ? principal : roomAudience({ channel, account, place });
}

/** Whether others than the owner and the owner's own programs hear it. */
export function isOutside(audience: string): boolean {
  const kind = principalKind(audience);
  return isRoom(audience) || kind === "person" || kind === "guest";
}

/**
 * To whom the words of an event are private. The owner's own are marked only where others hear them: what the owner tells
 * an agent is for it to use.
 */
export function readersOf(event: Utterance): Names {
  const audience = audienceOf(event);
  return isOutside(audience) ? [audience] : [];
}

/** Whose words they are. In a room they are the room's, which everyone there has heard. */
export function authorOf(event: Utterance): string {
  const audience = audienceOf(event);
  return isRoom(audience) ? audience : event.principal;
}
