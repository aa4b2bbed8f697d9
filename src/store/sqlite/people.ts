import type { Database } from "better-sqlite3";

import { canonicalJson, type Json } from "../../model/json.ts";
import { OWNER_ID, type PersonLimits, type Role } from "../../model/person.ts";
import {
  type Identity,
  identityOf,
  OWNER_PRINCIPAL,
  personPrincipal,
  type Principal,
} from "../../model/principal.ts";
import {
  type AuditKind,
  type Listed,
  type ListOptions,
  MAX_IDENTITIES,
  MAX_PEOPLE,
  type StoredPerson,
} from "../store.ts";
import { actorCodec, prepareAudit, withToken } from "./audit.ts";
import { oncePerDatabase } from "./once.ts";
import { operation, Refusal } from "./operation.ts";
import { listPage } from "./page.ts";
import { maybe, parseJson, required } from "./row.ts";
import { personUnknown } from "./unknown.ts";
import {
  type Decoded,
  json,
  jsonOrNull,
  list,
  optional,
  record,
  text,
  textOf,
  words,
  wordsOrNull,
} from "./wire.ts";

const identities = list(textOf<Identity>());

const personCodec = record({
  id: text,
  name: words,
  role: textOf<Role>(),
  identities,
  permissions: jsonOrNull,
  limits: json,
});

type PersonInput = Decoded<typeof personCodec>;
type ActorInput = Decoded<typeof actorCodec>;

export const addPerson = operation(record({ person: personCodec, by: actorCodec }), (db) => {
  const rows = preparePeople(db);
  return ({ person, by }, { nowMs }): null | Refusal => {
    const known = rows.get(person.id);
    if (known !== undefined && isSame(known, person)) return null; // the same call came before
    if (known !== undefined) return idTaken(person.id);
    if (person.role === "owner") return oneOwner();
    if (!rows.isFree(person.id, person.identities)) return idOfAnother(person.id);
    if (rows.count() >= MAX_PEOPLE) return tooMany();
    const taken = person.identities.find((identity) => rows.find(identity) !== undefined);
    if (taken !== undefined) return identityTaken(taken, required(rows.find(taken)).id);
    return rows.insert(person, { by, nowMs });
  };
});

export const changePerson = operation(
  record({
    id: text,
    name: wordsOrNull,
    role: optional(textOf<Role>()),
    link: identities,
    unlink: identities,
    /** Given as null: they have none of their own from then on. */
    permissions: optional(jsonOrNull),
    limits: json,
    by: actorCodec,
  }),
  (db) => {
    const rows = preparePeople(db);
    return ({ id, by, ...change }, { nowMs }): null | Refusal => {
      const before = rows.get(id);
      if (before === undefined) return personUnknown(id);
      const { role = before.role, link, unlink, permissions = before.permissions } = change;
      if (role !== before.role && before.role === "owner") return ownerFixed();
      if (role !== before.role && role === "owner") return oneOwner();
      if (id === OWNER_ID && permissions !== null) return ownerUnbound();
      for (const identity of link) {
        const holder = rows.find(identity);
        if (holder !== undefined && holder.id !== id) return identityTaken(identity, holder.id);
      }
      const after = {
        ...before,
        name: change.name ?? before.name,
        role,
        permissions,
        limits: mergedLimits(before.limits, change.limits),
      };
      const gone = new Set<string>(unlink);
      const kept = [...new Set([...before.identities, ...link])].filter((identity) => !gone.has(identity));
      return rows.update({ before, after: { ...after, identities: kept } }, { by, nowMs });
    };
  },
);

export const removePerson = operation(record({ id: text, by: actorCodec }), (db) => {
  const rows = preparePeople(db);
  return ({ id, by }, { nowMs }): null | Refusal => {
    const person = rows.get(id);
    if (person === undefined) return personUnknown(id);
    if (person.role === "owner") return ownerFixed();
    rows.remove(person, { by, nowMs });
    return null;
  };
});

