/** What scoped tokens can do over HTTP, and what they cannot. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openTestServer, PATIENT, type Received, type TestServer } from "../../test/support/server.ts";
import { allows, type Need, type Scope } from "../model/scopes.ts";
import { hashToken, mintToken } from "../model/token.ts";
import { FEATURES } from "../runtime/features.ts";
import { describeApi, templateOf } from "./openapi.ts";
import { loadRoutes } from "./routes.ts";

let shared: TestServer;
beforeAll(async () => {
  shared = await openTestServer({ hooks: { "silent.ts": "export default () => ({ fire: false });" } });
});
afterAll(() => shared[Symbol.asyncDispose]());

let count = 0;

/** The header of a new token. */
async function bearer(...can: Scope[]): Promise<{ authorization: string }> {
  const secret = mintToken();
  const id = `token-${++count}`;
  await shared.cortex.store.tokens.create(
    { id, name: id, hash: hashToken(secret), can },
    { principal: "owner" },
  );
  return { authorization: `Bearer ${secret}` };
}

const table = await loadRoutes(FEATURES);
const SCOPES: Readonly<Record<Need, Scope>> = {
  read: "read",
  send: "send",
  approve: "approve",
  admin: "admin",
  ingest: "ingest:door",
};
const needing = table.routes.flatMap(({ method, path, needs }) =>
  needs === "none" ? [] : [{ method: method.toUpperCase(), path, needs }],
);

describe.each(needing)("$method $path", ({ method, path, needs }) => {
  const target = `${path.replaceAll(/:\w+/g, "x")}${path === "/api/health" ? "?full=1" : ""}`;
  const others = Object.values(SCOPES).filter((scope) => !allows({ principal: "", can: [scope] }, needs));

  test(`refuses a token with everything but ${needs}`, async () => {
    const { status, json } = await shared.send({ method, path: target, headers: await bearer(...others) });
    expect([status, json.error.code]).toEqual([403, "scope_missing"]);
    const scope = needs === "ingest" ? "ingest:<adapter>" : needs;
    expect(json.error.hint).toContain(`cortex tokens create <name> --can ${scope}`);
  });

  test(`refuses no token with ${needs} for its scope`, async () => {
    const ends = AbortSignal.timeout(20_000);
    const headers = { ...(await bearer(SCOPES[needs])), host: `127.0.0.1:${shared.server.port}` };
    const url = `http://127.0.0.1:${shared.server.port}${target}`;
    const body = needs === "ingest" ? { body: JSON.stringify({ adapter: "door" }) } : {};
    const type = { "content-type": "application/json" };
    const reply = await fetch(url, { method, headers: { ...headers, ...type }, ...body, signal: ends });
    const isStream = reply.headers.get("content-type") === "text/event-stream";
    const text = isStream ? "" : await reply.text();
    if (isStream) await reply.body!.cancel();
    expect(reply.status).not.toBe(401);
    expect(text).not.toContain("scope_missing");
  });
});

test("what each route needs is in the description of the API", () => {
  const { paths } = describeApi(table, "1");
  for (const { method, path, needs } of table.routes)
    expect(paths[templateOf(path)]![method]).toMatchObject({ "x-cortex-needs": needs });
});

test("only routes with a proof of their own need no token", () => {
  const open = table.routes.filter(({ needs }) => needs === "none");
  expect([...new Set(open.map(({ path }) => path))].toSorted()).toEqual([
    "/in/:channel",
    "/in/:channel/:account",
    "/webhooks/:name",
  ]);
});

async function post(path: string, json: object, headers: { authorization: string }): Promise<Received> {
  return shared.send({ method: "POST", path, json, headers });
}

test("a token that can send sends as the owner, and its name is recorded with the message", async () => {
  const headers = await bearer("send");
  const token = `token-${count}`;
  const { json } = await post("/api/messages", { content: "hi", wait: true }, headers);
  const path = `/api/events/${encodeURIComponent(json.eventId)}`;
  expect((await shared.send(path)).json).toMatchObject({ sender: "owner", channel: "http", token });
  expect((await shared.send(`${path}/why`)).json.event).toMatchObject({ token });
});

test("a token that can send cannot approve by writing /approve or /deny", async () => {
  const { store } = shared.cortex;
  await post("/api/messages", { content: "hello", session: "asks", wait: true }, await bearer("send"));
  for (const content of ["/approve 01ARZ3NDEKTSV4RRFFQ69G5FAV", "/deny 01ARZ3NDEKTSV4RRFFQ69G5FAV no"]) {
    const { status, json } = await post("/api/messages", { content, session: "asks" }, await bearer("send"));
    expect([status, json.error.code]).toEqual([403, "scope_missing"]);
  }
  const { json } = await post(
    "/api/messages",
    { content: "/approve 01ARZ3NDEKTSV4RRFFQ69G5FAV", session: "asks" },
    await bearer("send", "approve"),
  );
  expect(json.error.code).toBe("approval_unknown");
  expect((await store.audit.list()).items.map(({ kind }) => kind)).not.toContain("approval.approve");
});

