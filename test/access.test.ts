/** Tokens, the main token and the audit log: through the command line and HTTP, on a running server. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { hashToken } from "../src/model/token.ts";
import { environmentOf } from "./support/cli.ts";
import { runHere } from "./support/run-here.ts";
import { openTestServer, type Received, type TestServer } from "./support/server.ts";

const cli = async (server: TestServer, ...argv: string[]) => runHere(environmentOf(server.cortex.home), argv);

async function create(server: TestServer, ...argv: string[]): Promise<{ id: string; token: string }> {
  const { out } = await cli(server, "tokens", "create", ...argv, "--json");
  return JSON.parse(out);
}

const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

const mainToken = (server: TestServer): string =>
  readFileSync(join(server.cortex.home, "data", "token"), "utf8").trim();

/** Reads along in the background. */
function listen(server: TestServer, token: string) {
  const told: string[] = [];
  const begun = Promise.withResolvers<void>();
  const ended = (async () => {
    const response = await fetch(`${server.server.url}/api/stream`, as(token));
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      told.push(chunk);
      begun.resolve();
    }
  })();
  return { told, begun: begun.promise, ended };
}

test("a token is printed once, works for what it was made for, and fails at once when it is revoked", async () => {
  await using server = await openTestServer();
  const { out, err } = await cli(server, "tokens", "create", "reader", "--can", "read", "--expires", "30d");
  const token = out.trim();
  expect(token).toMatch(/^ctx_[0-9a-f]{64}$/);
  expect(err).toContain("It is not shown again");
  const listed = await cli(server, "tokens", "list", "--json");
  expect(listed.out).not.toContain(token);
  const [view] = JSON.parse(listed.out).items;
  expect(view).toMatchObject({ name: "reader", can: ["read"], state: "active", revokedAt: null });
  expect(Date.parse(view.expiresAt) - Date.parse(view.createdAt)).toBeGreaterThan(29.9 * 24 * 3_600_000);

  expect((await server.send({ path: "/api/sessions", ...as(token) })).status).toBe(200);
  expect((await cli(server, "tokens", "revoke", view.id)).code).toBe(0);
  expect((await server.send({ path: "/api/sessions", ...as(token) })).status).toBe(401);
  expect((await cli(server, "tokens", "list")).out).toContain("revoked");
  expect((await cli(server, "tokens", "revoke", "nothing")).err).toContain("Unknown token");
});

test("the secret of a token is in no file of the home, and neither is it in the log", async () => {
  await using server = await openTestServer();
  const { token } = await create(server, "sender", "--can", "send");
  const json = { content: `my token is ${token}`, wait: true };
  await server.send({ method: "POST", path: "/api/messages", json, ...as(token) });
  for (const file of ["data/cortex.db", "data/cortex.db-wal"])
    expect(readFileSync(join(server.cortex.home, file)).includes(token)).toBe(false);
  expect(server.log.join("\n")).not.toContain(token);
  expect((await server.cortex.store.tokens.find(hashToken(token)))?.name).toBe("sender");
});

test("a message sent with a token names it", async () => {
  await using server = await openTestServer();
  const { token } = await create(server, "sender", "--can", "send");
  const json = { content: "hello", wait: true };
  const sent = await server.send({ method: "POST", path: "/api/messages", json, ...as(token) });
  const { out } = await cli(server, "why", (sent.json as { eventId: string }).eventId);
  expect(out).toContain("accepted from owner on http with the token sender: hello");
});

test("what a token has open ends when the token is revoked or expires", async () => {
  const clock = { nowMs: Date.now() };
  await using server = await openTestServer({}, { serving: { heartbeatMs: 50, clock: () => clock.nowMs } });
  const revoked = await create(server, "revoked", "--can", "read");
  const expiring = await create(server, "expiring", "--can", "read", "--expires", "12h");
  const streams = [revoked, expiring].map(({ token }) => listen(server, token));
  await Promise.all(streams.map(({ begun }) => begun));
  await cli(server, "tokens", "revoke", revoked.id);
  await streams[0]!.ended;
  expect(streams[0]!.told.join("")).toContain("event: stream.ended");
  expect(streams[1]!.told.join("")).not.toContain("stream.ended");
  clock.nowMs += 13 * 3_600_000;
  await streams[1]!.ended;
  expect(streams[1]!.told.join("")).toContain("event: stream.ended");
});

test("who waits for an answer with a token that is revoked meanwhile gets none", async () => {
  await using server = await openTestServer({
    script: "- { when: .*, plays: [{ say: a private answer, delayMs: 2000 }] }",
  });
  const sender = await create(server, "sender", "--can", "send");
  const json = { content: "hello", wait: true };
  const waiting = server.send({ method: "POST", path: "/api/messages", json, ...as(sender.token) });
  await expect.poll(async () => (await server.cortex.store.runs.list()).items.length).toBe(1);
  await cli(server, "tokens", "revoke", sender.id);
  const { status, text } = await waiting;
  expect([status, text]).toEqual([401, expect.stringContaining("became invalid")]);
  expect(text).not.toContain("a private answer");
});

