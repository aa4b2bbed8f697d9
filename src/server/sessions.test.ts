import { expect, test } from "vitest";

import { dispatch, event, session, toSession } from "../../test/support/sample.ts";
import { openTestServer, type TestServer } from "../../test/support/server.ts";
import type { TurnId } from "../model/ids.ts";
import { MAIN_SESSION } from "../model/session-key.ts";
import type { DispatchTarget } from "../store/store.ts";

const ECHO = "- { when: .*, plays: [{ say: 'You said {{message}}' }] }";

async function say(server: TestServer, content: string, session = "main"): Promise<string> {
  const json = { content, session, wait: true };
  return (await server.send({ method: "POST", path: "/api/messages", json })).json.turnId as string;
}

async function pages(server: TestServer, path: string, limit: number) {
  const all: { id?: string; key?: string }[] = [];
  let cursor: string | null = null;
  do {
    const from: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, json } = await server.send(`${path}?limit=${limit}${from}`);
    expect(status).toBe(200);
    expect(json.items.length).toBeLessThanOrEqual(limit);
    all.push(...json.items);
    cursor = json.next;
  } while (cursor !== null);
  return all;
}

test("the turns of a session come newest first, page by page, also while it grows", async () => {
  await using server = await openTestServer({ script: ECHO });
  const turns: string[] = [];
  for (const content of ["a", "b", "c", "d", "e"]) turns.push(await say(server, content));

  const newestFirst = turns.toReversed();
  for (const limit of [1, 2, 5, 6]) {
    const read = await pages(server, "/api/sessions/main/turns", limit);
    expect(read.map(({ id }) => id)).toEqual(newestFirst);
  }
  const first = (await server.send("/api/sessions/agent%3Amain%3Amain/turns?limit=2")).json;
  await say(server, "f");
  const second = (await server.send(`/api/sessions/main/turns?limit=2&cursor=${first.next}`)).json;
  expect(second.items.map(({ id }: { id: string }) => id)).toEqual(newestFirst.slice(2, 4));
  const thread = await pages(server, `/api/turns/${turns[2]}/thread`, 2);
  expect(thread.map(({ id }) => id)).toEqual(newestFirst.slice(2));
  const wrong = await server.send("/api/sessions/main/turns?cursor=nothing");
  expect([wrong.status, wrong.json.error.code]).toEqual([400, "request_invalid"]);
});

test("lists of all kinds are read page by page, nothing twice and nothing missing", async () => {
  await using server = await openTestServer({ script: ECHO });
  for (const session of ["a", "b", "c"]) await say(server, "hi", session);
  const sessions = await pages(server, "/api/sessions", 2);
  expect(sessions.map(({ key }) => key)).toEqual(["c", "b", "a"]);
  for (const [path, count] of [
    ["/api/events", 6],
    ["/api/runs", 3],
  ] as const) {
    const ids = (await pages(server, path, 2)).map(({ id }) => id);
    expect([path, new Set(ids).size, ids.length]).toEqual([path, count, count]);
  }
});

test("a turn says what was asked, what was answered, and what was done for it", async () => {
  const script = "- { when: .*, plays: [{ calls: [{ tool: List, args: { path: . } }] }, { say: looked }] }";
  await using server = await openTestServer({ script });
  const first = await say(server, "look");
  const second = await say(server, "again");

  const { json } = await server.send(`/api/turns/${second}`);
  expect(json).toMatchObject({
    id: second,
    parentId: first,
    depth: 1,
    type: "normal",
    status: "completed",
    session: "agent:main:main",
    agent: "main",
    persona: "atlas",
    query: [{ role: "user", content: "again" }],
    text: "looked",
    toolCalls: [{ name: "List", args: { path: "." }, status: "ok", result: expect.any(String) }],
    model: "offline",
    usage: { input: expect.any(Number), output: expect.any(Number) },
    costUsd: 0,
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    childCount: 0,
  });
  expect(json.toolCalls[0].durationMs).toBeGreaterThanOrEqual(0);
  expect(new Date(json.startedAt).toISOString()).toBe(json.startedAt);
  expect(json.messages.map(({ role }: { role: string }) => role)).toEqual(["user", "assistant", "assistant"]);
  expect(json.messages.at(-1).id).toBe(second);
  const { items } = (await server.send(`/api/turns/${first}/children`)).json;
  expect(items).toMatchObject([{ id: second }]);
  expect(items[0].messages).toBeUndefined();
});

test("a turn is forked, with a first message or without, under a name or without", async () => {
  await using server = await openTestServer({ script: ECHO });
  const root = await say(server, "root");
  const next = await say(server, "next");
  const fork = (json?: unknown, turn = root) =>
    server.send({ method: "POST", path: `/api/turns/${turn}/fork`, json });

  const bare = await fork();
  expect([bare.status, bare.json]).toEqual([201, { session: expect.stringMatching(/^fork-/) }]);
  const named = await fork({ session: "other" });
  expect([named.status, named.json]).toEqual([201, { session: "other" }]);
  const taken = await fork({ session: "other" }, next);
  expect([taken.status, taken.json.error.code]).toEqual([409, "session_exists"]);
  const asked = await fork({ content: "hello", session: "third", wait: true });
  expect([asked.status, asked.json.session, asked.json.text]).toEqual([200, "third", "You said hello"]);
  expect((await server.send(`/api/turns/${asked.json.turnId}`)).json.parentId).toBe(root);
  expect((await fork({ content: "hello" })).status).toBe(202);
  expect((await server.send("/api/sessions/other")).json.head).toBe(root);
});