test("clearing labels is a decision, and needs a token that can approve", async () => {
  const patch = async (json: object, headers: { authorization: string }): Promise<Received> =>
    shared.send({ method: "PATCH", path: "/api/sessions/marked", json, headers });
  await post("/api/messages", { content: "hello", session: "marked", wait: true }, await bearer("send"));
  await shared.cortex.store.sessions.configure("marked" as never, { trust: { private: true } });
  expect((await patch({ mode: "queue" }, await bearer("send"))).status).toBe(200);
  const refused = await patch({ trust: { private: false } }, await bearer("send"));
  expect([refused.status, refused.json.error.code]).toEqual([403, "scope_missing"]);
  expect((await patch({ trust: { private: false } }, await bearer("send", "approve"))).status).toBe(200);
  const [entry] = (await shared.cortex.store.audit.list({ limit: 1 })).items;
  expect(entry).toMatchObject({ kind: "trust.clear", object: "marked", detail: { token: `token-${count}` } });
});

test("enabling a hook is recorded with the token that did it", async () => {
  const headers = await bearer("admin");
  const json = { enabled: false };
  await shared.send({ method: "PATCH", path: "/api/hooks/silent", json, headers });
  const [entry] = (await shared.cortex.store.audit.list({ limit: 1 })).items;
  expect(entry).toMatchObject({
    principal: "owner",
    kind: "hook.disable",
    object: "silent",
    detail: { token: `token-${count}` },
  });
});

describe("a token that can ingest", () => {
  const event = { sourceId: "1", content: "ring" };

  test("takes in events of its adapter, and its name is recorded with them", async () => {
    const headers = await bearer("ingest:telegram");
    const { status, json } = await post("/api/events", { ...event, adapter: "telegram" }, headers);
    expect([status, json]).toEqual([202, { eventId: "telegram:1", fresh: true }]);
    expect((await shared.send("/api/events/telegram%3A1")).json).toMatchObject({
      channel: "telegram",
      token: `token-${count}`,
    });
  });

  test.each<[string, object]>([
    ["another adapter", { adapter: "discord" }],
    ["the default adapter", {}],
    ["another channel", { adapter: "telegram", channel: "discord" }],
    ["the owner's channel", { adapter: "telegram", channel: "http", sender: "owner" }],
    ["an adapter of our own", { adapter: "cli", channel: "cli", sender: "owner" }],
  ])("takes in none of %s", async (_, fields) => {
    const { status, json } = await post(
      "/api/events",
      { ...event, ...fields },
      await bearer("ingest:telegram"),
    );
    expect([status, json.error.code]).toEqual([403, "scope_missing"]);
  });

  test("speaks for no other webhook than its own", async () => {
    const forged = { adapter: "webhook:shop", channel: "webhook", sender: "pay", sourceId: "1" };
    const metadata = { webhook: "pay", type: "paid" };
    const { json } = await post(
      "/api/events",
      { ...event, ...forged, metadata },
      await bearer("ingest:webhook:shop"),
    );
    expect((await shared.send(`/api/events/${encodeURIComponent(json.eventId)}`)).json).toMatchObject({
      principal: "source:webhook:shop",
      sender: "shop",
      metadata: { webhook: "shop", type: "paid" },
    });
  });

  test("takes in events of a source of our own that it names, which the main token cannot", async () => {
    const seen = { adapter: "files", channel: "files", sourceId: "a.md", content: "changed" };
    const owner = { authorization: `Bearer ${shared.token}` };
    expect((await post("/api/events", seen, owner)).json.error.code).toBe("event_invalid");
    expect((await post("/api/events", seen, await bearer("ingest:files"))).status).toBe(202);
  });

  test.each(["http", "cli", "web", "timer", "agent", "cortex", "hook", "relay", "script", "team"])(
    "a token that names the adapter %s takes in nothing of it, even if one were made",
    async (adapter) => {
      const headers = await bearer(`ingest:${adapter}`);
      const claimed = { ...event, adapter, sender: "owner" };
      const { status } = await post("/api/events", claimed, headers);
      expect(status).toBe(403);
    },
  );
});

test("the main token is in the audit log from the start", PATIENT, async () => {
  const { items } = await shared.cortex.store.audit.list({ limit: 1_000 });
  expect(items.map(({ kind }) => kind)).toContain("token.main");
  expect(JSON.stringify(items)).not.toContain(shared.token);
});
