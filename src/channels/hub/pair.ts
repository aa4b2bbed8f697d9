import { OWNER_ID, PERSON_ID } from "../../model/person.ts";
import { CortexError } from "../../model/errors.ts";
import type { DeliveryId } from "../../model/ids.ts";
import { createUlidSource, deriveUlid } from "../../model/ulid.ts";
import type { Actor, PairAs, Pairing, Store, StoredPerson } from "../../store/store.ts";

type PairPorts = Pick<Store, "pairings" | "people" | "outbox">;

/**
 * Lets in who was given a code: as the owner, or as a member, who is added if there is no such person. Each write can be
 * repeated, and the code is used up last: after a crash in between, it is paired again.
 */
export async function pair(
  code: string,
  as: PairAs,
  { store, clock, by }: { readonly store: PairPorts; readonly clock: () => number; readonly by: Actor },
): Promise<StoredPerson> {
  const pairing = await store.pairings.find(code.trim().toUpperCase(), clock());
  if (pairing === undefined) throw pairingUnknown(code);
  const person = await admit(pairing, as, store, by);
  const id = deriveUlid(createUlidSource(() => 0)(), `paired/${pairing.code}`) as DeliveryId;
  await store.outbox.notify({ id, target: pairing.target, content: "You can talk to me now." });
  await store.pairings.remove(pairing.code);
  return person;
}

async function admit(
  { identity, name }: Pairing,
  { role, person }: PairAs,
  { people }: PairPorts,
  by: Actor,
): Promise<StoredPerson> {
  const holder = await people.find(identity);
  const wanted = role === "owner" ? OWNER_ID : person;
  if (holder !== undefined && holder.role !== "guest" && (wanted === undefined || holder.id === wanted))
    return holder;
  if (wanted !== undefined && (await people.get(wanted)) !== undefined)
    return people.change(wanted, { link: [identity] }, by);
  const id = wanted ?? (await freeId(identity, people));
  return people.add({ id, name, role: "member", identities: [identity] }, by);
}

/** `telegram-42`, or with a number behind it. */
async function freeId(identity: string, people: PairPorts["people"]): Promise<string> {
  const base = identity
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .slice(0, MAX_BASE_LENGTH);
  const id = PERSON_ID.test(base) ? base : "person";
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? id : `${id}-${n}`;
    if ((await people.get(candidate)) === undefined) return candidate;
  }
}

const MAX_BASE_LENGTH = 56;

function pairingUnknown(code: string): CortexError {
  return new CortexError("pairing_unknown", `Unknown pairing code ${JSON.stringify(code.slice(0, 40))}`, {
    hint: "A code is valid for an hour. `cortex channels pair` lists valid codes; a new message of the stranger gets a new one.",
  });
}