/** What a configuration names is the owner's word. */
const BY_CONFIGURATION: ActorInput = { principal: "owner", token: null };

export const takePeopleOver = operation(record({ people: list(personCodec) }), (db) => {
  const rows = preparePeople(db);
  const update = db.prepare(
    `update event set principal = ? where seq in (select event from unjudged) and principal is null
       and channel = ? and sender = ?`,
  );
  const accounts = db
    .prepare<[string], string>("select distinct account from place where channel = ?")
    .pluck();
  /** The older version knew people on all accounts of a channel: here, on those that were ever used. */
  const onAccounts = (identity: Identity): readonly Identity[] => {
    const [channel, sender] = [channelOf(identity), senderOf(identity)];
    const others = accounts.all(channel).map((account) => identityOf({ channel, account, sender }));
    return [...new Set([identity, ...others])];
  };
  /** What they had written to the older version, which no hook has judged yet. */
  const attribute = (identity: Identity, principal: Principal): void => {
    update.run(principal, channelOf(identity), senderOf(identity));
  };
  return ({ people }, { nowMs }): number | Refusal => {
    const moment = { by: BY_CONFIGURATION, nowMs };
    let taken = 0;
    for (const person of people) {
      const fresh = person.identities.filter(rows.isNew);
      const unheld = fresh.flatMap(onAccounts).filter((identity) => rows.find(identity) === undefined);
      if (unheld.length === 0) continue;
      for (const identity of fresh) rows.noteTakenOver(identity);
      const refusal =
        rows.count() < MAX_PEOPLE || person.role === "owner" ? admit(unheld, person) : tooMany();
      if (refusal !== null) return refusal;
      taken += 1;
    }
    return taken;

    function admit(unheld: readonly Identity[], person: PersonInput): null | Refusal {
      if (person.role !== "owner") {
        const id = rows.freeId(person.id, unheld);
        for (const identity of unheld) attribute(identity, personPrincipal(id));
        return rows.insert({ ...person, id, identities: unheld }, moment);
      }
      for (const identity of unheld) attribute(identity, OWNER_PRINCIPAL);
      const before = required(rows.get(OWNER_ID));
      const after = { ...before, identities: [...before.identities, ...unheld] };
      return rows.update({ before, after }, moment);
    }
  };
});

function channelOf(identity: Identity): string {
  return identity.slice(0, identity.search(/[@:]/));
}

function senderOf(identity: Identity): string {
  return identity.slice(identity.indexOf(":") + 1);
}

interface PersonRow {
  readonly key: number;
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly permissions: string | null;
  readonly limits: string;
  readonly createdAtMs: number;
}

interface KnownPerson extends PersonRow {
  readonly identities: readonly Identity[];
}

interface Decision {
  readonly by: ActorInput;
  readonly nowMs: number;
}

const COLUMNS = "p.key, p.id, p.name, p.role, p.permissions, p.limits, p.created_ms as createdAtMs";

