/** Ids and names are stored as they are: none of them holds a secret, and what is repeated is still recognized. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { canariesIn, canary, filesBelow } from "./attacks/canary.ts";
import { openTestServer, type TestServer } from "./support/server.ts";
import { SMALL_RELAYS, SMALL_SCRIPT } from "./support/small-relays.ts";

const SECRET = canary("key");
const HOME = {
  cortex: {
    channels: {
      webhooks: { pay: { scheme: "unsigned" } },
      paired: [{ channel: "doorbell", sender: "ada" }],
    },
  },
  relays: SMALL_RELAYS,
  script: SMALL_SCRIPT,
  hooks: {
    "to-named.ts":
      "export const filter = { channels: ['named'] };\n" +
      "export default (ctx) => ({ fire: true, routing: { session: ctx.event.metadata.session } });",
  },
} as const;

const open = () => openTestServer(HOME, { environment: { CANARY_API_KEY: SECRET } });

/** Every file of the home but the one that is searched for: the database, its log, attachments, workspaces. */
function leaks({ cortex, log }: TestServer): string[] {
  const found = [...filesBelow(cortex.home)]
    .filter(([, bytes]) => canariesIn(bytes.toString("latin1"), { SECRET }).length > 0)
    .map(([path]) => path);
  return canariesIn(log.join("\n"), { SECRET }).length > 0 ? [...found, "log"] : found;
}

const post = (server: TestServer, path: string, json: object) => server.send({ method: "POST", path, json });

test("an event whose id holds a secret is stored under its digest, and its redelivery is the same event", async () => {
  await using server = await open();
  const event = { adapter: "doorbell", sourceId: `ring ${SECRET}`, content: "ding" };
  const first = (await post(server, "/api/events", event)).json;
  expect(first).toEqual({ eventId: expect.stringMatching(/^doorbell:sha256:[0-9a-f]{64}$/), fresh: true });
  expect((await post(server, "/api/events", event)).json).toEqual({ ...first, fresh: false });
  const other = { ...event, sourceId: `rang ${SECRET}` };
  expect((await post(server, "/api/events", other)).json.fresh).toBe(true);
  expect((await server.send(`/api/events/${encodeURIComponent(first.eventId)}`)).status).toBe(200);
  expect(leaks(server)).toEqual([]);
});

test("an idempotency key that holds a secret works like any other", async () => {
  await using server = await open();
  const message = { content: "hello", idempotencyKey: `key-${SECRET}`, wait: true };
  const first = (await post(server, "/api/messages", message)).json;
  expect(first.text).not.toBe("");
  expect((await post(server, "/api/messages", message)).json).toMatchObject({
    eventId: first.eventId,
    turnId: first.turnId,
  });
  const changed = await post(server, "/api/messages", { ...message, content: "bye" });
  expect([changed.status, changed.json.error.code]).toEqual([409, "idempotency_conflict"]);
  const command = { content: "/status", idempotencyKey: `status-${SECRET}` };
  expect((await post(server, "/api/messages", command)).status).toBe(200);
  expect((await post(server, "/api/messages", command)).status).toBe(200);
  expect(leaks(server)).toEqual([]);
});

test("a webhook's delivery id, and every name of a place, can hold a secret", async () => {
  await using server = await open();
  const hook = { id: `order-${SECRET}`, total: 3 };
  const [one, two] = [await post(server, "/webhooks/pay", hook), await post(server, "/webhooks/pay", hook)];
  expect([one.json.fresh, two.json.fresh]).toEqual([true, false]);
  const told = `at ${SECRET}`;
  const where = { place: told, topic: told, placeName: told, parentPlace: `${told} too`, account: told };
  const said = { adapter: "doorbell", sender: told, content: told, replyTo: told, ...where };
  expect((await post(server, "/api/events", { ...said, placeKind: "group" })).status).toBe(202);
  expect(leaks(server)).toEqual([]);
});

test("a relay started by a key that holds a secret is started once", async () => {
  await using server = await open();
  const started = { template: "pair", message: "hi", idempotencyKey: `relay-${SECRET}` };
  const { store } = server.cortex;
  const ids = [];
  for (let n = 0; n < 2; n++) ids.push((await post(server, "/api/relays", started)).json.id);
  expect(ids[0]).toMatch(/^thr_/);
  expect(ids[1]).toBe(ids[0]);
  expect((await store.relays.list()).items).toHaveLength(1);
  expect(leaks(server)).toEqual([]);
});

test.each<[string, (server: TestServer) => Promise<{ status: number; text: string }>]>([
  ["session", (server) => post(server, "/api/messages", { content: "hi", session: `about-${SECRET}` })],
  ["session", (server) => post(server, "/api/messages", { content: "hi", session: SECRET.toLowerCase() })],
  [
    "session",
    async (server) => {
      const { turnId } = (await post(server, "/api/messages", { content: "hi", wait: true })).json;
      return post(server, `/api/turns/${turnId}/fork`, { session: `fork-${SECRET}` });
    },
  ],
  [
    "session",
    async (server) => {
      await post(server, "/api/messages", { content: "hi", wait: true });
      return post(server, "/api/messages", { content: `/fork 1 fork-${SECRET}` });
    },
  ],
  ["name", (server) => post(server, "/api/tokens", { name: SECRET, can: ["read"] })],
  ["adapter", (server) => post(server, "/api/events", { adapter: SECRET.toLowerCase(), content: "x" })],
  [
    "channel",
    (server) =>
      post(server, "/api/events", { adapter: "doorbell", channel: SECRET.toLowerCase(), content: "x" }),
  ],
])("a secret is refused as the name of a %s, without repeating it (%#)", async (field, send) => {
  await using server = await open();
  const { status, text } = await send(server);
  expect([status, text]).toEqual([
    400,
    expect.stringContaining(`The ${field} contains the value of a secret`),
  ]);
  expect(text.toLowerCase()).not.toContain(SECRET.toLowerCase());
  expect(leaks(server)).toEqual([]);
});

test("a hook that names a session by a secret fails, and says so", async () => {
  await using server = await open();
  const event = { adapter: "named", sourceId: "1", content: "x", metadata: { session: `s-${SECRET}` } };
  await post(server, "/api/events", event);
  await expect
    .poll(async () => (await server.cortex.store.hooks.runs("to-named")).items.length)
    .toBeGreaterThan(0);
  expect(leaks(server)).toEqual([]);
});

test("the search for a secret would find it", async () => {
  await using server = await openTestServer();
  await post(server, "/api/messages", { content: "hi", idempotencyKey: SECRET, wait: true });
  expect(leaks(server)).not.toEqual([]);
  expect(readFileSync(join(server.cortex.home, "data/token"), "utf8")).not.toContain(SECRET);
});
