import { expect, test } from "vitest";

import { openTestStore } from "../../test/support/open-store.ts";
import { event } from "../../test/support/sample.ts";
import type { Identity, Principal } from "../model/principal.ts";
import type { NewEvent, Store } from "../store/store.ts";
import { grantFor, principalOfEvent } from "./authority.ts";

const by = { principal: "owner" };
const identities = (...texts: string[]): Identity[] => texts as Identity[];

async function openPeople() {
  const opened = await openTestStore();
  const { store } = opened;
  const permissions = { tools: { deny: ["Bash"] } };
  const ada = { id: "ada", name: "Ada", role: "member" as const, permissions };
  await store.people.add({ ...ada, identities: identities("telegram:42", "email:owner") }, by);
  const ann = { id: "ann", name: "Ann", role: "member" as const };
  await store.people.add({ ...ann, identities: identities("slack@work:U1") }, by);
  const eve = { id: "eve", name: "Eve", role: "guest" as const };
  await store.people.add({ ...eve, identities: identities("telegram:666") }, by);
  await store.people.change("owner", { link: identities("telegram:1") }, by);
  return opened;
}

type Sender = Pick<NewEvent, "channel" | "account" | "sender">;

async function judge({ channel, account, sender }: Sender, store: Store) {
  const { sender: _sender, ...plain } = event("a", { channel });
  const said: NewEvent = {
    ...plain,
    ...(account === undefined ? {} : { account }),
    ...(sender === undefined ? {} : { sender }),
  };
  const principal = await principalOfEvent(said, store.people);
  return { principal, grant: await grantFor({ ...said, principal }, store.people) };
}

const OWNER = { authority: "owner" };
const SOURCE = { authority: "source", permissions: { authority: "source" } };
const GUEST = { authority: "guest" };
const ADA = { authority: "paired", permissions: { tools: { deny: ["Bash"] }, authority: "paired" } };
const ANN = { authority: "paired", permissions: { authority: "paired" } };

test.each<[Sender, string, object]>([
  [{ channel: "cli", sender: "owner" }, "owner", OWNER],
  [{ channel: "http", sender: "owner" }, "owner", OWNER],
  [{ channel: "web", sender: "owner" }, "owner", OWNER],
  [{ channel: "telegram", sender: "1" }, "owner", OWNER],
  [{ channel: "telegram", account: "work", sender: "1" }, "guest:telegram@work:1", GUEST],
  [{ channel: "http", sender: "stranger" }, "guest:http:stranger", GUEST],
  [{ channel: "cli" }, "source:cli", GUEST],
  [{ channel: "telegram", sender: "owner" }, "guest:telegram:owner", GUEST],
  [{ channel: "email", sender: "owner" }, "person:ada", ADA],
  [{ channel: "webhook", sender: "pay" }, "source:webhook:pay", SOURCE],
  [{ channel: "webhook" }, "source:webhook", SOURCE],
  [{ channel: "webhook", sender: "owner" }, "source:webhook:owner", SOURCE],
  [{ channel: "timer" }, "source:timer", SOURCE],
  [{ channel: "files" }, "source:files", SOURCE],
  [{ channel: "telegram", sender: "42" }, "person:ada", ADA],
  [{ channel: "telegram", account: "default", sender: "42" }, "person:ada", ADA],
  [{ channel: "telegram", sender: "666" }, "guest:telegram:666", GUEST],
  [{ channel: "telegram", sender: "4" }, "guest:telegram:4", GUEST],
  [{ channel: "telegram" }, "source:telegram", GUEST],
  [{ channel: "discord", sender: "42" }, "guest:discord:42", GUEST],
  [{ channel: "slack", account: "work", sender: "U1" }, "person:ann", ANN],
  [{ channel: "slack", account: "work", sender: "u1" }, "guest:slack@work:u1", GUEST],
  [{ channel: "slack", sender: "U1" }, "guest:slack:U1", GUEST],
  [{ channel: "constructor", sender: "constructor" }, "guest:constructor:constructor", GUEST],
])("the sender %j is %s and gets %j", async (sender, principal, grant) => {
  await using opened = await openPeople();
  const { store } = opened;
  expect(await judge(sender, store)).toEqual({ principal, grant });
});

test("what a person may do is read when it is asked for, and their event keeps its principal", async () => {
  await using opened = await openPeople();
  const { store } = opened;
  const said = { ...event("a", { channel: "telegram", sender: "42" }), principal: "person:ada" as Principal };
  const grant = () => grantFor(said, store.people);
  expect(await grant()).toEqual(ADA);
  await store.people.change("ada", { permissions: { hosts: [] } }, by);
  expect(await grant()).toEqual({ authority: "paired", permissions: { hosts: [], authority: "paired" } });
  await store.people.change("ada", { role: "guest" }, by);
  expect(await grant()).toEqual(GUEST);
  await store.people.change("ada", { role: "member", unlink: identities("telegram:42") }, by);
  expect(await grant()).toEqual(GUEST);
  await store.people.change("ann", { link: identities("telegram:42") }, by);
  expect(await grant()).toEqual(GUEST); // another person has the identity now
  await store.people.change("ann", { unlink: identities("telegram:42") }, by);
  await store.people.change("ada", { link: identities("telegram:42") }, by);
  expect(await grant()).toMatchObject({ authority: "paired" });
  await store.people.remove("ada", by);
  expect(await grant()).toEqual(GUEST);
});

test("a message of an unknown sender is never run, even if they are known by now", async () => {
  await using opened = await openPeople();
  const { store } = opened;
  const said = event("a", { channel: "telegram", sender: "42" });
  expect(await grantFor({ ...said, principal: "guest:telegram:42" as Principal }, store.people)).toEqual(
    GUEST,
  );
});

test("what an agent says on behalf of a person is the words of a program", async () => {
  await using opened = await openPeople();
  const { store } = opened;
  const said = { ...event("a", { channel: "telegram", sender: "42" }), id: "agent:1" as never };
  for (const principal of ["owner", "person:ada"])
    expect(await grantFor({ ...said, principal: principal as Principal }, store.people)).toEqual(SOURCE);
});

test("permissions that are no permissions take everything away", async () => {
  await using opened = await openPeople();
  const { store } = opened;
  await store.people.change("ada", { permissions: ["Read"] }, by);
  const { grant } = await judge({ channel: "telegram", sender: "42" }, store);
  expect(grant).toEqual({ authority: "paired", permissions: ["Read"] });
});
