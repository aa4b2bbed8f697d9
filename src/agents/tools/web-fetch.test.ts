import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from "node:tls";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";

import { makeCertificate } from "../../../test/support/certificate.ts";
import {
  page,
  playWeb,
  type PlayedWeb,
  PUBLIC_ADDRESS,
  redirectTo,
} from "../../../test/support/played-web.ts";
import { callTool, EVERYTHING, testWorkspace } from "../../../test/support/tool-context.ts";
import type { ToolContext, ToolResult } from "../../model/tool.ts";
import { MAX_SHOWN_BYTES } from "./output.ts";
import { MAX_PAGE_BYTES } from "./web-body.ts";
import { MAX_URL_LENGTH } from "./web-destination.ts";
import { createWebFetchTool } from "./web-fetch.ts";
import { MAX_REDIRECTS, web as realWeb } from "./web-request.ts";

async function fetchPage(
  { web }: Pick<PlayedWeb, "web">,
  url: string,
  fields: Partial<ToolContext> = {},
): Promise<ToolResult> {
  using files = testWorkspace(fields);
  return await callTool(createWebFetchTool({ web }), { url }, files.context);
}

test("a page is fetched from the address of its name and shown as text", async () => {
  await using played = await playWeb(
    page("text/html; charset=utf-8", "<title>News</title><h1>Today</h1><p>All is <b>well</b>."),
  );
  expect(await fetchPage(played, "http://example.com:8080/a?b=1#c")).toEqual({
    text: "Title: News\n\n# Today\n\nAll is well.\n\n[200 http://example.com:8080/a?b=1#c (text/html)]",
    isError: false,
    details: { url: "http://example.com:8080/a?b=1#c", status: 200, type: "text/html" },
  });
  expect(played.reached).toEqual([PUBLIC_ADDRESS]);
  expect(played.received).toEqual([
    {
      url: "/a?b=1",
      headers: {
        host: "example.com:8080",
        "user-agent": "Cortex/1 (agent; WebFetch)",
        accept: expect.any(String),
        "accept-encoding": "gzip, br",
        connection: "close",
      },
    },
  ]);
});

test("it brings in words of strangers and tells others what is asked for", () => {
  expect(createWebFetchTool()).toMatchObject({
    trust: { untrusted: true, outward: true },
    writes: false,
    repeatable: true,
  });
});

test.each([
  ["application/json", '{"a": [1, 2]}'],
  ["text/plain", "a < b\n\n  c"],
  ["application/ld+json", "{}"],
  ["application/rss+xml; charset=utf-8", "<rss><title>x</title></rss>"],
  ["text/markdown", "# Title"],
])("%s is shown as it is", async (type, body) => {
  await using played = await playWeb(page(type, body));
  expect((await fetchPage(played, "http://example.com")).text).toContain(`${body}\n\n[200 `);
});

test("of what is no text, type and size are said and nothing is read", async () => {
  await using picture = await playWeb(page("image/png", Buffer.alloc(1234), { "content-length": "1234" }));
  expect((await fetchPage(picture, "http://example.com/a.png")).text).toBe(
    "(no content)\n\n[200 http://example.com/a.png (image/png)]\n" +
      "[Not shown: image/png is not text (size: 1234 bytes)]",
  );
  await using liar = await playWeb(page("text/plain", Buffer.from("PK\0\u0001")));
  expect((await fetchPage(liar, "http://example.com")).text).toContain("[Not shown: it is not text");
  await using shy = await playWeb((response) => void response.end("plain words"));
  expect((await fetchPage(shy, "http://example.com")).text).toContain(
    "plain words\n\n[200 http://example.com/ (no type)]",
  );
});

test.each([
  ["the header", "text/html; charset=iso-8859-1", Buffer.from("<p>Caf\u00e9", "latin1"), "Café"],
  ["the header, in quotes", 'text/plain; charset="windows-1251"', Buffer.from([0xcf, 0xf0]), "Пр"],
  ["the page", "text/html", Buffer.from("<meta charset='iso-8859-1'><p>Caf\u00e9", "latin1"), "Café"],
  ["nobody", "text/html", Buffer.from("<p>Café"), "Café"],
  ["somebody, wrongly", "text/html; charset=klingon", Buffer.from("<p>Café"), "Café"],
])("the encoding is as %s says", async (_, type, body, shown) => {
  await using played = await playWeb(page(type, body));
  expect((await fetchPage(played, "http://example.com")).text).toContain(`${shown}\n\n[`);
});

