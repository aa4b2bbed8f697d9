import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import { openTestStore } from "../../test/support/open-store.ts";
import { event } from "../../test/support/sample.ts";
import { takePeopleOver } from "./take-people-over.ts";

type Entry = { channel: string; sender: string; permissions?: object };

async function configOf(paired: readonly Entry[], identityLinks: object = {}) {
  return (await loadFiles({ "cortex.json": { channels: { paired }, identityLinks } })).config;
}

/** The people that a configuration becomes, the owner first. */
async function taken(paired: readonly Entry[], identityLinks: object = {}) {
  await using opened = await openTestStore();
  const { store } = opened;
  await takePeopleOver(store, await configOf(paired, identityLinks));
  const { items } = await store.people.list();
  return items
    .toReversed()
    .map(({ id, name, role, identities, permissions }) => ({ id, name, role, identities, permissions }));
}

const noBash = { tools: { deny: ["Bash"] } };
const owner = { id: "owner", name: "Owner", role: "owner", identities: [], permissions: undefined };
const member = { role: "member", permissions: undefined };

test("each entry becomes a member with its permissions", async () => {
  const paired = [
    { channel: "telegram", sender: "42", permissions: noBash },
    { channel: "email", sender: "Ann Lee <ann@x.example>" },
    { channel: "matrix", sender: "@bob:x.example" },
    { channel: "signal", sender: "日本" },
    { channel: "http", sender: "somebody" }, // no adapter sends such an event
  ];
  expect(await taken(paired)).toEqual([
    owner,
    { ...member, id: "telegram-42", name: "42", identities: ["telegram:42"], permissions: noBash },
    {
      ...member,
      id: "email-ann-lee-ann-x.example-",
      name: "Ann Lee <ann@x.example>",
      identities: ["email:Ann Lee <ann@x.example>"],
    },
    { ...member, id: "matrix--bob-x.example", name: "@bob:x.example", identities: ["matrix:@bob:x.example"] },
    { ...member, id: "signal--", name: "日本", identities: ["signal:日本"] },
  ]);
});

test("entries that a link joins become one person, unless they may do different things", async () => {
  const paired = [
    { channel: "telegram", sender: "42" },
    { channel: "discord", sender: "9", permissions: noBash },
    { channel: "Slack".toLowerCase(), sender: "U1" },
    { channel: "slack", sender: "u1" },
  ];
  const links = { Ada: ["Telegram:42", "discord:9", "slack:U1", "email:ada@x.example"] };
  expect(await taken(paired, links)).toEqual([
    owner,
    { ...member, id: "ada", name: "Ada", identities: ["telegram:42", "slack:U1"] },
    { ...member, id: "ada-2", name: "Ada", identities: ["discord:9"], permissions: noBash },
    { ...member, id: "slack-u1", name: "u1", identities: ["slack:u1"] },
  ]);
});

test.each([{ owner: ["telegram:1", "discord:2"] }, { me: ["cli:owner", "telegram:1", "discord:2"] }])(
  "the owner's own identities are linked to the owner, unless they were narrowed: %j",
  async (links) => {
    const paired = [
      { channel: "telegram", sender: "1" },
      { channel: "discord", sender: "2", permissions: noBash },
    ];
    expect(await taken(paired, links)).toEqual([
      { ...owner, identities: ["telegram:1"] },
      { ...member, id: "discord-2", name: "2", identities: ["discord:2"], permissions: noBash },
    ]);
  },
);

test("a person who was removed does not come back with the next start, and new entries do", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const first = [{ channel: "telegram", sender: "42" }];
  expect(await takePeopleOver(store, await configOf(first))).toBe(1);
  await store.people.remove("telegram-42", { principal: "owner" });
  expect(await takePeopleOver(store, await configOf(first))).toBe(0);
  const second = [...first, { channel: "telegram", sender: "43" }];
  expect(await takePeopleOver(store, await configOf(second))).toBe(1);
  const { items } = await store.people.list();
  expect(items.map(({ id }) => id)).toEqual(["telegram-43", "owner"]);
});

test("what a paired person had written before the update, and no hook had judged, is theirs", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const [before, others] = ["42", "43"].map((sender) => {
    const { principal: _, ...unattributed } = event(sender, { channel: "telegram", sender });
    return unattributed;
  });
  await store.events.accept(before!, { judge: true });
  await store.events.accept(others!, { judge: true });
  await takePeopleOver(store, await configOf([{ channel: "telegram", sender: "42" }]));
  expect(await store.events.get(before!.id)).toMatchObject({ principal: "person:telegram-42" });
  expect(await store.events.get(others!.id)).toMatchObject({ principal: "guest:telegram:43" });
});
