import { expect, test } from "vitest";

import { DONE, testTool } from "../../test/support/home.ts";
import { openTestServer, PATIENT, type Received, type TestServer } from "../../test/support/server.ts";
import type { ItemId } from "../model/ids.ts";

const ECHO = "- { when: .*, plays: [{ say: 'You said {{message}}' }] }";

function post(server: TestServer, json: unknown, path = "/api/messages"): Promise<Received> {
  return server.send({ method: "POST", path, json });
}

/** A tool that waits for the test, in a turn for every message that begins with `work`. */
function openGate() {
  const started = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const tool = testTool("Work", async () => {
    started.resolve();
    await gate.promise;
    return DONE;
  });
  const script = `
- { when: ^work, plays: [{ calls: [{ tool: Work }] }, { say: worked }] }
${ECHO}`;
  return { script, tool, started: started.promise, open: gate.resolve };
}

test("a message is taken in at once, and its answer is found in its session", async () => {
  await using server = await openTestServer({ script: ECHO });
  const sent = await post(server, { content: "hello" });

  expect(sent.status).toBe(202);
  expect(sent.json).toEqual({
    eventId: expect.stringMatching(/^http:/),
    dispatchId: expect.any(String),
    session: "agent:main:main",
  });
  await expect
    .poll(async () => (await server.send("/api/sessions/main/turns")).json.items.length, PATIENT)
    .toBe(1);
  const { json } = await server.send(`/api/events/${encodeURIComponent(sent.json.eventId)}`);
  expect(json).toMatchObject({ content: "hello", sender: "owner", dispatches: [{ hook: "direct" }] });
});

test("whoever waits gets the answer, and what it cost", async () => {
  await using server = await openTestServer({ script: ECHO });
  const { status, json } = await post(server, {
    content: "hello",
    wait: true,
    channel: "cli",
    session: "work",
  });

  expect(status).toBe(200);
  expect(json).toEqual({
    eventId: expect.stringMatching(/^cli:/),
    dispatchId: expect.any(String),
    session: "work",
    turnId: expect.any(String),
    text: "You said hello",
    costUsd: 0,
  });
});

test("the same key is the same message, also at once and also with wait; other content is a conflict", async () => {
  await using server = await openTestServer({ script: ECHO });
  const message = { content: "pay", idempotencyKey: "k1", wait: true };
  const replies = await Promise.all(Array.from({ length: 5 }, () => post(server, message)));
  replies.push(await post(server, message));

  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  expect((await server.cortex.store.counts()).turns).toBe(1);
  const again = await post(server, { content: "pay", idempotencyKey: "k1" });
  expect([again.status, again.json.eventId]).toEqual([202, "http:k1"]);
  const other = await post(server, { content: "pay more", idempotencyKey: "k1", wait: true });
  expect([other.status, other.json.error.code]).toEqual([409, "idempotency_conflict"]);
});

test("who has waited long enough is let go, and finds the answer under the same key", async () => {
  const { script, tool, open } = openGate();
  await using server = await openTestServer({ script }, { tools: [tool], serving: { waitMs: 20 } });
  const message = { content: "work", idempotencyKey: "k1", wait: true };
  const first = await post(server, message);
  expect([first.status, first.json.turnId]).toEqual([202, undefined]);

  open();
  await expect.poll(async () => (await post(server, message)).json.text, PATIENT).toBe("worked");
  expect(tool.calls).toHaveLength(1);
});