const preparePeople = oncePerDatabase((db: Database) => {
  const get = db.prepare<[string], PersonRow>(`select ${COLUMNS} from person p where p.id = ?`);
  const find = prepareFind(db);
  const identitiesOf = prepareIdentities(db);
  const count = db.prepare<[], number>("select count(*) from person").pluck();
  const insert = db.prepare(
    `insert into person (id, name, role, permissions, limits, created_ms)
     values (@id, @name, @role, @permissions, @limits, @nowMs)`,
  );
  const update = db.prepare(
    "update person set name = @name, role = @role, permissions = @permissions, limits = @limits where key = @key",
  );
  const remove = db.prepare("delete from person where key = ?");
  const link = db.prepare("insert into identity (identity, person) values (?, ?)");
  const unlink = db.prepare("delete from identity where identity = ? and person = ?");
  const unlinkAll = db.prepare("delete from identity where person = ?");
  const findTakenOver = db
    .prepare<[string], string>("select identity from taken_over where identity = ?")
    .pluck();
  const noteTakenOver = db.prepare("insert into taken_over (identity) values (?)");
  const write = prepareAudit(db);
  const audit = (
    kind: AuditKind,
    id: string,
    detail: { [name: string]: Json },
    { by, nowMs }: Decision,
  ): void =>
    write({ principal: by.principal, kind, object: id, detail: withToken(detail, by.token), atMs: nowMs });

  const findRemoval = db
    .prepare<[string], string>(
      "select detail from audit_entry where kind = 'person.remove' and object = ? order by seq desc limit 1",
    )
    .pluck();
  /** What was private to a removed person stays so: only an identity of theirs gets their id again. */
  const isFree = (id: string, identities: readonly Identity[]): boolean => {
    if (get.get(id) !== undefined) return false;
    const removal = findRemoval.get(id);
    if (removal === undefined) return true;
    const { identities: had } = parseJson(removal) as { readonly identities: readonly string[] };
    return identities.some((identity) => had.includes(identity));
  };

  return {
    get: (id: string): KnownPerson | undefined =>
      maybe(get.get(id), (row) => ({ ...row, identities: identitiesOf(row.key) })),
    find: (identity: Identity): PersonRow | undefined => find.get(identity),
    count: (): number => required(count.get()),
    isNew: (identity: Identity): boolean => findTakenOver.get(identity) === undefined,
    noteTakenOver: (identity: Identity): void => void noteTakenOver.run(identity),

    isFree,

    /** The id, or the id with a number behind it. */
    freeId(id: string, identities: readonly Identity[]): string {
      for (let n = 2, free = id; ; n++) {
        if (isFree(free, identities)) return free;
        free = `${id.slice(0, 56)}-${n}`; // an id has up to 64 characters
      }
    },

    insert(person: PersonInput, decision: Decision): null | Refusal {
      if (person.identities.length > MAX_IDENTITIES) return tooManyIdentities(person.id);
      const { lastInsertRowid: key } = insert.run({
        ...person,
        identities: undefined,
        nowMs: decision.nowMs,
      });
      for (const identity of new Set(person.identities)) link.run(identity, key);
      audit("person.add", person.id, auditable(person), decision);
      return null;
    },

    /** Changes only what differs, and records only that. */
    update(
      { before, after }: { before: KnownPerson; after: KnownPerson },
      decision: Decision,
    ): null | Refusal {
      if (after.identities.length > MAX_IDENTITIES) return tooManyIdentities(after.id);
      const changes = changesBetween(auditable(before), auditable(after));
      if (Object.keys(changes).length === 0) return null;
      const { key, name, role, permissions, limits } = after;
      update.run({ key, name, role, permissions, limits });
      const [had, has] = [new Set(before.identities), new Set(after.identities)];
      for (const identity of had) if (!has.has(identity)) unlink.run(identity, key);
      for (const identity of has) if (!had.has(identity)) link.run(identity, key);
      audit("person.change", after.id, changes, decision);
      return null;
    },

    remove({ key, id, ...person }: KnownPerson, decision: Decision): void {
      unlinkAll.run(key);
      remove.run(key);
      audit("person.remove", id, auditable(person), decision);
    },
  };
});

export function prepareReadPeople(db: Database) {
  const get = db.prepare<[string], PersonRow>(`select ${COLUMNS} from person p where p.id = ?`);
  const find = prepareFind(db);
  const page = db.prepare<[number, number], PersonRow>(
    `select ${COLUMNS} from person p where p.key < ? order by p.key desc limit ?`,
  );
  const identitiesOf = prepareIdentities(db);
  const toPerson = ({ key, permissions, limits, ...row }: PersonRow): StoredPerson => ({
    ...row,
    identities: identitiesOf(key),
    permissions: parseJson(permissions),
    limits: parseJson(limits) as PersonLimits,
  });
  return {
    get: (id: string): StoredPerson | undefined => maybe(get.get(id), toPerson),
    find: (identity: Identity): StoredPerson | undefined => maybe(find.get(identity), toPerson),
    list: (options: ListOptions = {}): Listed<StoredPerson> =>
      listPage({
        name: "people",
        options,
        find: ([, key], limit) => page.all(key, limit),
        place: ({ key }) => [0, key],
        toItem: toPerson,
      }),
  };
}

