/**
 * Who sent a message decides what it may do.
 *
 * The owner holds the main token, and writes on channels that ask for it, or with an identity of their own on another
 * channel. Sources are programs that the owner named in the configuration: they act for their agent's persona, and what
 * they say is not to be trusted. Everybody else is a guest, unless the owner has made them a member.
 *
 * An event keeps the principal that it had when it came in. What its person may do is read when it is needed, so a removed
 * person, or a removed identity, has no rights left.
 */
import { isByAgent } from "../model/event.ts";
import { isJsonObject, type Json } from "../model/json.ts";
import type { Person } from "../model/person.ts";
import {
  guestPrincipal,
  identityOf,
  isAtOwnDoor,
  isOwner,
  OWNER_PRINCIPAL,
  personIdOf,
  personPrincipal,
  type Principal,
  principalBefore,
  SOURCE_ADAPTERS,
  sourcePrincipal,
} from "../model/principal.ts";
import type { NewEvent, PeopleReads } from "../store/store.ts";

/** What a message of this sender may do. */
export type Grant =
  /** All that the agent may. */
  | { readonly authority: "owner" }
  /** At most this, which is kept with the dispatch. paired: a member. */
  | { readonly authority: "paired" | "source"; readonly permissions: Json }
  /** Nothing: the message is recorded, and has no dispatch. */
  | { readonly authority: "guest" };

type People = Pick<PeopleReads, "find">;

/** On whose authority an event from outside happens. */
export async function principalOfEvent(event: NewEvent, people: People): Promise<Principal> {
  const { channel, account, sender } = event;
  if (SOURCE_ADAPTERS.has(channel)) return sourcePrincipal(channel, sender);
  if (sender === undefined || isAtOwnDoor(event)) return principalBefore(event);
  const identity = identityOf({ channel, account, sender });
  return principalOfPerson(await people.find(identity)) ?? guestPrincipal(identity);
}

const GUEST: Grant = { authority: "guest" };
const SOURCE: Grant = { authority: "source", permissions: { authority: "source" } };

export async function grantFor(
  event: Pick<NewEvent, "id" | "channel" | "account" | "sender"> & { readonly principal: Principal },
  people: People,
): Promise<Grant> {
  const { channel, account, sender, principal } = event;
  if (isByAgent(event) || SOURCE_ADAPTERS.has(channel)) return SOURCE;
  if (isOwner(principal) && isAtOwnDoor(event)) return { authority: "owner" };
  if (sender === undefined || (!isOwner(principal) && personIdOf(principal) === undefined)) return GUEST;
  const person = await people.find(identityOf({ channel, account, sender }));
  if (person === undefined || principalOfPerson(person) !== principal) return GUEST;
  return isOwner(principal) ? { authority: "owner" } : memberGrant(person);
}

/** Undefined: nobody who may talk. */
function principalOfPerson(person: Person | undefined): Principal | undefined {
  switch (person?.role) {
    case "owner":
      return OWNER_PRINCIPAL;
    case "member":
      return personPrincipal(person.id);
    case "guest":
    case undefined:
      return undefined;
  }
}

/** Permissions that are no object were meant to narrow something, and `narrow` takes everything away. */
function memberGrant({ permissions = {} }: Person): Grant {
  if (!isJsonObject(permissions)) return { authority: "paired", permissions };
  return { authority: "paired", permissions: { ...permissions, authority: "paired" } };
}