test("control characters are not shown", async () => {
  await using played = await playWeb(page("text/plain; charset=utf-8", "\u001b[31mred\u001b[0m\0\ttab"));
  expect((await fetchPage(played, "http://example.com")).text).toContain("red\ufffd\ttab\n");
});

test("an error page is an error, and what it says is shown", async () => {
  await using played = await playWeb(
    (response) => void response.writeHead(404, { "content-type": "text/plain" }).end("No such page"),
  );
  expect(await fetchPage(played, "http://example.com/x")).toMatchObject({
    text: "No such page\n\n[404 http://example.com/x (text/plain)]",
    isError: true,
  });
});

test("of a long page the beginning is shown, and all of it is in a file", async () => {
  using files = testWorkspace();
  const body = "word\n".repeat(MAX_SHOWN_BYTES / 4);
  await using played = await playWeb(page("text/plain", body));
  const tool = createWebFetchTool({ web: played.web });
  const { text } = await callTool(tool, { url: "http://example.com" }, files.context);
  const path = join(files.context.outputFolder, "turn-1-0.txt");
  expect(text).toContain(`[Truncated. The full text is in ${path}]\n\n[200 `);
  expect(readFileSync(path, "utf8")).toBe(body.trimEnd());
});

test.each([
  ["gzip", gzipSync],
  ["x-gzip", gzipSync],
  ["br", brotliCompressSync],
  ["deflate", deflateSync],
])("a page packed with %s is unpacked", async (encoding, pack) => {
  const headers = { "content-encoding": encoding };
  await using played = await playWeb(page("text/plain", pack(Buffer.from("unpacked")), headers));
  expect((await fetchPage(played, "http://example.com")).text).toContain("unpacked\n\n[200");
});

test("a page that is packed in an unknown way, or badly, is an error that says so", async () => {
  for (const encoding of ["zip", "gzip, gzip", "__proto__"]) {
    await using played = await playWeb(page("text/plain", "x", { "content-encoding": encoding }));
    await expect(fetchPage(played, "http://example.com")).rejects.toMatchObject({ code: "tool_failed" });
  }
  await using broken = await playWeb(page("text/plain", "no gzip", { "content-encoding": "gzip" }));
  expect((await fetchPage(broken, "http://example.com")).text).toContain("received only 0 bytes of the page");
});

test.each([
  ["gzip", gzipSync],
  ["br", brotliCompressSync],
])("a bomb packed with %s is read no further than any other page", async (encoding, pack) => {
  const bomb = pack(Buffer.alloc(8 * MAX_PAGE_BYTES, "x"));
  await using played = await playWeb(page("text/plain", bomb, { "content-encoding": encoding }));
  const { text } = await fetchPage(played, "http://example.com");
  expect(text).toContain(`[The page is longer: only its first ${MAX_PAGE_BYTES} bytes were read]`);
});

test("a page without an end is read as far as any other", async () => {
  const closed = Promise.withResolvers<void>();
  await using played = await playWeb((response) => {
    response.writeHead(200, { "content-type": "text/plain" });
    const pour = (): void => {
      while (!response.closed && response.write("for ever ".repeat(1000)));
    };
    response.on("drain", pour).on("close", closed.resolve);
    pour();
  });
  const { text } = await fetchPage(played, "http://example.com");
  expect(text).toContain(`only its first ${MAX_PAGE_BYTES} bytes were read`);
  await closed.promise;
});

test("a page that comes too slowly is shown as far as it came", async () => {
  const closed = Promise.withResolvers<void>();
  await using played = await playWeb((response) => {
    response.writeHead(200, { "content-type": "text/plain" }).write("begun");
    response.on("close", closed.resolve);
  });
  using files = testWorkspace();
  const tool = createWebFetchTool({ web: played.web, timeoutMs: 2000 });
  const { text } = await callTool(tool, { url: "http://example.com" }, files.context);
  expect(text).toContain("begun\n\n[200 ");
  expect(text).toContain("[Connection lost: received only 5 bytes of the page]");
  await closed.promise;
});

