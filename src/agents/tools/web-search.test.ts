import { expect, test } from "vitest";

import { page, playWeb, type Site } from "../../../test/support/played-web.ts";
import { callTool, testWorkspace } from "../../../test/support/tool-context.ts";
import type { Json } from "../../model/json.ts";
import type { ToolResult } from "../../model/tool.ts";
import {
  createWebSearchTool,
  MAX_ANSWER_BYTES,
  MAX_FOUND_PAGES,
  MAX_WEB_QUERY_LENGTH,
  MAX_SNIPPET_LENGTH,
  type SearchEndpoint,
} from "./web-search.ts";

async function searchIn(
  site: Site,
  params: Json,
  fields: Partial<SearchEndpoint> = {},
): Promise<ToolResult & { readonly asked: readonly { readonly url: string; readonly headers: object }[] }> {
  using files = testWorkspace();
  await using played = await playWeb(site);
  const url = `http://127.0.0.1:${played.port}/search?q={query}&format=json`;
  const tool = createWebSearchTool({ endpoint: () => ({ url, ...fields }), fetch });
  return { ...(await callTool(tool, params, files.context)), asked: played.received };
}

const json = (answer: unknown): Site => page("application/json", JSON.stringify(answer));

const hit = { title: "A", url: "https://a.example/", content: "about a" };

test("a query is put into the address, and what is found comes as a list", async () => {
  const { text, asked, details } = await searchIn(
    json({ results: [hit, { title: "B", url: "https://b.example/x" }] }),
    { query: " tea & 100% {query}$& " },
  );
  expect(text).toBe("1. A\n   https://a.example/\n   about a\n\n2. B\n   https://b.example/x");
  expect(asked[0]!.url).toBe("/search?q=tea%20%26%20100%25%20%7Bquery%7D%24%26&format=json");
  expect(asked[0]!.headers).not.toHaveProperty("authorization");
  expect(details).toEqual({ found: 2 });
});

test.each([
  ["SearXNG", { query: "x", results: [{ ...hit, engine: "x", score: 1 }], answers: [] }],
  [
    "Brave",
    {
      type: "search",
      web: { results: [{ title: "A", url: hit.url, description: "about <strong>a</strong>" }] },
    },
  ],
  ["Google", { kind: "search", items: [{ title: "A", link: hit.url, snippet: "about a" }] }],
  [
    "a list under data",
    { code: 200, data: [{ title: "A", url: hit.url, description: "about a", content: "all of a" }] },
  ],
  ["Bing", { webPages: { value: [{ name: "A", url: hit.url, snippet: "about a" }] } }],
  ["a bare list", [{ title: "A", href: hit.url, text: "about a" }]],
])("the answer of %s is understood", async (_, answer) => {
  expect((await searchIn(json(answer), { query: "a" })).text).toBe("1. A\n   https://a.example/\n   about a");
});

test("as many are shown as are wanted, and no more than there may be", async () => {
  const results = Array.from({ length: 50 }, () => hit);
  expect((await searchIn(json({ results }), { query: "a" })).details).toEqual({ found: 8 });
  expect((await searchIn(json({ results }), { query: "a", limit: 3 })).details).toEqual({ found: 3 });
  const most = { query: "a", limit: MAX_FOUND_PAGES };
  expect((await searchIn(json({ results }), most)).details).toEqual({ found: MAX_FOUND_PAGES });
});

test("what is no page is left out, and long or broken texts are made readable", async () => {
  const results = [
    null,
    "text",
    { title: "no address" },
    { title: "a script", url: "javascript:alert(1)" },
    { title: 5, url: "https://untitled.example/x", content: "a\n\u001b[31mb\0" },
    { ...hit, content: "x".repeat(MAX_SNIPPET_LENGTH + 1) },
  ];
  const { text } = await searchIn(json({ results }), { query: "a" });
  expect(text).toBe(
    "1. untitled.example\n   https://untitled.example/x\n   a b\ufffd\n\n" +
      `2. A\n   https://a.example/\n   ${"x".repeat(MAX_SNIPPET_LENGTH)}…`,
  );
});

