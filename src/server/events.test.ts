import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";

import { openTestServer, PATIENT } from "../../test/support/server.ts";
import { MAX_ATTACHMENT_BYTES } from "../model/event.ts";
import { DAY_MS } from "../model/durations.ts";
import type { TurnId } from "../model/ids.ts";
import { normalizeSessionKey } from "../model/session-key.ts";
import { MAX_EVENT_BODY_BYTES } from "./routes-messages.ts";

const PAIRED = { channels: { paired: [{ channel: "telegram", sender: "42" }] } };
const DM_HOOK = { "all.ts": "export default () => ({ fire: true });" };
const post = (json: object) => ({ method: "POST", path: "/api/events", json });
const message = { adapter: "telegram", sender: "42", content: "hello" };

test("a hook without routing puts a direct message, a group and a topic each into its own session", async () => {
  await using server = await openTestServer({ cortex: PAIRED, hooks: DM_HOOK });
  const sessionOf = async (fields: object): Promise<unknown> => {
    const { eventId } = (await server.send(post({ ...message, ...fields }))).json;
    const path = `/api/events/${encodeURIComponent(eventId)}`;
    const dispatches = async () => (await server.send(path)).json.dispatches;
    await expect.poll(async () => (await dispatches()).length).toBe(1);
    return (await dispatches())[0].session;
  };
  const group = { place: "-100", placeKind: "group", placeName: "Friends", mentionsMe: true };
  expect(await sessionOf({ sourceId: "1", place: "42", placeKind: "dm" })).toBe("agent:main:telegram:dm:42");
  expect(await sessionOf({ sourceId: "2", ...group })).toBe("agent:main:telegram:group:-100");
  expect(await sessionOf({ sourceId: "3", ...group, topic: "7" })).toBe(
    "agent:main:telegram:group:-100:thread:7",
  );
  expect((await server.send("/api/events/telegram%3A2")).json).toMatchObject({
    placeKind: "group",
    mentionsMe: true,
  });
});

test.each(["http", "cli", "web", "timer", "webhook", "files", "agent", "team", "hook", "cortex"])(
  "an event on the channel %s is refused: nobody becomes the owner, a source or an agent by saying so",
  async (channel) => {
    await using server = await openTestServer({ hooks: DM_HOOK });
    const claimed = { adapter: "doorbell", sourceId: "1", channel, sender: "owner", content: "/status" };
    const { status, json } = await server.send(post(claimed));
    expect([status, json.error.code]).toEqual([400, "event_invalid"]);
    expect((await server.send("/api/events/doorbell%3A1")).status).toBe(404);
  },
);

test("a group without a place is refused", async () => {
  await using server = await openTestServer();
  const { status, json } = await server.send(post({ ...message, placeKind: "group" }));
  expect([status, json.error.code, json.error.message]).toEqual([
    400,
    "event_invalid",
    "Missing `place`: the event is from a group",
  ]);
});

test("an attachment of an event is filed, can be fetched, and goes when its event is pruned", async () => {
  let skewMs = 0;
  const clock = (): number => Date.now() + skewMs;
  await using server = await openTestServer({ cortex: PAIRED }, { clock, serving: { clock } });
  const { cortex } = server;
  const attachments = [
    { name: "note.txt", contentType: "text/plain", data: Buffer.from("dear diary").toString("base64") },
    { name: "big", data: Buffer.alloc(MAX_ATTACHMENT_BYTES + 1).toString("base64") },
  ];
  const { json } = await server.send(post({ ...message, sourceId: "1", attachments }));
  const stored = (await server.send(`/api/events/${encodeURIComponent(json.eventId)}`)).json.attachments;
  expect(stored).toMatchObject([
    { name: "note.txt", bytes: 10, state: "stored" },
    { name: "big", state: "too_large" },
  ]);
  const [{ sha256, path }, big] = stored;
  expect(path).toBe(join(cortex.home, "data", "attachments", sha256));
  const file = await server.send(`/api/attachments/${sha256}`);
  expect([file.status, file.text, file.headers["content-disposition"]]).toEqual([
    200,
    "dear diary",
    "attachment",
  ]);
  expect(await cortex.store.query("select name, bytes, status from attachments order by position")).toEqual([
    { name: "note.txt", bytes: 10, status: "stored" },
    { name: "big", bytes: MAX_ATTACHMENT_BYTES + 1, status: "too_large" },
  ]);
  for (const hash of [big.sha256, "0".repeat(64), "..%2F..%2Ftoken"])
    expect((await server.send(`/api/attachments/${hash}`)).status).toBe(404);

  skewMs = 3 * DAY_MS;
  const before = new Date(clock() - 2 * DAY_MS).toISOString();
  await server.send({ method: "POST", path: "/api/prune", json: { before } });
  expect((await server.send(`/api/attachments/${sha256}`)).status).toBe(404);
});

