import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { openTestCortex } from "../../test/support/home.ts";
import { openTestServer, PATIENT, type TestServer } from "../../test/support/server.ts";
import type { Cortex } from "../runtime/cortex.ts";
import { tokenPath } from "../config/home.ts";
import { serve } from "./serve.ts";
import { MAX_STREAM_TEXT } from "./stream-events.ts";

const SCRIPT = `
- { when: ^look$, plays: [{ calls: [{ tool: List, args: { path: . } }] }, { say: looked around }] }
- { when: ^fail$, plays: [{ fault: refused }] }
- { when: ^long, plays: [{ say: short }] }
- { when: .*, plays: [{ say: 'You said {{message}}' }] }`;

interface Told {
  readonly id: string | undefined;
  readonly type: string | undefined;
  readonly data: ReturnType<typeof JSON.parse>;
}

/** Reads along; what has no data is told too, since its id counts. */
async function* listen(
  server: TestServer,
  query = "",
  headers: Record<string, string> = {},
): AsyncGenerator<Told> {
  const response = await fetch(`${server.server.url}/api/stream${query}`, {
    headers: { authorization: `Bearer ${server.token}`, ...headers },
  });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const blocks = (text + chunk).split("\n\n");
    text = blocks.pop()!;
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
      const data = field("data");
      yield {
        id: field("id"),
        type: field("event"),
        data: data === undefined ? undefined : JSON.parse(data),
      };
    }
  }
}

/** All that is told from a change on, up to a change of the given number; words that pass are left out. */
async function readUntil(server: TestServer, last: number, query: string, headers = {}): Promise<Told[]> {
  const told: Told[] = [];
  for await (const one of listen(server, query, headers)) {
    if (one.data !== undefined && one.type !== "message.delta") told.push(one);
    if (one.id !== undefined && Number(one.id) >= last) break;
  }
  return told;
}

async function say(server: TestServer, content: string, session = "main"): Promise<void> {
  await server.send({ method: "POST", path: "/api/messages", json: { content, session, wait: true } });
}

test("a turn is told as it happens, with what was said and done", async () => {
  await using server = await openTestServer({ script: SCRIPT });
  const told: Told[] = [];
  let said: Promise<void> | undefined;
  for await (const one of listen(server)) {
    said ??= say(server, "look"); // the first line says that the stream is open
    if (one.data !== undefined) told.push(one);
    if (one.type === "turn.committed") break;
  }
  await said;

  const types = new Set(told.map(({ type }) => type));
  for (const type of ["event.accepted", "dispatch.created", "run.state", "message.completed"]) {
    expect(types).toContain(type);
  }
  const find = (type: string) => told.filter((one) => one.type === type).map(({ data }) => data);
  const session = "agent:main:main";
  const [{ turnId, runId }] = find("run.state");
  expect(find("run.state")[0]).toMatchObject({ type: "run.state", session, state: "streaming", attempt: 1 });
  expect(find("run.state").map(({ state }) => state)).toContain("tool");
  expect(find("tool.started")).toMatchObject([{ session, turnId, runId, name: "List", args: { path: "." } }]);
  expect(find("tool.finished")).toMatchObject([{ name: "List", status: "ok", result: expect.any(String) }]);
  expect(find("message.completed").map(({ role, content }) => [role, content])).toEqual(
    expect.arrayContaining([
      ["user", "look"],
      ["assistant", "looked around"],
    ]),
  );
  expect(find("turn.committed")).toMatchObject([
    { session, turnId, status: "completed", turnType: "normal" },
  ]);
  for (const { data, type } of told) expect(data).toMatchObject({ type, at: expect.stringMatching(/Z$/) });
});

test("whoever is cut off anywhere goes on with nothing missing", async () => {
  await using server = await openTestServer({ script: SCRIPT });
  for (const content of ["look", "hello", "fail"]) await say(server, content);
  const last = await server.cortex.store.changes.last();
  const all = await readUntil(server, last, "?lastEventId=0");
  expect(all.length).toBeGreaterThan(20);

  for (let cut = 0; cut <= all.length; cut++) {
    const seen = all.slice(0, cut).findLast(({ id }) => id !== undefined)?.id ?? "0";
    const known = all.findLastIndex(({ id }) => id === seen) + 1;
    expect(known).toBeLessThanOrEqual(cut);
    const rest = known === all.length ? [] : await readUntil(server, last, "", { "last-event-id": seen });
    expect([...all.slice(0, known), ...rest]).toEqual(all);
  }
});

