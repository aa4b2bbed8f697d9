import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { openTestServer, type Sending } from "../../test/support/server.ts";
import { describeApi, templateOf } from "./openapi.ts";
import { FEATURES } from "../runtime/features.ts";
import { loadRoutes } from "./routes.ts";

const table = await loadRoutes(FEATURES);
const { routes } = table;

const names = routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`);

test("every route is described, with all that it takes and gives", () => {
  const { paths, components } = describeApi(table, "1.0.0");
  for (const { method, path, body } of routes) {
    const described = paths[templateOf(path)]![method] as { requestBody?: unknown; responses: object };
    expect(described).toMatchObject({
      summary: expect.any(String),
      responses: { default: expect.anything() },
    });
    expect(described.requestBody !== undefined).toBe(body !== undefined);
  }
  const referred = [...JSON.stringify(paths).matchAll(/#\/components\/schemas\/(\w+)/g)].map(
    ([, name]) => name!,
  );
  for (const name of referred) expect(components.schemas).toHaveProperty(name);
  expect(JSON.stringify(components.schemas)).not.toContain("#/$defs/");
});

test("no two routes are the same", () => {
  expect(new Set(names).size).toBe(names.length);
});

test("the server gives the description of what it serves", async () => {
  await using server = await openTestServer();
  const { status, json } = await server.send("/api/openapi.json");
  expect([status, json.openapi]).toEqual([200, "3.1.0"]);
  const described = Object.entries(json.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(described.toSorted()).toEqual(names.map(templateOf).toSorted());
});

const DOCS = readFileSync(new URL("../../docs/http-api.md", import.meta.url), "utf8");
const sections = DOCS.split(/^### /m)
  .slice(1)
  .map((section): [name: string, text: string] => [/^`([^`]+)`/.exec(section)![1]!, section]);

test("docs/http-api.md has every route and no other", () => {
  expect(sections.map(([name]) => name).toSorted()).toEqual(names.toSorted());
});

/** What is wrong with a request itself, whatever there is or is not to be found. */
const WRONG_REQUEST = new Set([
  "auth_failed",
  "body_invalid",
  "method_unsupported",
  "request_invalid",
  "route_unknown",
]);

test("the examples in docs/http-api.md are requests of their route that the server understands", async () => {
  await using server = await openTestServer({ script: "- { when: .*, plays: [{ say: hello }] }" });
  const message = { method: "POST", path: "/api/messages", json: { content: "hi", wait: true } };
  const { eventId, turnId } = (await server.send(message)).json;
  const things: Record<string, string> = {
    EVENT: encodeURIComponent(eventId),
    TURN: turnId,
    ITEM: "x",
    DELIVERY: "x",
    RELAY: "thr_00000000",
  };

  for (const [name, text] of sections) {
    const example = /^ {4}curl (.*)$/m.exec(text)?.[1];
    expect([name, example]).toEqual([name, expect.any(String)]);
    const sending = requestOf(example!, things);
    const pattern = new RegExp(`^${name.replaceAll(/:\w+/g, "[^/]+")}$`);
    expect(`${sending.method} ${sending.path.split("?")[0]}`).toMatch(pattern);
    if (name === "GET /api/stream") continue; // never ends
    if (name === "POST /api/tokens/rotate") continue; // voids the token of this test
    const { json } = await server.send(sending);
    expect([name, WRONG_REQUEST.has(json?.error?.code)]).toEqual([name, false]);
  }
});

/** A line of curl as the request that it sends. */
function requestOf(example: string, things: Readonly<Record<string, string>>): Sending & { method: string } {
  const body = /-d '(.*)'$/.exec(example)?.[1];
  const path = /\$CORTEX([^ "]*)/
    .exec(example)![1]!
    .replaceAll(/\$(\w+)/g, (_, name: string) => things[name]!);
  const method = /-X (\w+)/.exec(example)?.[1] ?? (body === undefined ? "GET" : "POST");
  const type = example.includes('-H "$JSON"') ? "application/json" : undefined;
  const authorization = example.includes('-H "$AUTH"') ? {} : { authorization: undefined };
  const headers = { "content-type": type, ...authorization };
  return body === undefined ? { method, path, headers } : { method, path, body, headers };
}
