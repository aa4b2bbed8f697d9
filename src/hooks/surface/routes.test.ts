import { expect, test } from "vitest";

import { judge } from "../../../test/support/judged.ts";
import { openTestServer, PATIENT, type TestServer } from "../../../test/support/server.ts";

const EAGER = `/**
 * @name Eager
 * @description Fires for what is loud
 */
export const filter = { channels: ["door"] };
export default async function ({ event, now }) {
  if (event.content === "break") throw new Error("it broke");
  return { fire: event.content === "LOUD", routing: { session: "door" }, context: { extracted: now.getTime() } };
}
`;
const HOOKS = { "eager.ts": EAGER, "wrong.ts": "export default function {" };
const DOOR = { adapter: "door", channel: "door" };

async function open(): Promise<TestServer> {
  const server = await openTestServer({ hooks: HOOKS });
  await expect.poll(() => server.cortex.store.hooks.list(), PATIENT).toHaveLength(2);
  return server;
}

const post = (server: TestServer, path: string, json: unknown) => server.send({ method: "POST", path, json });

test("hooks are listed with what they do, how they do and what is wrong with them", async () => {
  await using server = await open();
  await judge(server.cortex, { channel: "door", content: "LOUD" });
  await judge(server.cortex, { channel: "door", content: "break" });

  const { status, json } = await server.send("/api/hooks");
  expect([status, json.next]).toEqual([200, null]);
  expect(json.items).toMatchObject([
    {
      name: "eager",
      title: "Eager",
      description: "Fires for what is loud",
      mode: "persistent",
      status: "active",
      origin: "person",
      filter: { channels: ["door"] },
      triggers: 1,
      lastRunAt: expect.stringMatching(/Z$/),
      health: { runs: 2, fired: 1, errors: 1, consecutiveErrors: 1, p95Ms: expect.any(Number) },
    },
    { name: "wrong", status: "errored", error: expect.stringContaining("wrong.ts"), lastRunAt: null },
  ]);
});

test("what a hook has judged is listed, newest first", async () => {
  await using server = await open();
  const { event: first } = await judge(server.cortex, { channel: "door", content: "LOUD" });
  const { event: second } = await judge(server.cortex, { channel: "door", content: "break" });

  const { json } = await server.send("/api/hooks/eager/runs");
  expect(json).toMatchObject({
    items: [
      { eventId: second, fired: false, error: expect.stringContaining("it broke"), result: null },
      { eventId: first, fired: true, error: null, result: { fire: true }, llmCalls: 0 },
    ],
    next: null,
  });
  const page = (await server.send("/api/hooks/eager/runs?limit=1")).json;
  expect(page.items).toHaveLength(1);
  const rest = (await server.send(`/api/hooks/eager/runs?cursor=${page.next}`)).json;
  expect(rest.items).toMatchObject([{ eventId: first }]);
});

test("a hook that is disabled is asked nothing, until it is enabled", async () => {
  await using server = await open();
  const patch = (enabled: unknown) =>
    server.send({ method: "PATCH", path: "/api/hooks/eager", json: { enabled } });

  expect(await patch(false)).toMatchObject({ status: 200, json: { name: "eager", status: "disabled" } });
  expect((await judge(server.cortex, { channel: "door", content: "LOUD" })).runs).toEqual([]);
  expect(await patch(true)).toMatchObject({ status: 200, json: { name: "eager", status: "active" } });
  expect((await judge(server.cortex, { channel: "door", content: "LOUD" })).runs).toMatchObject([
    { fired: true },
  ]);
  expect(await patch("yes")).toMatchObject({ status: 400, json: { error: { code: "request_invalid" } } });
});

test("a test says what the hook would do, and does nothing", async () => {
  await using server = await open();
  await server.cortex.hooks.setEnabled("eager", false);
  const ask = async (event: object) =>
    (await post(server, "/api/hooks/eager/test", { event: { ...DOOR, ...event } })).json;

  const timestamp = "2026-03-01T09:00:00.000Z";
  expect(await ask({ content: "LOUD", timestamp })).toMatchObject({
    hook: "eager",
    matches: true,
    fired: true,
    error: null,
    result: { fire: true },
  });
  expect(await ask({ content: "quiet" })).toMatchObject({ matches: true, fired: false, error: null });
  expect(await ask({ content: "LOUD", channel: "window" })).toMatchObject({ matches: false, fired: false });
  expect(await ask({ content: "break" })).toMatchObject({
    fired: false,
    error: expect.stringContaining("it broke"),
  });
  const { events, sessions } = await server.cortex.store.counts();
  expect([events, sessions]).toEqual([0, 0]);
  expect((await server.send("/api/hooks/eager/runs")).json.items).toEqual([]);
});

test("an event of the ledger can be shown to a hook again", async () => {
  await using server = await open();
  const { event } = await judge(server.cortex, { channel: "door", content: "LOUD" });
  expect(await post(server, "/api/hooks/eager/test", { eventId: event })).toMatchObject({
    status: 200,
    json: { fired: true },
  });
  expect((await server.send("/api/hooks/eager/runs")).json.items).toHaveLength(1);
});

test("what cannot be asked is refused, and says why", async () => {
  await using server = await open();
  const refused = async (path: string, json: unknown) => {
    const { status, json: answer } = await post(server, path, json);
    return [status, answer.error.code];
  };
  const path = "/api/hooks/eager/test";
  expect(await refused(path, {})).toEqual([400, "request_invalid"]);
  expect(await refused(path, { event: DOOR, eventId: "x" })).toEqual([400, "request_invalid"]);
  expect(await refused(path, { eventId: "x:y" })).toEqual([404, "event_unknown"]);
  expect(await refused("/api/hooks/nothing/test", { event: DOOR })).toEqual([404, "hook_unknown"]);
  expect(await post(server, "/api/hooks/wrong/test", { event: DOOR })).toMatchObject({
    status: 409,
    json: { error: { code: "hook_failed", message: expect.stringContaining("wrong.ts") } },
  });
  const unknown = { status: 404, json: { error: { code: "hook_unknown" } } };
  expect(await server.send("/api/hooks/nothing/runs")).toMatchObject(unknown);
  const patch = { method: "PATCH", path: "/api/hooks/nothing", json: { enabled: true } };
  expect(await server.send(patch)).toMatchObject(unknown);
});

test("whoever reads along is told when a hook fires, fails and changes", async () => {
  await using server = await open();
  const from = await server.cortex.store.changes.last();
  await judge(server.cortex, { channel: "door", content: "LOUD" });
  await judge(server.cortex, { channel: "door", content: "break" });
  await server.cortex.hooks.setEnabled("eager", false);
  const stop = new AbortController();
  const response = await fetch(`${server.server.url}/api/stream?lastEventId=${from}`, {
    headers: { authorization: `Bearer ${server.token}` },
    signal: stop.signal,
  });
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes('"disabled"')) break;
  }
  stop.abort();
  const told = [...text.matchAll(/^data: (.*hook\..*)$/gm)].map(([, data]) => JSON.parse(data!));
  expect(told).toMatchObject([
    { type: "hook.fired", hook: "eager", eventId: expect.stringMatching(/^door:/) },
    { type: "hook.failed", hook: "eager", eventId: expect.stringMatching(/^door:/) },
    { type: "hook.changed", hook: "eager", state: "disabled" },
  ]);
});
