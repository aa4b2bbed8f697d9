import { afterAll, beforeAll, expect, test } from "vitest";

import { openTestServer, type Sending, type TestServer } from "../../test/support/server.ts";
import { createApp } from "./app.ts";
import { Auth } from "./auth.ts";
import { MAX_BODY_BYTES } from "../feature/route.ts";
import { allowedAddresses } from "./guard.ts";
import { route } from "../feature/route.ts";

let shared: TestServer;
beforeAll(async () => {
  shared = await openTestServer();
});
afterAll(() => shared[Symbol.asyncDispose]());

function message(json: unknown): Sending {
  return { method: "POST", path: "/api/messages", json };
}

const JSON_TYPE = { "content-type": "application/json" };

test.each<[string, Sending, number, string]>([
  ["an unknown path", { path: "/api/nothing" }, 404, "route_unknown"],
  ["an unknown path outside the API", { path: "/nothing" }, 404, "route_unknown"],
  ["a path that climbs", { path: "/api/../../etc/passwd" }, 404, "route_unknown"],
  ["a wrong method", { method: "PUT", path: "/api/messages", json: {} }, 405, "method_unsupported"],
  ["OPTIONS, as other sites ask", { method: "OPTIONS", path: "/api/messages" }, 405, "method_unsupported"],
  ["an unknown turn", { path: "/api/turns/01NOSUCHTURN" }, 404, "turn_unknown"],
  ["the thread of an unknown turn", { path: "/api/turns/01NOSUCHTURN/thread" }, 404, "turn_unknown"],
  ["the children of an unknown turn", { path: "/api/turns/01NOSUCHTURN/children" }, 404, "turn_unknown"],
  [
    "a fork of an unknown turn",
    { method: "POST", path: "/api/turns/01NOSUCHTURN/fork" },
    404,
    "turn_unknown",
  ],
  ["an unknown event", { path: "/api/events/http%3Anothing" }, 404, "event_unknown"],
  ["an unknown session", { path: "/api/sessions/nowhere" }, 404, "session_unknown"],
  ["the turns of an unknown session", { path: "/api/sessions/nowhere/turns" }, 404, "session_unknown"],
  [
    "an abort in an unknown session",
    { method: "POST", path: "/api/sessions/no/abort" },
    404,
    "session_unknown",
  ],
  ["a session key that is none", { path: "/api/sessions/a%20b" }, 400, "session_key_invalid"],
  ["a session key that cannot be decoded", { path: "/api/sessions/%E0%A4%A" }, 400, "session_key_invalid"],
  ["an unknown queue item", { method: "DELETE", path: "/api/queue/nothing" }, 404, "item_unknown"],
  ["an unknown dead letter", { path: "/api/dead/nothing" }, 404, "item_unknown"],
  ["a retry of an unknown one", { method: "POST", path: "/api/dead/nothing/retry" }, 404, "item_unknown"],
  ["an unknown delivery", { method: "POST", path: "/api/deliveries/no/retry" }, 404, "delivery_unknown"],
  ["a body that is not JSON", { ...message(undefined), body: "{", headers: JSON_TYPE }, 400, "body_invalid"],
  [
    "a body that is not UTF-8",
    { ...message(undefined), body: Buffer.from([0x22, 0xff, 0x22]), headers: JSON_TYPE },
    400,
    "body_invalid",
  ],
  [
    "a body as a form of another site sends it",
    { ...message(undefined), body: '{"content":"hi"}', headers: { "content-type": "text/plain" } },
    400,
    "body_invalid",
  ],
  ["a body without a type", { ...message(undefined), body: '{"content":"hi"}' }, 400, "body_invalid"],
  [
    "a type that only begins like JSON",
    { ...message({ content: "hi" }), headers: { "content-type": "application/json-seq" } },
    400,
    "body_invalid",
  ],
  ["a body that is too large", message({ content: "x".repeat(MAX_BODY_BYTES) }), 413, "body_too_large"],
  [
    "a body that is too large and does not say so",
    {
      ...message(undefined),
      body: "x".repeat(MAX_BODY_BYTES + 1),
      headers: { ...JSON_TYPE, "content-length": undefined, "transfer-encoding": "chunked" },
    },
    413,
    "body_too_large",
  ],
  ["a message without content", message({}), 400, "request_invalid"],
  ["a message with empty content", message({ content: " \n" }), 400, "request_invalid"],
  ["content that is no text", message({ content: 1 }), 400, "request_invalid"],
  ["content with half a character", message({ content: "\ud83d" }), 400, "request_invalid"],
  ["a list for a message", message([]), 400, "request_invalid"],
  ["an unknown field", message({ content: "hi", sesion: "main" }), 400, "request_invalid"],
  ["an unknown channel", message({ content: "hi", channel: "telegram" }), 400, "request_invalid"],
  ["two targets", message({ content: "hi", session: "main", persona: "atlas" }), 400, "target_conflict"],
  ["an empty target", message({ content: "hi", session: " " }), 400, "target_invalid"],
  ["an unknown thread", message({ content: "hi", thread: "01NOSUCHTURN" }), 404, "turn_unknown"],
  ["an unknown persona", message({ content: "hi", persona: "nobody" }), 404, "persona_unknown"],
  ["an unknown agent", message({ content: "hi", session: "agent:nobody:main" }), 404, "agent_unknown"],
  ["a bad session", message({ content: "hi", session: "a b" }), 400, "session_key_invalid"],
  ["an unknown mode", message({ content: "hi", mode: "shout" }), 400, "queue_mode_unknown"],
  ["an unknown profile", message({ content: "hi", profile: "nothing" }), 400, "profile_unknown"],
  ["smart routing that is not set up", message({ content: "hi", smart: true }), 400, "smart_unconfigured"],
  ["a key that is none", message({ content: "hi", idempotencyKey: "" }), 400, "event_invalid"],
  ["a limit that is no number", { path: "/api/events?limit=many" }, 400, "request_invalid"],
  ["a limit of nothing", { path: "/api/events?limit=0" }, 400, "request_invalid"],
  ["a limit that is too high", { path: "/api/events?limit=1001" }, 400, "request_invalid"],
  ["more turns than come at once", { path: "/api/sessions/main/turns?limit=201" }, 400, "request_invalid"],
  ["a cursor that nobody gave out", { path: "/api/events?cursor=%00" }, 400, "request_invalid"],
  ["an unknown query", { path: "/api/events?limti=5" }, 400, "request_invalid"],
  ["an unknown direction", { path: "/api/events?direction=up" }, 400, "request_invalid"],
  ["a time that is none", { path: "/api/events?since=yesterday" }, 400, "request_invalid"],
  ["a state that is none", { path: "/api/runs?state=odd" }, 400, "request_invalid"],
  ["a stream from nowhere", { path: "/api/stream?lastEventId=x" }, 400, "request_invalid"],
  [
    "an event in the name of the owner",
    { method: "POST", path: "/api/events", json: { adapter: "http", sourceId: "1", content: "hi" } },
    400,
    "event_invalid",
  ],
  [
    "an event in the name of the timer",
    {
      method: "POST",
      path: "/api/events",
      json: { adapter: "timer", sourceId: "2099-01-01T00:00Z", content: "" },
    },
    400,
    "event_invalid",
  ],
  [
    "an event that is nested too deep",
    {
      method: "POST",
      path: "/api/events",
      body: `{"content":"hi","payload":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
      headers: JSON_TYPE,
    },
    400,
    "json_invalid",
  ],
  [
    "an event of an adapter that cannot be",
    { method: "POST", path: "/api/events", json: { adapter: "A b", content: "hi" } },
    400,
    "event_invalid",
  ],
])("%s is refused with what is wrong and what to do", async (_, sending, status, code) => {
  const before = await shared.cortex.store.counts();
  const reply = await shared.send(sending);

  expect([reply.status, reply.json.error.code]).toEqual([status, code]);
  expect(Object.keys(reply.json)).toEqual(["error"]);
  expect(reply.json.error).toEqual({ code, message: expect.any(String), hint: expect.any(String) });
  expect(await shared.cortex.store.counts()).toEqual(before);
});

test("all that is wrong with a request is said at once", async () => {
  const { json } = await shared.send(message({ content: 1, wait: "yes", extra: true }));
  for (const field of ["content", "wait", "extra"]) expect(json.error.message).toContain(field);
});

test("a wrong method says which ones there are", async () => {
  const { headers } = await shared.send({ method: "PUT", path: "/api/sessions/main" });
  expect(headers["allow"]).toBe("GET, PATCH");
});

test.each<[string, Sending["headers"], number, string]>([
  ["no token", { authorization: undefined }, 401, "auth_failed"],
  ["a wrong token", { authorization: "Bearer wrong" }, 401, "auth_failed"],
  ["a foreign Host", { host: "evil.example" }, 403, "origin_forbidden"],
  ["no Host", { host: undefined }, 400, "request_invalid"],
  ["a Host that is no name", { host: "a b/c" }, 400, "request_invalid"],
  ["a foreign Origin", { origin: "https://evil.example" }, 403, "origin_forbidden"],
  ["the Origin of a page without one", { origin: "null" }, 403, "origin_forbidden"],
])("a request with %s is refused on every path but that of health", async (_, headers, status, code) => {
  await using server = await openTestServer(); // its own: wrong tokens are counted
  for (const path of ["/api/sessions", "/api/nothing", "/metrics"]) {
    const reply = await server.send({ path, headers });
    expect([path, reply.status, reply.json.error.code]).toEqual([path, status, code]);
  }
  const health = await server.send({ path: "/api/health", headers });
  expect(health.status).toBe(status === 401 ? 200 : status);
});

test("too many wrong tokens are answered with how long to wait", async () => {
  await using server = await openTestServer();
  const wrong = { path: "/api/sessions", headers: { authorization: "Bearer wrong" } };
  let reply = await server.send(wrong);
  for (let guess = 0; guess < 10; guess++) reply = await server.send(wrong);

  expect([reply.status, reply.json.error.code]).toEqual([429, "auth_limited"]);
  expect(Number(reply.headers["retry-after"])).toBeGreaterThan(0);
  expect((await server.send("/api/sessions")).status).toBe(200);
});

test("a browser that opens the link is logged in, and the link is used up", async () => {
  const { pathname } = new URL(shared.server.loginLink());
  const preview = await shared.send({
    method: "HEAD",
    path: pathname,
    headers: { authorization: undefined },
  });
  expect([preview.status, preview.headers["allow"], preview.headers["set-cookie"]]).toEqual([
    405,
    "GET",
    undefined,
  ]);
  const reply = await shared.send({ path: pathname, headers: { authorization: undefined } });
  expect([reply.status, reply.headers["location"]]).toEqual([302, "/"]);
  const [cookie] = reply.headers["set-cookie"]!;
  const headers = { authorization: undefined, cookie: cookie!.split(";")[0]! };

  expect((await shared.send({ path: "/api/sessions", headers })).status).toBe(200);
  const write = { method: "PATCH", path: "/api/sessions/nowhere", json: {} };
  expect((await shared.send({ ...write, headers })).status).toBe(403);
  expect((await shared.send({ ...write, headers: { ...headers, "x-cortex": "1" } })).status).toBe(404);
  expect((await shared.send({ path: pathname, headers })).status).toBe(401);
});

test("a stream is not opened by whoever only wants its headers", async () => {
  const { status } = await shared.send({ method: "HEAD", path: "/api/stream" });
  expect(status).toBe(405);
  expect((await shared.send({ method: "HEAD", path: "/api/health" })).status).toBe(200);
});

test.each(["/", "/api/health", "/api/nothing", "/api/sessions", "/metrics", "/login/x"])(
  "%s comes with headers that keep a browser from doing anything else with it",
  async (path) => {
    const hosts = [{}, { host: "evil.example" }, { host: "a b" }];
    const replies = await Promise.all(hosts.map((headers) => shared.send({ path, headers })));
    for (const { headers } of replies) {
      expect(headers["access-control-allow-origin"]).toBeUndefined();
      expect(headers).toMatchObject({
        "content-security-policy": expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
      });
    }
  },
);

test("the page for people needs no token, and runs nothing", async () => {
  const { status, text } = await shared.send({ path: "/", headers: { authorization: undefined } });
  expect(status).toBe(200);
  expect(text).toContain("Cortex is up");
  expect(text).not.toContain("<script");
});

test("what nobody expected is logged, and nothing of it is shown", async () => {
  const log: string[] = [];
  const clock = (): number => 0;
  const broken = route({
    method: "get",
    path: "/api/broken",
    needs: "none",
    summary: "Fails",
    answers: { 200: "text/plain" },
    async handle() {
      throw new TypeError("the secret is 42");
    },
  });
  const app = createApp({
    routes: [broken],
    context: {
      cortex: shared.cortex,
      clock,
      version: "1",
      startedAtMs: 0,
      waitMs: 1,
      heartbeatMs: 1,
      closing: new AbortController().signal,
      loop: () => ({ p50Ms: 0, p99Ms: 0, maxMs: 0 }),
      streams: new Set(),
    },
    auth: new Auth({ token: async () => "x", store: shared.cortex.store, clock, port: 1, log: () => {} }),
    addresses: () => allowedAddresses("127.0.0.1", 1),
    log: (line) => log.push(line),
  });
  const incoming = { url: "/api/broken", headersDistinct: { host: ["127.0.0.1:1"] }, socket: {} };
  const reply = await app.request("/api/broken", {}, { incoming });

  expect(reply.status).toBe(500);
  const text = await reply.text();
  expect(JSON.parse(text)).toMatchObject({ error: { code: "internal" } });
  expect(text).not.toMatch(/42|TypeError|\.ts/);
  expect(log).toEqual([expect.stringContaining("TypeError: the secret is 42")]);
});
