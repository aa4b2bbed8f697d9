import { limitOf, openLedger } from "../client/ledger.ts";
import type { Invocation } from "../feature/command.ts";
import { pageOf } from "../feature/page.ts";
import { CortexError } from "../model/errors.ts";
import { reveal } from "../model/reveal.ts";
import type { Ledger, StoredPerson } from "../store/store.ts";
import { moment, table } from "../terminal/text.ts";
import { personView, type PersonView } from "./views.ts";

export async function listPeople(given: Invocation): Promise<void> {
  await using ledger = await openLedger(given.home);
  const page = pageOf(await ledger.people.list({ limit: limitOf(given) }), personView);
  given.print.data(page, () => table(page.items.map(rowOf)));
}

function rowOf({ id, name, role, identities, limits, permissions }: PersonView): string[] {
  const narrowed = permissions === null ? "" : "narrowed";
  return [
    id,
    role,
    reveal(name),
    identities.map((identity) => reveal(identity)).join(" "),
    narrowed,
    inWords(limits),
  ];
}

export async function showPerson({ home, args: [id = ""], print }: Invocation): Promise<void> {
  await using ledger = await openLedger(home);
  const person = personView(await requirePerson(id, ledger));
  print.data(person, () => describePerson(person));
}

export async function requirePerson(id: string, { people }: Pick<Ledger, "people">): Promise<StoredPerson> {
  const person = await people.get(id);
  if (person !== undefined) return person;
  throw new CortexError("person_unknown", `Unknown person "${id}"`, {
    hint: "Run `cortex people list` to list people.",
  });
}

export function describePerson({
  id,
  name,
  role,
  identities,
  permissions,
  limits,
  createdAt,
}: PersonView): string {
  return table([
    ["id", id],
    ["name", reveal(name)],
    ["role", role],
    ...identities.map((identity) => ["identity", reveal(identity)]),
    ["permissions", permissions === null ? "all of the agent's" : reveal(JSON.stringify(permissions))],
    ["limits", inWords(limits) || "as configured"],
    ["added", moment(createdAt)],
  ]);
}

function inWords({ pending, perMinute, usdPerDay }: PersonView["limits"]): string {
  const parts = [
    pending === undefined ? [] : `${pending} pending`,
    perMinute === undefined ? [] : `${perMinute} a minute`,
    usdPerDay === undefined ? [] : `$${usdPerDay} a day`,
  ];
  return parts.flat().join(", ");
}
