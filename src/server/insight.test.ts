import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { DONE, testTool } from "../../test/support/home.ts";
import { openTestServer, PATIENT, type Received, type TestServer } from "../../test/support/server.ts";
import { answer, openReceiver } from "../../test/support/webhook-receiver.ts";

const delivery = { channel: "webhook", place: "ops" };

function post(server: TestServer, json: object): Promise<Received> {
  return server.send({ method: "POST", path: "/api/messages", json });
}

async function why(server: TestServer, id: string): Promise<Received["json"]> {
  const { status, json } = await server.send(`/api/events/${encodeURIComponent(id)}/why?live=1`);
  expect([id, status]).toEqual([id, 200]);
  return json;
}

test("why tells of a message that steered a turn, and of one that was taken back", async () => {
  const started = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const tool = testTool("Work", async () => {
    started.resolve();
    await gate.promise;
    return DONE;
  });
  const script = "- { when: .*, plays: [{ calls: [{ tool: Work }] }, { say: worked }] }";
  await using server = await openTestServer({ script }, { tools: [tool] });
  const working = post(server, { content: "work", wait: true });
  await started.promise;
  const steered = (await post(server, { content: "and hurry", mode: "steer" })).json.eventId;
  const taken = (await post(server, { content: "never mind", mode: "followup" })).json.eventId;
  const [waiting] = (await why(server, taken)).items;
  expect(waiting).toMatchObject({ state: "queued", mode: "followup", turnId: null, settledAt: null });
  await server.send({ method: "DELETE", path: `/api/queue/${waiting.id}` });
  gate.resolve();
  const { eventId, turnId } = (await working).json;

  expect(await why(server, steered)).toMatchObject({
    kind: "event",
    event: { id: steered, content: "and hurry", differing: 0 },
    hooks: [],
    dispatches: [{ hook: "direct", outcome: "queued" }],
    items: [{ state: "merged", mode: "steer", turnId, settledAt: expect.stringMatching(/Z$/) }],
    turns: [
      {
        id: turnId,
        turn: { status: "completed", sourceEventId: eventId, toolCalls: 1 },
        items: [{ eventId }, { eventId: steered, state: "merged" }],
        runs: [{ attempt: 1, state: "completed" }],
      },
    ],
  });
  expect(await why(server, taken)).toMatchObject({
    items: [{ state: "dropped", policy: "owner", settledAt: expect.any(String), turnId: null }],
    turns: [],
  });
  expect((await why(server, turnId)).event.id).toBe(eventId);
});

test("why tells how long each stage of a message took", async () => {
  await using server = await openTestServer();
  const { json } = await post(server, { content: "hello", wait: true });
  const [turn] = (await why(server, json.eventId)).turns;
  const stages = turn.timing as { stage: string; atMs: number; cpuMs: number | null }[];
  expect(stages.map(({ stage }) => stage)).toEqual([
    "received",
    "accepted",
    "queued",
    "claimed",
    "prepared",
    "asked",
    "first byte",
    "answered",
    "committed",
  ]);
  expect(stages.map(({ atMs }) => atMs)).toEqual(stages.map(({ atMs }) => atMs).toSorted((a, b) => a - b));
  expect(stages.filter(({ cpuMs }) => cpuMs === null).map(({ stage }) => stage)).toEqual([
    "received",
    "queued",
  ]);
});

test("why tells of every attempt at a message that is a dead letter", async () => {
  const script = "- { when: .*, plays: [{ fault: '500' }] }";
  const cortex = { broker: { retryMs: 0, maxAttempts: 3 } };
  await using server = await openTestServer({ script, cortex });
  const { eventId } = (await post(server, { content: "hello" })).json;
  await expect.poll(async () => (await why(server, eventId)).items[0].state, PATIENT).toBe("dead");

  const { items, turns } = await why(server, eventId);
  expect(items).toMatchObject([{ state: "dead", error: expect.stringContaining("model_failed") }]);
  expect(turns).toMatchObject([
    {
      id: items[0].turnId,
      turn: null,
      runs: [1, 2, 3].map((attempt) => ({
        attempt,
        state: "failed",
        error: expect.stringContaining("model_failed"),
        endedAt: expect.stringMatching(/Z$/),
      })),
    },
  ]);
});