test("a client that goes away while it waits changes nothing", async () => {
  const { script, tool, started, open } = openGate();
  await using server = await openTestServer({ script }, { tools: [tool] });
  const client = new AbortController();
  const waiting = fetch(`${server.server.url}/api/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
    body: JSON.stringify({ content: "work", idempotencyKey: "k1", wait: true }),
    signal: client.signal,
  });
  await started;
  client.abort();
  await expect(waiting).rejects.toThrow("aborted");
  open();

  const again = await post(server, { content: "work", idempotencyKey: "k1", wait: true });
  expect([again.status, again.json.text]).toEqual([200, "worked"]);
  expect(tool.calls).toHaveLength(1);
});

test("a turn that fails for good is said to whoever waits, and can be tried again or given up", async () => {
  const script = "- { when: .*, plays: [{ fault: refused }] }";
  await using server = await openTestServer({ script });
  const failed = await post(server, { content: "hello", wait: true });
  expect(failed.status).toBe(502);
  expect(failed.json.error).toMatchObject({
    code: "turn_failed",
    message: expect.stringContaining("model_failed"),
  });

  const { items } = (await server.send("/api/dead")).json;
  expect(items).toMatchObject([{ session: "agent:main:main", attempts: 1, error: expect.any(String) }]);
  const { id } = items[0];
  expect(failed.json.error.hint).toContain(id);
  expect((await server.send(`/api/dead/${id}`)).json).toMatchObject({ id, item: { content: "hello" } });
  const retried = await server.send({ method: "POST", path: `/api/dead/${id}/retry` });
  expect([retried.status, retried.json]).toEqual([202, { id, state: "queued" }]);
  await expect.poll(async () => (await server.send("/api/dead")).json.items.length, PATIENT).toBe(1);
  const dropped = await server.send({ method: "DELETE", path: `/api/dead/${id}` });
  expect([dropped.status, dropped.json]).toEqual([200, { id, state: "dropped" }]);
  const late = await server.send({ method: "DELETE", path: `/api/dead/${id}` });
  expect([late.status, late.json.error.code]).toEqual([409, "state_conflict"]);
});

test("a message that waits can be taken back, and whoever waits for it is told; one that is done cannot", async () => {
  const { script, tool, started, open } = openGate();
  await using server = await openTestServer({ script }, { tools: [tool] });
  const working = post(server, { content: "work", wait: true });
  await started;
  const waiting = post(server, { content: "later", mode: "queue", wait: true });
  await expect
    .poll(async () => (await server.send("/api/queue?session=main")).json.items.length, PATIENT)
    .toBe(1);
  const { items } = (await server.send("/api/queue")).json;
  expect(items).toMatchObject([{ content: "later", mode: "queue", state: "queued", sender: "owner" }]);

  const path = `/api/queue/${items[0].id as ItemId}`;
  const dropped = await server.send({ method: "DELETE", path });
  expect([dropped.status, dropped.json.state]).toEqual([200, "dropped"]);
  const told = await waiting;
  expect([told.status, told.json.error.code]).toEqual([409, "state_conflict"]);
  expect(told.json.error.message).toContain('"owner"');
  open();
  const { turnId, text } = (await working).json;
  expect(text).toBe("worked");
  const [done] = await server.cortex.store.queue.itemsOf(turnId);
  const late = await server.send({ method: "DELETE", path: `/api/queue/${done!.id}` });
  expect([late.status, late.json.error.code]).toEqual([409, "state_conflict"]);
});

test("a run can be aborted, and what runs nowhere cannot", async () => {
  const { script, tool, started, open } = openGate();
  await using server = await openTestServer({ script }, { tools: [tool] });
  const working = post(server, { content: "work", wait: true });
  await started;
  const abort = { method: "POST", path: "/api/sessions/main/abort" };
  const aborted = await server.send(abort);
  expect([aborted.status, aborted.json]).toEqual([200, { session: "agent:main:main", aborted: true }]);
  open();

  const { turnId } = (await working).json;
  expect((await server.send(`/api/turns/${turnId}`)).json.status).toBe("aborted");
  expect((await server.send("/api/runs?state=aborted")).json.items).toMatchObject([{ turnId }]);
  const again = await server.send(abort);
  expect([again.status, again.json.error.code]).toEqual([409, "state_conflict"]);
});

test("an event is taken in once, and hooks decide what becomes of it", async () => {
  await using server = await openTestServer();
  const event = {
    adapter: "doorbell",
    sourceId: "ring-1",
    content: "ding",
    payload: { volume: 11 },
    timestamp: "2026-01-02T03:04:05.000Z",
  };
  const first = await post(server, event, "/api/events");
  expect([first.status, first.json]).toEqual([202, { eventId: "doorbell:ring-1", fresh: true }]);
  expect((await post(server, event, "/api/events")).json.fresh).toBe(false);
  const { json } = await server.send("/api/events/doorbell%3Aring-1");
  const { adapter: channel, content, payload, timestamp } = event;
  expect(json).toMatchObject({ channel, content, payload, timestamp, dispatches: [] });
  const unnamed = await post(server, { content: "dong" }, "/api/events");
  expect(unnamed.json.eventId).toMatch(/^api:sha256:/);
});

test("a command is replied to at once, whether somebody waits or not, and makes no turn", async () => {
  await using server = await openTestServer({ script: ECHO });
  for (const wait of [false, true]) {
    const { status, json } = await post(server, { content: "/queue collect debounce:0", wait });
    expect([status, json]).toEqual([
      200,
      {
        eventId: expect.any(String),
        session: "agent:main:main",
        text: expect.stringContaining("mode: collect (this session)"),
      },
    ]);
  }
  const { status, json } = await post(server, { content: "/queue steer\nhello", wait: true });
  expect([status, json.text, json.reply]).toEqual([
    200,
    "You said hello",
    expect.stringContaining("mode: steer"),
  ]);
  const wrong = await post(server, { content: "/queue cap:0" });
  expect([wrong.status, wrong.json.error.code]).toEqual([400, "request_invalid"]);
});

test("a message that finds no room says so: with 202, or with 409 to whoever waits", async () => {
  const { script, tool, started, open } = openGate();
  const queue = { cap: 1, drop: "new", mode: "followup" };
  await using server = await openTestServer({ cortex: { broker: { queue } }, script }, { tools: [tool] });
  await post(server, { content: "work" });
  await started;
  await post(server, { content: "kept" });
  const { status, json } = await post(server, { content: "too many" });
  expect([status, json.dropped]).toEqual([202, "new"]);
  const waited = await post(server, { content: "too many", wait: true });
  expect([waited.status, waited.json.error.code]).toEqual([409, "state_conflict"]);
  open();
});

test("what an agent replies on the way reaches whoever waits, and NO_REPLY does not", async () => {
  await using server = await openTestServer({
    script: `
- when: ^quick
  plays: [{ calls: [{ tool: reply_to_caller, args: { content: It is done. } }] }, { say: NO_REPLY }]
- when: ^slow
  plays: [{ calls: [{ tool: reply_to_caller, args: { content: I look. } }] }, { say: It is done. }]
- { when: .*, plays: [{ say: NO_REPLY }] }`,
  });
  const answerTo = async (content: string): Promise<unknown> =>
    (await post(server, { content, session: content, wait: true })).json.text;
  expect(await answerTo("quick")).toBe("It is done.");
  expect(await answerTo("slow")).toBe("I look.\n\nIt is done.");
  expect(await answerTo("quiet")).toBe("");
  const { json } = await server.send("/api/sessions/quick/turns");
  expect(json.items).toMatchObject([{ text: "It is done." }]);
  const { item } = await server.cortex.send({ content: "quick", session: "library" });
  const outcome = await server.cortex.outcome(item, AbortSignal.timeout(60_000));
  expect(outcome).toMatchObject({ kind: "turn", text: "It is done." });
});