function prepareFind(db: Database) {
  return db.prepare<[string], PersonRow>(
    `select ${COLUMNS} from identity i join person p on p.key = i.person where i.identity = ?`,
  );
}

/** In the order in which they were linked. */
function prepareIdentities(db: Database): (person: number) => Identity[] {
  const all = db
    .prepare<[number], Identity>("select identity from identity where person = ? order by key")
    .pluck();
  return (person) => all.all(person);
}

/** As the audit log keeps it. */
function auditable(person: Pick<KnownPerson, "name" | "role" | "identities" | "permissions" | "limits">) {
  return {
    name: person.name,
    role: person.role,
    identities: [...person.identities],
    permissions: parseJson(person.permissions) ?? null,
    limits: parseJson(person.limits),
  };
}

type Auditable = ReturnType<typeof auditable>;

function changesBetween(before: Auditable, after: Auditable): { [name: string]: Json } {
  const names = Object.keys(after) as (keyof Auditable)[];
  const changed = names.filter((name) => canonicalJson(before[name]) !== canonicalJson(after[name]));
  return Object.fromEntries(changed.map((name) => [name, { from: before[name], to: after[name] }]));
}

function isSame(known: KnownPerson, person: PersonInput): boolean {
  return canonicalJson(auditable(known)) === canonicalJson(auditable(person));
}

/** Null removes a limit. */
function mergedLimits(before: string, change: string): string {
  const merged = { ...(parseJson(before) as object), ...(parseJson(change) as object) };
  return canonicalJson(Object.fromEntries(Object.entries(merged).filter(([, limit]) => limit !== null)));
}

function idTaken(id: string): Refusal {
  return new Refusal(
    "state_conflict",
    `Person "${id}" already exists`,
    "Choose another id, or change that person.",
  );
}

function idOfAnother(id: string): Refusal {
  return new Refusal(
    "state_conflict",
    `Id "${id}" belonged to a removed person`,
    "Choose another id, so private data stays private. For the same person, add one of their old identities.",
  );
}

function identityTaken(identity: Identity, id: string): Refusal {
  return new Refusal(
    "state_conflict",
    `${identity} already belongs to person "${id}"`,
    `Unlink it first: \`cortex people link ${id} --remove ${identity}\`.`,
  );
}

function oneOwner(): Refusal {
  return new Refusal(
    "state_conflict",
    "Only one person can be the owner",
    "Use the role member or guest; link your own identities to the person `owner`.",
  );
}

function ownerFixed(): Refusal {
  return new Refusal(
    "state_conflict",
    "The owner cannot be removed or get another role",
    "To unlink an identity that is not yours: `cortex people link owner <identity> --remove`.",
  );
}

function ownerUnbound(): Refusal {
  return new Refusal(
    "state_conflict",
    "The owner's permissions cannot be narrowed",
    "Narrow the permissions of a persona in config/cortex.json instead.",
  );
}

function tooMany(): Refusal {
  return new Refusal(
    "limit_invalid",
    `Too many people (limit ${MAX_PEOPLE})`,
    "Remove those who no longer write: `cortex people remove <id>`.",
  );
}

function tooManyIdentities(id: string): Refusal {
  return new Refusal(
    "limit_invalid",
    `Too many identities for person "${id}" (limit ${MAX_IDENTITIES})`,
    "Remove identities that are no longer used.",
  );
}