test.each([{ wait: true }, { mode: "queue" }, { content: " " }, { content: "hi", mode: "shout" }])(
  "a fork with %j is refused and leaves no session behind",
  async (json) => {
    await using server = await openTestServer({ script: ECHO });
    const turn = await say(server, "root");
    expect((await server.send({ method: "POST", path: `/api/turns/${turn}/fork`, json })).status).toBe(400);
    expect((await server.send("/api/sessions")).json.items).toHaveLength(1);
  },
);

test("the mode and the profile of a session are set and reset", async () => {
  await using server = await openTestServer({ script: ECHO });
  await say(server, "hi");
  const patch = (json: unknown) => server.send({ method: "PATCH", path: "/api/sessions/main", json });

  expect((await patch({ mode: "steer+backlog", profile: "offline" })).json).toMatchObject({
    mode: "steer-backlog",
    profile: "offline",
  });
  const turn = await say(server, "hello");
  expect((await server.send(`/api/turns/${turn}`)).json.profile).toBe("offline");
  expect((await patch({ profile: null })).json).toMatchObject({ mode: "steer-backlog", profile: null });
  expect((await patch({})).json.mode).toBe("steer-backlog");
  expect((await patch({ mode: "shout" })).json.error.code).toBe("queue_mode_unknown");
  expect((await patch({ profile: "nothing" })).json.error.code).toBe("profile_unknown");
  expect((await patch({ head: null })).json.error.code).toBe("request_invalid");
  expect((await server.send("/api/sessions/main")).json).toMatchObject({
    mode: "steer-backlog",
    profile: null,
  });
});

test("sessions are shown as a tree, each below the one that opened it, with what it has cost", async () => {
  await using server = await openTestServer({ script: ECHO });
  const turn = await say(server, "hi");
  const { store } = server.cortex;
  expect((await server.send("/api/sessions/main/children")).json).toEqual({ items: [], next: null });

  const worker = {
    parent: MAIN_SESSION,
    parentTurn: turn as TurnId,
    parentCall: "call-1",
    worker: { type: "explore", permissions: {} },
  };
  for (const label of ["one", "two"]) {
    const target = { ...toSession(label), worker } as DispatchTarget;
    await store.events.accept(event(label, { channel: "subagent:explore" }), {
      dispatch: dispatch(label, target),
    });
  }
  const { json } = await server.send("/api/sessions?tree=1");
  expect(json).toMatchObject({
    items: [
      {
        key: "agent:main:main",
        childCount: 2,
        turns: 1,
        costUsd: 0,
        unpriced: 0,
        total: { turns: expect.any(Number), costUsd: 0, unpriced: 0 }, // the workers are at work
        children: [{ key: "one" }, { key: "two" }],
      },
    ],
    next: null,
  });
  const children = (await server.send("/api/sessions/main/children")).json;
  expect(children).toMatchObject({
    items: [
      {
        key: "one",
        parentSession: "agent:main:main",
        parentTurnId: turn,
        parentCallId: "call-1",
        channel: "subagent:explore",
        type: "explore",
        childCount: 0,
      },
      { key: "two" },
    ],
    next: null,
  });
  const unknown = await server.send("/api/sessions/nobody/children");
  expect([unknown.status, unknown.json.error.code]).toEqual([404, "session_unknown"]);

  const { cortex } = server;
  expect((await cortex.getChildSessions(MAIN_SESSION)).map(({ key }) => key)).toEqual(["one", "two"]);
  expect(await cortex.countChildSessions(MAIN_SESSION)).toBe(2);
  expect((await cortex.getParentSession(session("two")))!.key).toBe(MAIN_SESSION);
  expect(await cortex.getParentSession(MAIN_SESSION)).toBeUndefined();
  for (const ask of ["getChildSessions", "countChildSessions", "getParentSession"] as const) {
    await expect(cortex[ask](session("nobody"))).rejects.toMatchObject({ code: "session_unknown" });
  }
});

test("every method of the library that takes a session takes the forms that send does", async () => {
  await using server = await openTestServer();
  const { cortex } = server;
  const { item } = await cortex.send({ content: "hello", session: "main" });
  await cortex.outcome(item, AbortSignal.timeout(60_000));
  for (const name of ["main", " Main ", "agent:main:main", "AGENT:main:main"]) {
    expect(await cortex.getChildSessions(name)).toEqual([]);
    expect(await cortex.countChildSessions(name)).toBe(0);
    expect(await cortex.getParentSession(name)).toBeUndefined();
    expect(await cortex.abort(name)).toBe(false);
  }
});
