/**
 * Takes over the people that a configuration of an older version names: `channels.paired`, joined by `identityLinks`.
 * From then on they are in the store, and the configuration says nothing about them any more.
 */
import type { Config } from "../config/config.ts";
import { DEFAULT_AGENT } from "../model/ids.ts";
import { canonicalJson } from "../model/json.ts";
import { OWNER_ID, PERSON_ID } from "../model/person.ts";
import { type Identity, identityOf, isAtOwnDoor, isIdentity } from "../model/principal.ts";
import { dmSessionKey, type SessionKey } from "../model/session-key.ts";
import type { NewPerson, Store } from "../store/store.ts";

type Paired = Config["channels"]["paired"][number];

/** How many people this added or changed. May be repeated. */
export async function takePeopleOver(store: Pick<Store, "people">, config: Config): Promise<number> {
  const people = peopleOf(config);
  return people.length === 0 ? 0 : store.people.takeOver(people);
}

/** Entries that a link joins are one person, if they may do the same. */
function peopleOf({ channels: { paired }, identityLinks }: Config): readonly NewPerson[] {
  const links = new Map(
    Object.entries(identityLinks).flatMap(([name, peers]) => {
      const isOwners = name === OWNER_ID || peers.some((peer) => isAtOwnDoor(splitPeer(peer)));
      return peers.map((peer) => [peerKey(splitPeer(peer)), { name, isOwners }] as const);
    }),
  );
  const people = new Map<string, NewPerson & { readonly identities: Identity[] }>();
  for (const entry of paired) {
    const identity = identityOf(entry);
    if (!isIdentity(identity)) continue; // no adapter sends such an event
    const person = personOf(entry, links.get(peerKey(entry)));
    const key = canonicalJson([person.id, person.permissions ?? null]);
    const known = people.get(key);
    if (known === undefined) people.set(key, { ...person, identities: [identity] });
    else known.identities.push(identity);
  }
  return [...people.values()];
}

function personOf(
  { channel, sender, permissions }: Paired,
  link: { readonly name: string; readonly isOwners: boolean } | undefined,
): NewPerson {
  // What the owner has narrowed stays narrow, also where it is their own.
  if (link?.isOwners === true && permissions === undefined)
    return { id: OWNER_ID, name: OWNER_ID, role: "owner" };
  const name = link === undefined || link.isOwners ? sender : link.name;
  const id = personId(link === undefined || link.isOwners ? `${channel}-${sender}` : link.name);
  const member: NewPerson = { id, name: name.slice(0, MAX_NAME_LENGTH), role: "member" };
  return permissions === undefined ? member : { ...member, permissions };
}

const MAX_NAME_LENGTH = 200;
const MAX_ID_LENGTH = 56; // leaves room for a number, if it is taken

function personId(text: string): string {
  const id = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "")
    .slice(0, MAX_ID_LENGTH);
  return PERSON_ID.test(id) ? id : "person";
}

/** Compared as sessions compare them: on some platforms, ids mean the same in any case. */
function peerKey({ channel, sender }: Pick<Paired, "channel" | "sender">): SessionKey {
  return dmSessionKey({
    agent: DEFAULT_AGENT,
    scope: "per-channel-peer",
    channel: channel.toLowerCase(),
    peer: sender,
  });
}

function splitPeer(peer: string): { readonly channel: string; readonly sender: string } {
  const at = peer.indexOf(":");
  return { channel: peer.slice(0, at), sender: peer.slice(at + 1) };
}
