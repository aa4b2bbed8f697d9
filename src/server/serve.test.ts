import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { DONE, openTestCortex, testTool, writeHome } from "../../test/support/home.ts";
import * as sample from "../../test/support/sample.ts";
import { openTestServer } from "../../test/support/server.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import { openCortex } from "../runtime/cortex.ts";
import { databasePath } from "../config/home.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { checkBind, openPort, serve } from "./serve.ts";

const quiet = (): void => {};

test("a server says where it is, in its home, for as long as it runs", async () => {
  await using cortex = await openTestCortex();
  const server = await serve(cortex, { host: "127.0.0.1", port: 0, log: quiet });
  const note = join(cortex.home, "data", "server.json");

  expect(JSON.parse(readFileSync(note, "utf8"))).toEqual({
    pid: process.pid,
    startedAt: expect.stringMatching(/Z$/),
    host: "127.0.0.1",
    port: server.port,
  });
  expect((await fetch(`${server.url}/api/health`)).status).toBe(200);
  await server[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  expect(existsSync(note)).toBe(false);
  await expect(fetch(`${server.url}/api/health`)).rejects.toThrow("fetch failed");
});

test("the note of another server is left alone", async () => {
  await using cortex = await openTestCortex();
  const server = await serve(cortex, { host: "127.0.0.1", port: 0, log: quiet });
  const note = join(cortex.home, "data", "server.json");
  writeFileSync(note, '{"pid":1}');
  await server[Symbol.asyncDispose]();
  expect(readFileSync(note, "utf8")).toBe('{"pid":1}');
});

test("a port that is taken is named, and nothing is left behind", async () => {
  await using first = await openTestServer();
  await using cortex = await openTestCortex();
  const { port } = first.server;
  await expect(serve(cortex, { host: "127.0.0.1", port, log: quiet })).rejects.toMatchObject({
    code: "port_in_use",
    message: expect.stringContaining(String(port)),
    hint: expect.stringContaining("--port"),
  });
  expect(existsSync(join(cortex.home, "data", "server.json"))).toBe(false);
});

test("a port is refused before any work begins, and what is asked of one meanwhile waits", async () => {
  using folder = temporaryFolder();
  writeHome(folder.path);
  const opening = { home: folder.path, environment: {} };
  {
    await using store = await openSqliteStore({ path: databasePath(folder.path), clock: Date.now });
    const dispatch = { ...sample.dispatch("left", sample.toSession("work")), hook: "direct" };
    await store.events.accept(sample.event("left"), { dispatch });
  }
  await using first = await openTestServer();
  const { port } = first.server;
  const refused = openCortex({
    ...opening,
    beforeWork: async () => void (await openPort(folder.path, { host: "127.0.0.1", port, log: quiet })),
  });
  await expect(refused).rejects.toMatchObject({ code: "port_in_use" });
  {
    await using store = await openSqliteStore({ path: databasePath(folder.path), clock: Date.now });
    expect(await store.counts()).toMatchObject({ events: 1, turns: 0 });
  }

  await using opened = await openPort(folder.path, { host: "127.0.0.1", port: 0, log: quiet });
  const asked = fetch(`http://127.0.0.1:${opened.port}/api/health`);
  await using cortex = await openCortex(opening);
  await using _ = await serve(cortex, { host: "127.0.0.1", port: 0, log: quiet, opened });
  expect((await asked).status).toBe(200);
});

test("an address that is not this machine's is named", async () => {
  await using cortex = await openTestCortex();
  await expect(serve(cortex, { host: "203.0.113.1", port: 0, log: quiet })).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringContaining("203.0.113.1"),
  });
});

test("a server for all addresses is reached by those of this machine, and says that others read along", async () => {
  await using server = await openTestServer({}, { serving: { host: "0.0.0.0" } });
  expect(server.server.url).toBe(`http://127.0.0.1:${server.server.port}`);
  expect(server.log).toEqual([expect.stringContaining("TLS")]);
  expect((await server.send("/api/sessions")).status).toBe(200);
  const headers = { host: `0.0.0.0:${server.server.port}` };
  expect((await server.send({ path: "/api/sessions", headers })).status).toBe(403);
});

test("a home in which nothing can be written is not served, and the port is free again", async () => {
  await using cortex = await openTestCortex();
  mkdirSync(join(cortex.home, "data", "server.json"));
  await expect(serve(cortex, { host: "127.0.0.1", port: 0, log: quiet })).rejects.toMatchObject({
    code: "home_unwritable",
  });
});

test("a token that others can read is shown to this machine only", () => {
  expect(() => checkBind("127.0.0.1", false)).not.toThrow();
  expect(() => checkBind("0.0.0.0", true)).not.toThrow();
  for (const host of ["0.0.0.0", "::", "192.168.0.7"]) {
    expect(() => checkBind(host, false)).toThrow(expect.objectContaining({ code: "token_unsafe" }));
  }
});

test("who waits when the server closes is told that the message is under way", async () => {
  const started = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const tool = testTool("Work", async () => {
    started.resolve();
    await gate.promise;
    return DONE;
  });
  const script = "- { when: .*, plays: [{ calls: [{ tool: Work }] }, { say: worked }] }";
  await using server = await openTestServer({ script }, { tools: [tool] });
  const waiting = server.send({ method: "POST", path: "/api/messages", json: { content: "go", wait: true } });
  await started.promise;
  const closed = server.server[Symbol.asyncDispose]();
  expect((await waiting).status).toBe(202);
  await closed;
  gate.resolve();
});
