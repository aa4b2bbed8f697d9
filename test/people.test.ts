/** People: through the command line and HTTP, on a running server. */
import { expect, test } from "vitest";

import type { EventId } from "../src/model/ids.ts";
import { environmentOf } from "./support/cli.ts";
import { runHere } from "./support/run-here.ts";
import { openTestServer, PATIENT, type TestServer } from "./support/server.ts";

const cli = async (server: TestServer, ...argv: string[]) =>
  runHere(environmentOf(server.cortex.home), ["people", ...argv]);

async function json(server: TestServer, ...argv: string[]) {
  const { out, err } = await cli(server, ...argv, "--json");
  expect(err).toBe("");
  return JSON.parse(out);
}

const FIRES = { "all.ts": "export default ({ event }) => ({ fire: event.channel === 'telegram' });" };

let count = 0;

/** What becomes of a message from Telegram. */
async function write(server: TestServer, sender: string, content: string, place?: string) {
  const event = { adapter: "telegram", sourceId: `m${++count}`, sender, place, content };
  const { eventId } = (await server.send({ method: "POST", path: "/api/events", json: event })).json;
  const { store } = server.cortex;
  await expect.poll(() => store.hooks.unjudged(), PATIENT).toEqual([]);
  const dispatches = await store.events.dispatches(eventId as EventId);
  const { principal } = (await store.events.get(eventId as EventId))!;
  return { eventId, principal, dispatches };
}

const turns = (server: TestServer) => server.cortex.store.counts().then((counts) => counts.turns);

test("a person is added, linked, limited and removed, and each change is in the audit log", async () => {
  await using server = await openTestServer({ hooks: FIRES });
  expect((await write(server, "42", "who am I?")).dispatches).toEqual([]);
  const added = await json(
    server,
    "add",
    "ada",
    "--name",
    "Ada L",
    "--identity",
    "telegram:42,email:ada@x.example",
  );
  expect(added).toMatchObject({ id: "ada", name: "Ada L", role: "member", permissions: null, limits: {} });
  const first = await write(server, "42", "hello");
  expect([first.principal, first.dispatches[0]?.session]).toEqual([
    "person:ada",
    "agent:main:telegram:dm:42",
  ]);

  const noBash = '{"tools":{"deny":["Bash"]}}';
  const limited = await json(
    server,
    "limit",
    "ada",
    "--permissions",
    noBash,
    "--per-minute",
    "50",
    "--pending",
    "5",
  );
  expect(limited).toMatchObject({ permissions: JSON.parse(noBash), limits: { perMinute: 50, pending: 5 } });
  const { dispatches } = await write(server, "42", "hello again");
  const item = await server.cortex.store.queue.item(dispatches[0]!.item);
  expect(item!.dispatches).toMatchObject([
    { permissions: { authority: "paired", tools: { deny: ["Bash"] } } },
  ]);
  expect((await json(server, "limit", "ada", "--permissions", "none", "--pending", "none")).limits).toEqual({
    perMinute: 50,
  });

  expect((await json(server, "link", "ada", "telegram:43")).identities).toHaveLength(3);
  expect((await write(server, "43", "me too")).principal).toBe("person:ada");
  expect((await json(server, "link", "ada", "telegram:43", "--remove")).identities).toHaveLength(2);
  expect((await write(server, "43", "me too")).dispatches).toEqual([]);

  expect((await cli(server, "list")).out).toMatch(/ada +member +Ada L +telegram:42 email:ada@x.example/);
  expect((await json(server, "show", "ada")).id).toBe("ada");
  await json(server, "limit", "ada", "--role", "guest");
  expect((await write(server, "42", "still here?")).dispatches).toEqual([]);
  expect((await cli(server, "remove", "ada")).code).toBe(0);
  expect((await cli(server, "show", "ada")).err).toContain('Unknown person "ada"');
  const kinds = (await server.cortex.store.audit.list()).items.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind.startsWith("person.")).toReversed()).toEqual([
    "person.add",
    ...Array.from({ length: 5 }, () => "person.change"),
    "person.remove",
  ]);
});