test("a page that breaks off is shown as far as it came", async () => {
  await using played = await playWeb((response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-length": "1000" });
    response.write("begun", () => response.destroy());
  });
  expect((await fetchPage(played, "http://example.com")).text).toContain("received only 5 bytes of the page");
});

test("a server that does not answer in time is an error that says so", async () => {
  await using silent = await playWeb(() => {});
  using files = testWorkspace();
  const tool = createWebFetchTool({ web: silent.web, timeoutMs: 200 });
  await expect(callTool(tool, { url: "http://example.com" }, files.context)).rejects.toMatchObject({
    code: "tool_failed",
    message: "Timed out after 0.2 s",
  });
});

test("a resolver that does not answer is not waited for", async () => {
  using files = testWorkspace();
  const web = { ...realWeb, lookup: () => new Promise<never>(() => {}) };
  const tool = createWebFetchTool({ web, timeoutMs: 200 });
  await expect(callTool(tool, { url: "http://example.com" }, files.context)).rejects.toMatchObject({
    message: "Timed out after 0.2 s",
  });
});

test("a fetch can be stopped, before the answer and while it is read", async () => {
  for (const head of [false, true]) {
    const arrived = Promise.withResolvers<void>();
    await using played = await playWeb((response) => {
      if (head) response.writeHead(200, { "content-type": "text/plain" }).write("begun");
      arrived.resolve();
    });
    const stop = new AbortController();
    const call = fetchPage(played, "http://example.com", { signal: stop.signal });
    void arrived.promise.then(() => stop.abort());
    await expect(call).rejects.toMatchObject({ message: "WebFetch was stopped before it finished" });
  }
});

test.each([
  ["cuts the connection", (response) => void response.destroy()],
  ["talks nonsense", (response) => void response.socket!.end("nonsense\r\n\r\n")],
  [
    "has no end of headers",
    (response) => void response.socket!.write(`HTTP/1.1 200 OK\r\nx: ${"x".repeat(1e5)}`),
  ],
  [
    "changes the protocol",
    (response) =>
      void response.socket!.write(
        "HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: ssh\r\n\r\nhello",
      ),
  ],
] satisfies [string, Parameters<typeof playWeb>[0]][])("a server that %s is an error", async (_, site) => {
  await using played = await playWeb(site);
  await expect(fetchPage(played, "http://example.com")).rejects.toMatchObject({
    code: "tool_failed",
    message: expect.stringContaining('No response from host "example.com"'),
  });
});

