/** What every store promises about people. */
import { describe, expect, test } from "vitest";

import { event, START_MS } from "../../test/support/sample.ts";
import { STORES } from "../../test/support/stores.ts";
import type { Role } from "../model/person.ts";
import type { Identity } from "../model/principal.ts";
import { MAX_IDENTITIES, MAX_PEOPLE, type NewPerson, type StoredPerson } from "./store.ts";

const by = { principal: "owner" };
const identity = (text: string): Identity => text as Identity;

function person(id: string, fields: Partial<NewPerson> = {}): NewPerson {
  return { id, name: id, role: "member", ...fields };
}

const ids = (people: readonly StoredPerson[]): string[] => people.map(({ id }) => id);

describe.each(Object.entries(STORES))("%s", (_, open) => {
  test("the owner is always there, and stays the only one", async () => {
    await using opened = await open();
    const { people } = opened.store;
    expect(await people.get("owner")).toEqual({
      id: "owner",
      name: "Owner",
      role: "owner",
      identities: [],
      permissions: undefined,
      limits: {},
      createdAtMs: expect.any(Number),
    });
    const refused = { code: "state_conflict" };
    await expect(people.remove("owner", by)).rejects.toMatchObject(refused);
    await expect(people.add(person("eve", { role: "owner" }), by)).rejects.toMatchObject(refused);
    await people.add(person("ada"), by);
    await expect(people.change("ada", { role: "owner" }, by)).rejects.toMatchObject(refused);
    await expect(people.change("owner", { role: "member" }, by)).rejects.toMatchObject(refused);
    await expect(people.change("owner", { permissions: { hosts: [] } }, by)).rejects.toMatchObject(refused);
    expect(ids((await people.list()).items)).toEqual(["ada", "owner"]);
  });

  test("a person is found by each of their identities, and by nothing else", async () => {
    await using opened = await open();
    const { people } = opened.store;
    const identities = [identity("telegram:42"), identity("slack@work:U1")];
    const permissions = { tools: { deny: ["Bash"] } };
    const added = await people.add(person("ada", { identities, permissions, limits: { pending: 3 } }), by);
    expect(added).toEqual({
      ...person("ada", { identities, permissions, limits: { pending: 3 } }),
      createdAtMs: START_MS,
    });
    for (const one of identities) expect(await people.find(one)).toEqual(added);
    for (const other of ["telegram:4", "telegram@work:42", "slack:U1", "slack@work:u1", "ada"])
      expect(await people.find(identity(other))).toBeUndefined();
  });

  test("an identity belongs to one person until it is unlinked", async () => {
    await using opened = await open();
    const { people } = opened.store;
    const [telegram, discord] = [identity("telegram:42"), identity("discord:9")];
    await people.add(person("ada", { identities: [telegram] }), by);
    const second = person("bob", { identities: [telegram] });
    await expect(people.add(second, by)).rejects.toMatchObject({ code: "state_conflict" });
    await people.add(person("bob"), by);
    const taking = people.change("bob", { name: "Bob", link: [discord, telegram] }, by);
    await expect(taking).rejects.toMatchObject({ code: "state_conflict" });
    expect(await people.get("bob")).toMatchObject({ name: "bob", identities: [] });
    await people.change("ada", { unlink: [telegram] }, by);
    expect(await people.change("bob", { link: [telegram] }, by)).toMatchObject({ identities: [telegram] });
    expect(await people.find(telegram)).toMatchObject({ id: "bob" });
  });

  test("a change changes what is given, and a repeated one nothing", async () => {
    await using opened = await open();
    const { store } = opened;
    const limits = { pending: 3, perMinute: 5 };
    await store.people.add(person("ada", { permissions: { hosts: ["a.example"] }, limits }), by);
    const change = { role: "guest" as Role, limits: { pending: null, usdPerDay: 0.5 } };
    const changed = await store.people.change("ada", change, { principal: "owner", token: "ci" });
    expect(changed).toMatchObject({ role: "guest", permissions: { hosts: ["a.example"] } });
    expect(changed.limits).toEqual({ perMinute: 5, usdPerDay: 0.5 });
    expect(await store.people.change("ada", change, by)).toEqual(changed);
    expect((await store.people.change("ada", { permissions: null }, by)).permissions).toBeUndefined();
    const [unbound, bound, added] = (await store.audit.list()).items;
    expect(added).toMatchObject({ kind: "person.add", object: "ada", detail: { role: "member", limits } });
    expect(bound).toMatchObject({ kind: "person.change", principal: "owner" });
    expect(bound?.detail).toEqual({
      role: { from: "member", to: "guest" },
      limits: { from: limits, to: { perMinute: 5, usdPerDay: 0.5 } },
      token: "ci",
    });
    expect(unbound?.detail).toEqual({ permissions: { from: { hosts: ["a.example"] }, to: null } });
    expect(await store.verify()).toMatchObject({ ok: true });
  });

  test("a person who was removed is unknown, and their identities are free", async () => {
    await using opened = await open();
    const { people, audit } = opened.store;
    const identities = [identity("telegram:42")];
    await people.add(person("ada", { identities }), by);
    await people.add(person("ada", { identities }), by); // the same call again
    await expect(people.add(person("ada"), by)).rejects.toMatchObject({ code: "state_conflict" });
    await people.remove("ada", by);
    expect(await people.get("ada")).toBeUndefined();
    expect(await people.find(identities[0]!)).toBeUndefined();
    for (const call of [people.remove("ada", by), people.change("ada", { name: "Ada" }, by)])
      await expect(call).rejects.toMatchObject({ code: "person_unknown" });
    expect((await audit.list()).items.map(({ kind }) => kind)).toEqual(["person.remove", "person.add"]);
    expect(await people.add(person("bob", { identities }), by)).toMatchObject({ identities });
  });

  test("the id of a person who was removed is for nobody else, because things are private to it", async () => {
    await using opened = await open();
    const { people } = opened.store;
    const [ada, eve] = [identity("telegram:42"), identity("telegram:666")];
    await people.add(person("ada", { identities: [ada] }), by);
    await people.remove("ada", by);
    for (const identities of [[], [eve]])
      await expect(people.add(person("ada", { identities }), by)).rejects.toMatchObject({
        code: "state_conflict",
      });
    await people.takeOver([person("ada", { identities: [eve] })]);
    expect(await people.find(eve)).toMatchObject({ id: "ada-2" });
    expect(await people.add(person("ada", { identities: [ada] }), by)).toMatchObject({ identities: [ada] });
  });

  test("people of an older configuration are taken over once, and those removed stay removed", async () => {
    await using opened = await open();
    const { people } = opened.store;
    await people.add(person("ada", { identities: [identity("email:ada")] }), by);
    const named = [
      person("ada", { identities: [identity("telegram:42"), identity("email:ada")] }),
      person("bob", { identities: [identity("telegram:7")], permissions: { hosts: [] } }),
      person("owner", { role: "owner", identities: [identity("telegram:1")] }),
    ];
    expect(await people.takeOver(named)).toBe(3);
    expect(await people.get("ada")).toMatchObject({ identities: ["email:ada"] });
    expect(await people.get("ada-2")).toMatchObject({ identities: ["telegram:42"] });
    expect(await people.find(identity("telegram:1"))).toMatchObject({ id: "owner", role: "owner" });
    await people.remove("bob", by);
    await people.change("owner", { unlink: [identity("telegram:1")] }, by);
    expect(await people.takeOver(named)).toBe(0);
    expect(await people.find(identity("telegram:7"))).toBeUndefined();
    expect(await people.find(identity("telegram:1"))).toBeUndefined();
  });

  test("people are taken over on all accounts of their channel that were ever used", async () => {
    await using opened = await open();
    const { people, events } = opened.store;
    for (const account of ["work", "default"])
      await events.accept(event(account, { channel: "telegram", account, place: "1" }));
    await people.takeOver([person("ada", { identities: [identity("telegram:42"), identity("email:a")] })]);
    expect(await people.get("ada")).toMatchObject({
      identities: ["telegram:42", "telegram@work:42", "email:a"],
    });
  });

  test.each([
    [person("Ada"), "id_invalid"],
    [person("a".repeat(65)), "id_invalid"],
    [person("a", { name: " " }), "limit_invalid"],
    [person("a", { identities: [identity("telegram")] }), "id_invalid"],
    [person("a", { identities: [identity("Telegram:1")] }), "id_invalid"],
    [person("a", { identities: [identity("telegram:1\n2")] }), "id_invalid"],
    [person("a", { identities: [identity("telegram:\u0000")] }), "id_invalid"],
    [person("a", { identities: [identity("http:owner")] }), "id_invalid"],
    [person("a", { identities: [identity("webhook:pay")] }), "id_invalid"],
    [person("a", { limits: { pending: 1.5 } }), "limit_invalid"],
    [person("a", { limits: { usdPerDay: -1 } }), "limit_invalid"],
    [person("a", { permissions: { hosts: ["x".repeat(70_000)] } }), "limit_invalid"],
  ])("a person that cannot be one is refused, whole (%#)", async (wrong, code) => {
    await using opened = await open();
    await expect(opened.store.people.add(wrong, by)).rejects.toMatchObject({ code });
    expect(ids((await opened.store.people.list()).items)).toEqual(["owner"]);
    expect((await opened.store.audit.list()).items).toEqual([]);
  });

  test("the number of people, and of a person's identities, is bounded; lists come in pages", async () => {
    await using opened = await open();
    const { people } = opened.store;
    const many = Array.from({ length: MAX_IDENTITIES + 1 }, (_, n) => identity(`telegram:${n}`));
    const refused = { code: "limit_invalid" };
    await expect(people.add(person("a", { identities: many }), by)).rejects.toMatchObject(refused);
    await people.add(person("a", { identities: many.slice(1) }), by);
    await expect(people.change("a", { link: many.slice(0, 1) }, by)).rejects.toMatchObject(refused);
    const rest = Array.from({ length: MAX_PEOPLE - 2 }, (_, n) =>
      person(`p${n}`, { identities: [identity(`discord:${n}`)] }),
    );
    expect(await people.takeOver(rest)).toBe(rest.length);
    await expect(people.add(person("more"), by)).rejects.toMatchObject(refused);
    const first = await people.list({ limit: 1 });
    expect(ids(first.items)).toEqual([`p${MAX_PEOPLE - 3}`]);
    expect(ids((await people.list({ limit: 1, cursor: first.next! })).items)).toEqual([`p${MAX_PEOPLE - 4}`]);
    await people.remove("p0", by);
    expect(await people.add(person("more"), by)).toMatchObject({ id: "more" });
  });
});