test("why tells how an answer was delivered, and how often it was tried", async () => {
  await using receiver = await openReceiver();
  receiver.behave((response, request) => {
    receiver.behave(answer(200));
    answer(503)(response, request);
  });
  const cortex = { channels: { webhooks: { ops: { deliverTo: { url: receiver.url } } } } };
  const script = "- { when: .*, plays: [{ say: All is well }] }";
  await using server = await openTestServer({ cortex, script });
  const { eventId } = (await post(server, { content: "status?", delivery, wait: true })).json;
  const read = async () => (await why(server, eventId)).turns[0].deliveries[0];
  await expect.poll(async () => (await read()).state, PATIENT).toBe("sent");

  const sent = await read();
  expect(sent).toMatchObject({
    target: { channel: "webhook", place: "ops" },
    attempt: 2,
    settledAt: expect.any(String),
    chunks: [{ content: "All is well", state: "sent" }],
  });
  expect((await why(server, sent.id)).event.id).toBe(eventId);
});

test("of an id that nothing has, why says what it looked for", async () => {
  await using server = await openTestServer();
  const { status, json } = await server.send("/api/events/nothing/why");
  expect([status, json.error.code]).toEqual([404, "event_unknown"]);
  expect(json.error.message).toMatch(/event, turn, delivery or queue item .*"nothing"/);
});

test("dead messages and dead deliveries are one list, and are tried again or given up by their ids", async () => {
  await using receiver = await openReceiver();
  receiver.behave(answer(410));
  const cortex = { channels: { webhooks: { ops: { deliverTo: { url: receiver.url } } } } };
  const script = `
- { when: ^fail$, plays: [{ fault: refused }] }
- { when: .*, plays: [{ say: Hello }] }`;
  await using server = await openTestServer({ cortex, script });
  await post(server, { content: "fail", session: "one", wait: true });
  const dead = async () => (await server.send("/api/dead")).json.items;
  for (const count of [2, 3]) {
    await post(server, { content: "hi", session: "two", delivery, wait: true });
    await expect.poll(async () => (await dead()).length, PATIENT).toBe(count);
  }
  const letters = await dead();
  expect(letters).toMatchObject([
    { kind: "delivery", session: "two", target: { channel: "webhook", place: "ops" } },
    { kind: "delivery", error: expect.stringContaining("410"), attempts: 1 },
    { kind: "message", session: "one", target: null, error: expect.stringContaining("model_failed") },
  ]);
  const paged: unknown[] = [];
  for (let next: string | null = ""; next !== null;) {
    const { json } = await server.send(`/api/dead?limit=1${next === "" ? "" : `&cursor=${next}`}`);
    paged.push(...json.items);
    next = json.next;
  }
  expect(paged).toEqual(letters);

  const [first, second, message] = letters.map(({ id }: { id: string }) => id);
  expect((await server.send(`/api/dead/${first}`)).json).toMatchObject({
    id: first,
    item: null,
    delivery: { content: "Hello", state: "dead" },
  });
  receiver.behave(answer(200));
  const retried = await server.send({ method: "POST", path: `/api/dead/${first}/retry` });
  expect([retried.status, retried.json]).toEqual([202, { id: first, state: "pending" }]);
  for (const id of [second, message]) {
    const dropped = await server.send({ method: "DELETE", path: `/api/dead/${id}` });
    expect([dropped.status, dropped.json]).toEqual([200, { id, state: "dropped" }]);
    const late = await server.send({ method: "POST", path: `/api/dead/${id}/retry` });
    expect([late.status, late.json.error.code]).toEqual([409, "state_conflict"]);
  }
  expect(await dead()).toEqual([]);
  expect((await server.send("/api/deliveries?state=dropped")).json.items).toMatchObject([{ id: second }]);
});