test("redirects are followed, relative ones too, and the last URL is said", async () => {
  await using played = await playWeb((response, request) => {
    const next: Record<string, string> = {
      "/a": "b?c",
      "/b?c": "//other.example/d",
      "/d": "http://third.example/",
    };
    const location = next[request.url!];
    if (location === undefined) page("text/plain", "there")(response, request);
    else redirectTo(location, 307)(response, request);
  });
  const { text } = await fetchPage(played, "http://example.com/a");
  expect(text).toBe("there\n\n[200 http://third.example/ (text/plain)]");
  expect(played.lookups).toEqual(["example.com", "example.com", "other.example", "third.example"]);
  expect(played.received.map(({ headers }) => headers.referer ?? headers.cookie)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test("not too many redirects are followed", async () => {
  await using played = await playWeb(redirectTo("/again"));
  await expect(fetchPage(played, "http://example.com/")).rejects.toMatchObject({
    message: `Too many redirects (limit ${MAX_REDIRECTS})`,
  });
  expect(played.received).toHaveLength(MAX_REDIRECTS + 1);
});

test("a redirect without a place to go is a page", async () => {
  await using played = await playWeb((response) => void response.writeHead(302).end());
  expect((await fetchPage(played, "http://example.com/")).text).toContain("[302 ");
});

test.each([
  "http://127.0.0.1/",
  "http://localhost/",
  "http://169.254.169.254/latest/meta-data/",
  "//[::ffff:127.0.0.1]/",
  "http://2130706433/",
  "http://0x7f.1/",
  "http://forbidden.example/",
  "file:///etc/passwd",
  "https://user:secret@example.com/",
  "http://[",
])("a redirect to %s leads nowhere", async (location) => {
  const names = { localhost: [["127.0.0.1"]] };
  await using played = await playWeb(redirectTo(location), names);
  const permissions = { ...EVERYTHING, hosts: [["example.com", "local*", "1*", "[*]"]] };
  await expect(fetchPage(played, "http://example.com/", { permissions })).rejects.toMatchObject({
    code: expect.stringMatching(/^(host_forbidden|tool_input_invalid)$/),
  });
  expect(played.received).toHaveLength(1);
  expect(played.reached).toEqual([PUBLIC_ADDRESS]);
});

test("a name that changes its address meanwhile leads nowhere else", async () => {
  await using played = await playWeb(page("text/plain", "hello"), {
    "rebind.example": [[PUBLIC_ADDRESS], ["127.0.0.1"]],
  });
  await fetchPage(played, "http://rebind.example/");
  expect(played.lookups).toEqual(["rebind.example"]); // asked once: there is no second answer
  expect(played.reached).toEqual([PUBLIC_ADDRESS]);
});

test("a redirect to the same name looks at its address again", async () => {
  await using played = await playWeb(redirectTo("/again"), {
    "rebind.example": [[PUBLIC_ADDRESS], ["127.0.0.1"]],
  });
  await expect(fetchPage(played, "http://rebind.example/")).rejects.toMatchObject({ code: "host_forbidden" });
  expect(played.reached).toEqual([PUBLIC_ADDRESS]);
});

test("the connection is made to the address that was judged, whatever the system's resolver says", async () => {
  await using played = await playWeb(page("text/plain", "my files"));
  // Nobody else knows this name. The first address refuses connections.
  const lookup = async () => [
    { address: "127.0.0.2", family: 4 },
    { address: "127.0.0.1", family: 4 },
  ];
  const permissions = { ...EVERYTHING, hosts: [["nas.invalid"]] };
  const url = `http://nas.invalid:${played.port}/`;
  const { text } = await fetchPage({ web: { ...realWeb, lookup } }, url, { permissions });
  expect(text).toContain("my files");
  expect(played.received[0]!.headers.host).toBe(`nas.invalid:${played.port}`);
});

test("an address that the owner names is reached", async () => {
  await using played = await playWeb(page("text/plain", "at home"));
  const permissions = { ...EVERYTHING, hosts: [["127.0.0.1"]] };
  const url = `http://127.0.0.1:${played.port}/`;
  expect((await fetchPage({ web: realWeb }, url, { permissions })).text).toContain("at home");
  await expect(fetchPage({ web: realWeb }, url)).rejects.toMatchObject({ code: "host_forbidden" });
});

test("a secure connection is made to the address, and its certificate must be for the name", async () => {
  const certificate = makeCertificate("secure.example");
  const server = createServer(certificate, ({ headers, socket }, response) => {
    const { servername } = socket as TLSSocket;
    response.writeHead(200, { "content-type": "text/plain" }).end(`${headers.host} ${String(servername)}`);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const web = {
    lookup: async () => [{ address: PUBLIC_ADDRESS, family: 4 }],
    route: () => ({ host: "127.0.0.1", port }),
  };
  const refused = (code: string) => ({ code: "tool_failed", message: expect.stringContaining(code) });
  const trusted = getCACertificates("default");
  try {
    await expect(fetchPage({ web }, "https://secure.example/")).rejects.toMatchObject(
      refused("DEPTH_ZERO_SELF_SIGNED_CERT"),
    );
    setDefaultCACertificates([certificate.cert]);
    expect((await fetchPage({ web }, "https://secure.example/")).text).toContain(
      "secure.example secure.example\n",
    );
    await expect(fetchPage({ web }, "https://other.example/")).rejects.toMatchObject(
      refused("ERR_TLS_CERT_ALTNAME_INVALID"),
    );
    await expect(fetchPage({ web }, "https://8.8.8.8/")).rejects.toMatchObject(
      refused("ERR_TLS_CERT_ALTNAME_INVALID"),
    );
  } finally {
    setDefaultCACertificates(trusted);
    server.close();
    server.closeAllConnections();
  }
});

test.each([
  {},
  { url: "" },
  { url: 5 },
  { url: `https://example.com/${"x".repeat(MAX_URL_LENGTH)}` },
  { url: "x" },
])("a call that cannot be made is refused (%#)", async (params) => {
  using files = testWorkspace();
  await expect(callTool(createWebFetchTool(), params, files.context)).rejects.toMatchObject({
    code: "tool_input_invalid",
  });
});