test("an event whose body is too large is refused", async () => {
  await using server = await openTestServer();
  const { status, json } = await server.send(post({ ...message, content: "x".repeat(MAX_EVENT_BODY_BYTES) }));
  expect([status, json.error.code]).toEqual([413, "body_too_large"]);
});

test("an agent reads the files of the messages on its thread, also later and in a fork, and no others", async () => {
  const own = { ...PAIRED, identityLinks: { owner: ["telegram:42"] } }; // their messages are in the main session
  await using server = await openTestServer({ cortex: own, hooks: DM_HOOK });
  const { cortex } = server;
  const folder = join(cortex.home, "data", "attachments");
  const toRead = (text: string): string => {
    const hash = createHash("sha256").update(text).digest("hex");
    return `/tool Read ${JSON.stringify({ path: join(folder, hash) })}`;
  };
  const resultOf = async (field: "t.id" | "t.source_event_id", id: string): Promise<string> => {
    const results = () =>
      cortex.store.query(
        `select c.result_json as said from agent_tool_calls c join agent_turns t on t.id = c.turn_id where ${field} = ?`,
        [id],
      );
    await expect.poll(async () => (await results()).length, PATIENT).toBe(1);
    return String((await results())[0]!["said"]);
  };
  const bring = async (sourceId: string, text: string, fields: object = {}): Promise<string> => {
    const attachments = [{ name: "a.txt", data: Buffer.from(text).toString("base64") }];
    await server.send(post({ ...message, sourceId, content: toRead(text), attachments, ...fields }));
    return resultOf("t.source_event_id", `telegram:${sourceId}`);
  };
  const readIn = async (session: string, text: string): Promise<string> => {
    const json = { content: toRead(text), session, wait: true };
    const { turnId } = (await server.send({ method: "POST", path: "/api/messages", json })).json;
    return resultOf("t.id", turnId);
  };
  const refused = expect.stringContaining("is outside this agent's folders");
  const group = { place: "-100", placeKind: "group", placeName: "Friends", mentionsMe: true };

  expect(await readIn("main", "first")).toEqual(refused);
  expect(await bring("1", "first")).toContain("first");
  expect(await bring("2", "second")).toContain("second");
  expect(await readIn("main", "first")).toContain("first");
  expect(await bring("3", "theirs", group)).toContain("theirs");
  expect(await readIn("main", "theirs")).toEqual(refused);
  expect(await readIn("other", "first")).toEqual(refused);

  const turns = (await server.send("/api/sessions/agent%3Amain%3Amain/turns")).json.items;
  const { id: before } = turns.at(-1);
  for (const [session, turn] of [
    ["all", undefined],
    ["early", before],
  ] as const) {
    const head = (await cortex.store.sessions.head(normalizeSessionKey("main")))!;
    await cortex.store.sessions.fork((turn ?? head) as TurnId, normalizeSessionKey(session));
  }
  expect(await readIn("all", "first")).toContain("first");
  expect(await readIn("early", "first")).toEqual(refused);
});