test("changes that belong together share a number, and only the last of them carries it", async () => {
  await using server = await openTestServer({ script: SCRIPT });
  await say(server, "look");
  const last = await server.cortex.store.changes.last();
  const told = await readUntil(server, last, "?lastEventId=0");
  const ids = told.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
  expect(ids.at(-1)).toBe(last);
  expect(ids.length).toBeLessThan(told.length);
});

test("a stream of one session tells nothing of others, and yet its place moves on", async () => {
  await using server = await openTestServer({ script: SCRIPT }, { serving: { heartbeatMs: 10 } });
  await say(server, "hello", "mine");
  await say(server, "hello", "other");
  const last = await server.cortex.store.changes.last();
  const told = await readUntil(server, last, "?session=mine&lastEventId=0");
  expect(told.length).toBeGreaterThan(3);
  expect(new Set(told.map(({ data }) => data.session))).toEqual(new Set(["mine"]));
});

test("the words of an answer are told without an id", async () => {
  await using server = await openTestServer({ script: SCRIPT });
  let said: Promise<void> | undefined;
  for await (const { id, type, data } of listen(server, "?session=main")) {
    said ??= say(server, "hello");
    if (type !== "message.delta") continue;
    expect(id).toBeUndefined();
    expect(data).toMatchObject({ session: "agent:main:main", kind: "text", text: expect.any(String) });
    break;
  }
  await said;
});

test("a reader from a time that is not known here is told to read everything anew", async () => {
  await using server = await openTestServer({ script: SCRIPT });
  for await (const { type, id } of listen(server, "", { "last-event-id": "999999" })) {
    if (type === undefined) continue;
    expect([type, id]).toEqual(["stream.reset", undefined]);
    break;
  }
});

test("a failed run and a session that was changed are told", async () => {
  await using server = await openTestServer({ script: SCRIPT });
  await say(server, "fail");
  await server.send({ method: "PATCH", path: "/api/sessions/main", json: { mode: "queue" } });
  const last = await server.cortex.store.changes.last();
  const told = await readUntil(server, last, "?lastEventId=0");
  const data = told.map((one) => one.data);
  expect(data).toContainEqual(
    expect.objectContaining({ type: "run.state", state: "idle", outcome: "failed" }),
  );
  expect(data).toContainEqual(expect.objectContaining({ type: "queue.changed", state: "dead" }));
  expect(data).toContainEqual(expect.objectContaining({ type: "session.changed", what: "configured" }));
});

test("a long text is cut, and says so", async () => {
  await using server = await openTestServer({ script: SCRIPT });
  await say(server, `long ${"x".repeat(MAX_STREAM_TEXT)}`);
  const last = await server.cortex.store.changes.last();
  const told = await readUntil(server, last, "?lastEventId=0");
  const asked = told.find(({ data }) => data.role === "user")!.data;
  expect([asked.content.length, asked.truncated]).toEqual([MAX_STREAM_TEXT, true]);
});

test("nothing is kept for a client that is gone", async () => {
  await using cortex = await openTestCortex();
  const listening = Promise.withResolvers<AbortSignal>();
  const watched = {
    read(options: Parameters<Cortex["live"]["read"]>[0]) {
      listening.resolve(options.signal);
      return cortex.live.read(options);
    },
  };
  await using server = await serve(
    { ...cortex, live: watched as Cortex["live"] },
    { host: "127.0.0.1", port: 0, log: () => {} },
  );
  const token = readFileSync(tokenPath(cortex.home), "utf8").trim();
  const client = new AbortController();
  await fetch(`${server.url}/api/stream`, {
    headers: { authorization: `Bearer ${token}` },
    signal: client.signal,
  });
  const signal = await listening.promise;
  expect(signal.aborted).toBe(false);
  client.abort();
  await expect.poll(() => signal.aborted, PATIENT).toBe(true);
});

test("a stream ends when the server closes, and the server waits for no stream", async () => {
  const server = await openTestServer();
  const stream = listen(server);
  await stream.next();
  await server.server[Symbol.asyncDispose]();
  await expect(stream.next()).resolves.toMatchObject({ done: true });
  await server[Symbol.asyncDispose]();
});
