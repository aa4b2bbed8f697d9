import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

import { expect, test } from "vitest";

import { OWN } from "../../../test/support/sub-agents.ts";
import type { Json } from "../../model/json.ts";

interface Line {
  readonly type: string;
  readonly [field: string]: unknown;
}

interface Started extends Disposable {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  readonly ended: Promise<unknown>;
  send(...lines: readonly Json[]): void;
  /** What it says next that is no chunk. */
  next(): Promise<Line>;
}

/** Our own child, spoken to by hand. */
function start(): Started {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(OWN[0]!, OWN.slice(1), {
    env: { PATH, NODE_COMPILE_CACHE },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    ended: once(child, "exit"),
    send: (...sent) => void child.stdin.write(sent.map((line) => `${JSON.stringify(line)}\n`).join("")),
    async next() {
      for (;;) {
        const { value } = await lines.next();
        const line = JSON.parse(value as string) as Line;
        if (line.type !== "chunk") return line;
      }
    },
    [Symbol.dispose]: () => child.kill("SIGKILL"),
  };
}

function init(more: { readonly [name: string]: Json } = {}, instruction = "hello"): Json {
  return {
    type: "init",
    config: { id: "sub_1", instruction },
    agentConfig: { name: "main", profile: "offline", ...more },
  };
}

const READ = { name: "Read", description: "Reads.", parameters: { type: "object" } };

test("an init that comes in pieces of 4,096 bytes is read whole", async () => {
  using started = start();
  const bytes = Buffer.from(`${JSON.stringify(init({ systemPrompt: "ü".repeat(500_000) }))}\n`);
  for (let at = 0; at < bytes.length; at += 4096) {
    const isRead = started.child.stdin.write(bytes.subarray(at, at + 4096));
    if (!isRead) await once(started.child.stdin, "drain");
  }
  expect(await started.next()).toEqual({ type: "ready", version: 2 });
  expect(await started.next()).toMatchObject({ type: "done", result: { success: true } });
});

test("an init of the first version is enough, and one piece of work follows the other", async () => {
  using started = start();
  for (const word of ["hello", "hello again"]) {
    started.send(init({}, word));
    expect(await started.next()).toMatchObject({ type: "ready" });
    expect(await started.next()).toMatchObject({
      type: "done",
      result: { success: true, response: expect.stringContaining("offline model"), costUsd: 0 },
    });
  }
});

test("a tool is requested, and its result is what the model reads", async () => {
  using started = start();
  started.send(init({ tools: [READ] }, '/tool Read {"path": "a"}'));
  expect(await started.next()).toMatchObject({ type: "ready" });
  const { message } = await started.next();
  expect(message).toMatchObject({ role: "assistant", body: { stop: "tools" } });
  const request = await started.next();
  expect(request).toMatchObject({ type: "tool_request", name: "Read", arguments: { path: "a" } });
  started.send({ type: "tool_result", id: request["id"] as string, text: "the content", isError: false });
  expect(await started.next()).toMatchObject({
    type: "done",
    result: { response: expect.stringContaining("the content") },
  });
});

test("a child that is told to stop while it waits for a tool ends with what there is", async () => {
  using started = start();
  started.send(init({ tools: [READ] }, '/tool Read {"path": "a"}'));
  for (const type of ["ready", "message", "tool_request"])
    expect(await started.next()).toMatchObject({ type });
  started.send({ type: "cancel" }, { type: "ping" });
  expect(await started.next()).toEqual({ type: "pong" });
  expect(await started.next()).toMatchObject({
    type: "done",
    result: { success: false, tokensOut: expect.any(Number) },
  });
});

test("a line of a type that a later version may have is passed over", async () => {
  using started = start();
  started.send({ type: "weather", is: "fine" }, { type: "ping" });
  expect(await started.next()).toEqual({ type: "pong" });
});

test("a child ends when its parent is gone, whatever it is doing", async () => {
  using started = start();
  started.send(init({ tools: [READ] }, '/tool Read {"path": "a"}'));
  for (const type of ["ready", "message", "tool_request"])
    expect(await started.next()).toMatchObject({ type });
  started.child.stdin.end();
  expect(await started.ended).toEqual([0, null]);
});

test.each<[string, Json[], string]>([
  ["is not an object", [[1]], "(not an object)"],
  ["sends a line without a type", [{ init: true }], '"type" is not a string'],
  ["lacks what it needs", [{ type: "init", config: { id: "x" } }], '"instruction" is not a string'],
  ["begins in a version that it does not know", [{ ...(init() as object), version: 9 }], "got 9"],
  ["begins before it is done", [init({ tools: [READ] }, "/tool Read {}"), init()], "already working"],
  [
    "answers what nobody asked",
    [init({ tools: [READ] }, "/tool Read {}"), { type: "tool_result", id: "x", text: "" }],
    '"x" was not requested',
  ],
])("a parent that %s is told so, and the child ends", async (_, lines, message) => {
  using started = start();
  started.send(...lines);
  let last: Line;
  do last = await started.next();
  while (last.type !== "error");
  expect(last["error"]).toContain(message);
  expect(await started.ended).toEqual([1, null]);
});

test.each<[string, Json, Line]>([
  [
    "the name of a profile that is not configured",
    "mine",
    { type: "error", code: "profile_unknown", error: expect.stringContaining('"mine"') as unknown },
  ],
  [
    "a backend that it does not have",
    { name: "x", backend: "acp", fallback: [] },
    { type: "error", code: "model_unconfigured", error: expect.stringContaining('"acp"') as unknown },
  ],
])("a child that is given %s says so and takes other work", async (_, profile, expected) => {
  using started = start();
  started.send(init({ profile }));
  expect(await started.next()).toMatchObject({ type: "ready" });
  expect(await started.next()).toMatchObject(expected);
  started.send(init());
  expect(await started.next()).toMatchObject({ type: "ready" });
});
