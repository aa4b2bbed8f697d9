import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";

import { CLOSED_PORT } from "../../test/support/closed-port.ts";
import type { Profile } from "../model/profile.ts";
import { pingProfile } from "./ping.ts";

interface Listing extends AsyncDisposable {
  readonly url: string;
  readonly asked: readonly { path: string; headers: IncomingHttpHeaders }[];
}

/** A server of models that has only a list of them, or refuses it. */
async function startListing(status: number, ids: readonly string[] = []): Promise<Listing> {
  const asked: { path: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer((request, response) => {
    asked.push({ path: request.url!, headers: request.headers });
    response.writeHead(status, { "content-type": "application/json", connection: "close" });
    response.end(JSON.stringify({ data: ids.map((id) => ({ id })) }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}

function ownServer(baseUrl: string, model = "small"): Profile {
  return { name: "mine", backend: "pi", provider: "openai-compatible", model, baseUrl, fallback: [] };
}

const KEY = "a-key-that-nobody-may-see";
const variable = (name: string): string | undefined => (name === "MINE" ? KEY : undefined);
const parts = { variable, request: fetch };

test.each([
  ["openai-compatible", "/models", "authorization", `Bearer ${KEY}`],
  ["anthropic-compatible", "/v1/models", "x-api-key", KEY],
])("a server that is %s is asked for %s, with the key", async (provider, path, header, value) => {
  await using server = await startListing(200);
  const profile = { ...ownServer(server.url), provider, apiKeyEnv: "MINE" };
  expect(await pingProfile(profile, parts)).toBeUndefined();
  expect(server.asked).toEqual([{ path, headers: expect.objectContaining({ [header]: value }) }]);
});

test("a server without a key is asked without one", async () => {
  await using server = await startListing(200, ["small:latest"]);
  expect(await pingProfile(ownServer(server.url), parts)).toBeUndefined();
  expect(server.asked[0]!.headers).not.toHaveProperty("authorization");
});

test("a key that is refused is named by its variable, and not shown", async () => {
  await using server = await startListing(401);
  const problem = await pingProfile({ ...ownServer(server.url), apiKeyEnv: "MINE" }, parts);
  expect(problem).toMatchObject({ kind: "refused", hint: expect.stringContaining("MINE") });
  expect(JSON.stringify(problem)).not.toContain(KEY);
});

test("a server that fails, or is not there, may be back later", async () => {
  await using failing = await startListing(503);
  expect(await pingProfile(ownServer(failing.url), parts)).toMatchObject({
    kind: "silent",
    message: expect.stringContaining("503"),
  });
  expect(await pingProfile(ownServer(`http://127.0.0.1:${CLOSED_PORT}`), parts)).toMatchObject({
    kind: "silent",
    message: expect.stringMatching(/no response from .*\(ECONNREFUSED\)/),
  });
});

test("a server of one's own that does not have the model says which it has", async () => {
  await using server = await startListing(200, ["large", "small"]);
  expect(await pingProfile(ownServer(server.url, "medium"), parts)).toMatchObject({
    kind: "refused",
    hint: "Available: large, small.",
  });
});

test("a server that is there and has no list is fine", async () => {
  await using server = await startListing(404);
  expect(await pingProfile(ownServer(server.url), parts)).toBeUndefined();
});