test("nothing found is said", async () => {
  expect((await searchIn(json({ results: [] }), { query: "a" })).text).toBe('No results for "a".');
});

const keyOf = (value: string | undefined) => ({ variable: "SEARCH_KEY", value });

test.each([undefined, ""])("where the variable of the key is %j, nothing is asked", async (value) => {
  let asked = 0;
  const site: Site = (response) => void response.end(`${asked++}`);
  await expect(searchIn(site, { query: "a" }, { apiKey: keyOf(value) })).rejects.toMatchObject({
    code: "tool_failed",
    message: "Missing search API key: SEARCH_KEY is not set",
    hint: expect.stringContaining("webSearch.apiKeyEnv"),
  });
  expect(asked).toBe(0);
});

test("the key goes where the service wants it", async () => {
  const bearer = await searchIn(json([]), { query: "a" }, { apiKey: keyOf("secret") });
  expect(bearer.asked[0]!.headers).toMatchObject({ authorization: "Bearer secret" });
  const fields = { apiKey: keyOf("secret"), apiKeyHeader: "X-Subscription-Token" };
  const brave = await searchIn(json([]), { query: "a" }, fields);
  expect(brave.asked[0]!.headers).toMatchObject({ "x-subscription-token": "secret" });
  expect(brave.asked[0]!.headers).not.toHaveProperty("authorization");
});

const status =
  (code: number, headers = {}): Site =>
  (response) =>
    void response.writeHead(code, headers).end();

test.each([
  ["wants another key", status(401), "webSearch.apiKeyEnv"],
  ["is tired", status(429), "Try again later"],
  ["is broken", status(500), "Try again later"],
  ["leads elsewhere", status(302, { location: "https://elsewhere.example/" }), "webSearch"],
  ["is gone", (response) => void response.destroy(), "webSearch"],
  ["has only pages for people", page("text/html", "<html>"), "format=json"],
  ["has something else", json({ hello: "world" }), "format=json"],
  ["has no list", json({ results: { a: 1 } }), "format=json"],
  ["has nothing", json(null), "format=json"],
  [
    "has too much",
    page("application/json", JSON.stringify("x".repeat(MAX_ANSWER_BYTES))),
    "more specific query",
  ],
] satisfies [string, Site, string][])("a service that %s is an error with a hint", async (_, site, hint) => {
  await expect(searchIn(site, { query: "a" }, { apiKey: keyOf("hunter2") })).rejects.toMatchObject({
    code: "tool_failed",
    message: expect.not.stringContaining("hunter2"),
    hint: expect.stringContaining(hint),
  });
});

test("without a service, the error says how to configure one", async () => {
  using files = testWorkspace();
  const tool = createWebSearchTool({ endpoint: () => undefined, fetch });
  await expect(callTool(tool, { query: "a" }, files.context)).rejects.toMatchObject({
    code: "tool_failed",
    message: "No search service is configured",
    hint: expect.stringContaining(
      '"webSearch": { "url": "http://localhost:8080/search?q={query}&format=json" }',
    ),
  });
});

test("a search can be stopped", async () => {
  const stop = new AbortController();
  await using silent = await playWeb(() => stop.abort());
  using files = testWorkspace({ signal: stop.signal });
  const tool = createWebSearchTool({
    endpoint: () => ({ url: `http://127.0.0.1:${silent.port}/{query}` }),
    fetch,
  });
  await expect(callTool(tool, { query: "a" }, files.context)).rejects.toMatchObject({
    message: "WebSearch was stopped before it finished",
  });
});

test.each([
  {},
  { query: " " },
  { query: "x".repeat(MAX_WEB_QUERY_LENGTH + 1) },
  { query: "a", limit: MAX_FOUND_PAGES + 1 },
])("a call that cannot be made is refused (%#)", async (params) => {
  await expect(searchIn(json([]), params)).rejects.toMatchObject({ code: "tool_input_invalid" });
});