test("anybody may ask whether Cortex is up, and only its owner how it is doing", async () => {
  await using server = await openTestServer();
  const stranger = { headers: { authorization: undefined } };
  const alive = { status: "ok", version: expect.any(String), store: "sqlite", startedAt: expect.any(String) };
  for (const path of ["/api/health", "/api/health?full=0"]) {
    expect((await server.send({ path, ...stranger })).json).toEqual(alive);
  }
  for (const path of ["/api/health?full=1", "/api/health?full=1&full=0"]) {
    expect((await server.send({ path, ...stranger })).status).toBe(401);
  }
  expect((await server.send("/api/health?full=yes")).status).toBe(400);
  const { status, json } = await server.send("/api/health?full=1");
  const quota = {
    path: expect.any(String),
    limitBytes: expect.any(Number),
    usedBytes: expect.any(Number),
    state: "ok",
  };
  expect([status, json]).toEqual([
    200,
    {
      ...alive,
      status: json.problems.length === 0 ? "ok" : "degraded",
      problems: expect.any(Array),
      uptimeMs: expect.any(Number),
      loop: { p50Ms: expect.any(Number), p99Ms: expect.any(Number), maxMs: expect.any(Number) },
      ledger: { events: 0, turns: 0, sessions: 0 },
      queue: { waiting: 0, sessionsWaiting: 0, oldestWaitingMs: null },
      runs: { running: 0, suspended: 0, stillest: [] },
      deliveries: { pending: 0, sending: 0, unknown: 0, dead: 0, oldestUnknownMs: null },
      dead: { messages: 0, deliveries: 0 },
      hooks: { active: 0, disabled: 0, errored: 0, open: 0, oldestUnjudgedMs: null, broken: [] },
      memory: {
        rssBytes: expect.any(Number),
        heapUsedBytes: expect.any(Number),
        heapLimitBytes: expect.any(Number),
      },
      disk: {
        databaseBytes: expect.any(Number),
        walBytes: expect.any(Number),
        freeBytes: expect.any(Number),
      },
      streams: 0,
      coolDowns: [],
      usageReached: [],
      unsetVariables: [],
      quotas: [
        { kind: "home", ...quota },
        { kind: "workspace", ...quota },
      ],
      channels: [],
    },
  ]);
  expect(json.disk.databaseBytes + json.disk.walBytes).toBeGreaterThan(0);
});

test("a dead letter is a problem that health tells of", async () => {
  await using server = await openTestServer({ script: "- { when: .*, plays: [{ fault: refused }] }" });
  await post(server, { content: "hello", wait: true });
  const { json } = await server.send("/api/health?full=1");
  expect(json).toMatchObject({ status: "degraded", dead: { messages: 1, deliveries: 0 } });
  expect(json.problems).toContainEqual({
    problem: "1 dead letter: 1 message and 0 deliveries",
    hint: expect.stringContaining("cortex dead list"),
  });
});

test("open streams are counted", async () => {
  await using server = await openTestServer();
  const streams = async () => (await server.send("/api/health?full=1")).json.streams;
  const client = new AbortController();
  const headers = { authorization: `Bearer ${server.token}` };
  const response = await fetch(`${server.server.url}/api/stream`, { headers, signal: client.signal });
  await response.body!.getReader().read();
  expect(await streams()).toBe(1);
  client.abort();
  await expect.poll(streams, PATIENT).toBe(0);
});

test("docs/http-api.md names every metric", async () => {
  await using server = await openTestServer();
  const { text } = await server.send("/metrics");
  const docs = readFileSync(new URL("../../docs/http-api.md", import.meta.url), "utf8");
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!);
  expect(names).toContain("cortex_event_loop_delay_seconds");
  expect(names.filter((name) => !docs.includes(`\`${name}\``))).toEqual([]);
});