test("rotation voids the main token at once, tells who is connected, and leaves scoped tokens alone", async () => {
  await using server = await openTestServer();
  const before = mainToken(server);
  const { token: scoped } = await create(server, "reader", "--can", "read");
  const streams = { main: listen(server, before), scoped: listen(server, scoped) };
  await Promise.all(Object.values(streams).map(({ begun }) => begun));
  const { out } = await cli(server, "tokens", "rotate", "--json");
  const after = mainToken(server);
  expect(after).toMatch(/^[0-9a-f]{64}$/);
  expect(after).not.toBe(before);
  expect(out).not.toContain(after);

  await streams.main.ended;
  expect(streams.main.told.join("")).toContain("event: stream.ended");
  await expect.poll(() => streams.scoped.told.join("")).toContain("event: access.changed");
  const statuses = [before, after, scoped].map(
    async (token) => (await server.send({ path: "/api/sessions", ...as(token) })).status,
  );
  expect(await Promise.all(statuses)).toEqual([401, 200, 200]);
  // Commands find the new one.
  expect((await cli(server, "send", "hello", "--wait")).code).toBe(0);
  const { items } = JSON.parse((await cli(server, "audit", "--json")).out);
  const rotations = items.filter(({ kind }: { kind: string }) => kind === "token.main");
  expect(rotations[0]).toMatchObject({
    principal: "owner",
    detail: { fingerprint: JSON.parse(out).fingerprint, before: rotations[1].detail.fingerprint },
  });
  expect(rotations).toHaveLength(2);
});

test("without a server, the main token is replaced, and the next server notes it", async () => {
  await using server = await openTestServer();
  const before = mainToken(server);
  await server.server[Symbol.asyncDispose]();
  expect((await cli(server, "tokens", "rotate")).code).toBe(0);
  expect(mainToken(server)).not.toBe(before);
});

test("the audit log is listed by time and by person, and says who did what with which token", async () => {
  await using server = await openTestServer();
  const admin = await create(server, "laptop", "--can", "admin");
  const post = async (json: object): Promise<Received> =>
    server.send({ method: "POST", path: "/api/tokens", json, ...as(admin.token) });
  const made = await post({ name: "ci", can: ["read", "send"] });
  expect([made.status, made.json.can]).toEqual([201, ["read", "send"]]);
  const { json } = await server.send({ path: "/api/audit?person=owner&limit=1" });
  expect(json.items).toEqual([
    {
      seq: expect.any(Number),
      at: expect.any(String),
      principal: "owner",
      kind: "token.create",
      object: made.json.id,
      detail: { name: "ci", can: ["read", "send"], person: null, expiresAt: null, token: "laptop" },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  ]);
  expect((await server.send({ path: `/api/audit?since=2999-01-01T00:00:00Z` })).json.items).toEqual([]);
  expect((await server.send({ path: "/api/audit?person=nobody" })).json.items).toEqual([]);
  expect((await cli(server, "audit", "--since", "1d")).out).toMatch(/token\.create +\S+ +\{"can"/);
  expect((await cli(server, "verify")).out).toContain("audit entries verified");
});

test.each<[string, object, string]>([
  ["a scope that does not exist", { name: "x", can: ["write"] }, "Invalid scope"],
  ["an adapter of Cortex's own", { name: "x", can: ["ingest:cli"] }, "Invalid scope"],
  ["no scope", { name: "x", can: [] }, "Invalid scope"],
  ["a name with a line break", { name: "x\ny", can: ["read"] }, "Invalid token name"],
  ["a time in the past", { name: "x", can: ["read"], expiresAt: "2020-01-01T00:00:00Z" }, "in the past"],
])("no token is made with %s", async (_, json, message) => {
  await using server = await openTestServer();
  const refused = await server.send({ method: "POST", path: "/api/tokens", json });
  expect([refused.status, refused.json.error.code]).toEqual([400, "request_invalid"]);
  expect(refused.json.error.message).toContain(message);
});

test("the use of a token for something else is in the audit log, once", async () => {
  await using server = await openTestServer();
  const { token } = await create(server, "reader", "--can", "read");
  for (let n = 0; n < 3; n++)
    await server.send({ method: "POST", path: "/api/messages", json: { content: "x" }, ...as(token) });
  const refusals = async () =>
    (await server.cortex.store.audit.list()).items.filter(({ kind }) => kind === "token.refuse");
  await expect.poll(refusals).toHaveLength(1);
  expect(await refusals()).toMatchObject([{ object: "reader", detail: { needs: "send" } }]);
});