test("what cannot be is refused", async () => {
  await using server = await openTestServer();
  for (const [argv, error] of [
    [["add", "Ada"], 'Invalid person id "Ada"'],
    [["add", "ada", "--identity", "telegram"], "expected channel:sender"],
    [["add", "ada", "--role", "owner"], "Only one person can be the owner"],
    [["add", "ada", "--role", "king"], "role"],
    [["add", "ada", "--permissions", '{"tool":{}}'], "tool"],
    [["add", "ada", "--permissions", '{"roots":["notes"]}'], "is not absolute"],
    [["add", "ada", "--permissions", "{"], "Invalid JSON in `--permissions`"],
    [["add", "ada", "--pending", "many"], "Expected a number"],
    [["add", "ada", "--identity", "cli:owner"], "expected channel:sender"],
    [["limit", "bob", "--pending", "1"], 'Unknown person "bob"'],
    [["link", "owner", "telegram:1", "--remove"], 'Person "owner" does not have the identity telegram:1'],
    [["limit", "owner", "--role", "guest"], "The owner cannot be removed or get another role"],
    [["remove", "owner"], "The owner cannot be removed or get another role"],
    [["forget", "owner", "--yes"], "The owner cannot be forgotten"],
  ] as const)
    expect((await cli(server, ...argv)).err).toContain(error);
  expect((await json(server, "list")).items).toHaveLength(1);
});

test("whoever is forgotten is removed with what they said, and nothing of the others", async () => {
  const cortex = { channels: { paired: [{ channel: "telegram", sender: "7" }] } };
  await using server = await openTestServer({ hooks: FIRES, cortex });
  const { store } = server.cortex;
  const before = await write(server, "42", "my secret is quince");
  await cli(server, "add", "ada", "--identity", "telegram:42");
  const said = await write(server, "42", "my other secret is medlar");
  const others = await write(server, "7", "mine is pear, too");
  await expect.poll(() => turns(server), PATIENT).toBe(2);
  expect((await cli(server, "forget", "ada")).out).toContain("Nothing was changed");
  expect(await store.people.get("ada")).toBeDefined();

  const exported = (await cli(server, "export", "ada")).out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(exported.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(["person", "event", "turn", "decision"]),
  );
  expect(JSON.stringify(exported)).toMatch(/quince[^]*medlar/);
  expect(JSON.stringify(exported)).not.toContain("too");

  const { out, err } = await cli(server, "forget", "ada", "--yes");
  expect([out, err]).toEqual([expect.stringContaining("Forgot ada."), ""]);
  expect(await store.people.get("ada")).toBeUndefined();
  for (const { eventId } of [before, said])
    expect((await store.events.get(eventId as EventId))?.content).toBeNull();
  expect((await store.events.get(others.eventId as EventId))?.content).toContain("pear");
  const messages = await store.query("select content from agent_messages", []);
  expect(JSON.stringify(messages)).not.toContain("medlar");
  expect(JSON.stringify(messages)).toContain("mine");
  expect((await store.events.search("medlar", {})).length).toBe(0);
  expect(await store.verify()).toMatchObject({ ok: true });
});

const ROOM = "agent:main:telegram:group:-100";

test("two people in one group get a turn each, and a hook that sends a member to main keeps them a member", async () => {
  const hooks = {
    "all.ts": `export default ({ event }) => event.channel !== "telegram" ? { fire: false }
      : event.content === "to main" ? { fire: true, routing: { session: "main" } }
      : { fire: true, routing: { session: "${ROOM}", queue_mode: "collect" } };`,
  };
  await using server = await openTestServer({ hooks });
  for (const id of ["1", "2"]) await cli(server, "add", `p${id}`, "--identity", `telegram:${id}`);
  await write(server, "1", "to main", "1");
  for (const id of ["1", "2", "1"]) await write(server, id, `hello from ${id}`, "-100");
  const read = () =>
    server.cortex.store.query(
      `select principal, session_label as session, json_array_length(query_message_ids) as messages
       from agent_turns order by session, principal`,
      [],
    );
  await expect.poll(read, PATIENT).toEqual([
    { principal: "person:p1", session: "agent:main:main", messages: 1 },
    { principal: "person:p1", session: ROOM, messages: 2 },
    { principal: "person:p2", session: ROOM, messages: 1 },
  ]);
});
