/** What is configured as a secret, wherever that is, is found nowhere afterwards, however it was printed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { MAIN_SESSION } from "../../src/model/session-key.ts";
import { testTool, writeHome } from "../support/home.ts";
import { startModelServer } from "../support/model-server.ts";
import { openTestServer, type TestServer } from "../support/server.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { openReceiver } from "../support/webhook-receiver.ts";
import { filesBelow } from "./canary.ts";

const NEVER = new AbortController().signal;

/** Characters that are written differently in JSON, in URLs and in base 64. */
const STRANGE = ['"', "\\", "/", "?", "&", " ", "+", "é", "€", "%", "#", "$"];

function secretOf(name: string, index: number): string {
  const strange = STRANGE[index % STRANGE.length]!;
  return `kept${index}${strange}${name.toLowerCase()}${strange}${(index * 7_919 + 104_729).toString(36)}ab`;
}

function named(names: readonly string[], from: number): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, secretOf(name, from + index)]));
}

const numbered = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${name}_${n}`);

/** 50 secrets, with the token of the server, in all places that a secret can be configured in. */
const IN_FILE = named(
  [...numbered("ANYTHING", 10), "PROFILE_IN_FILE", "HOOK_IN_FILE", "CREDENTIAL_IN_FILE"],
  0,
);
const IN_ENVIRONMENT = named(
  [
    "OPENAI_API_KEY",
    "GITHUB_TOKEN",
    "DB_PASSWORD",
    "CLIENT_SECRET",
    "AWS_SECRET_ACCESS_KEY",
    "MY_PASSWD",
    "SESSION_TOKEN",
    "PRIVATE_KEY",
    "ACCESSKEY",
    "NPM_TOKEN",
    ...numbered("PROFILE", 8),
    ...numbered("HOOK", 6),
    ...numbered("CREDENTIAL", 6),
    "SEARCH",
  ],
  20,
);
const IN_PROFILES = named(["EXTRA_API_KEY", "EXTRA_TOKEN", "EXTRA_PASSWORD", "api-key", "token"], 60);
const SECRETS: Readonly<Record<string, string>> = { ...IN_FILE, ...IN_ENVIRONMENT, ...IN_PROFILES };

const SPELLINGS: Readonly<Record<string, (value: string) => string>> = {
  plain: (value) => value,
  "in JSON": (value) => JSON.stringify({ value }),
  "in JSON in JSON": (value) => JSON.stringify(JSON.stringify({ value })),
  "in a URL": (value) => `https://example.com/?q=${encodeURIComponent(value)}`,
  hexadecimal: (value) => Buffer.from(value).toString("hex"),
  "base 64": (value) => Buffer.from(value).toString("base64"),
  "base 64 for URLs": (value) => Buffer.from(value).toString("base64url"),
  "as a password": (value) => `Basic ${Buffer.from(`name:${value}`).toString("base64")}`,
  "in a line": (value) => `key=${value};next=${value}`,
};

function inAllSpellings(): string {
  return Object.entries(SPELLINGS)
    .map(([name, spell]) => `${name}:\n${Object.values(SECRETS).map(spell).join("\n")}`)
    .join("\n\n");
}

/** The names of the secrets that a text holds, and how they are spelled. */
function found(text: string): string[] {
  return Object.entries(SECRETS).flatMap(([name, value]) =>
    Object.entries(SPELLINGS)
      .filter(([, spell]) => text.includes(spell(value)))
      .map(([spelling]) => `${name} (${spelling})`),
  );
}

function configuration(receiver: string): {
  readonly cortex: object;
  readonly profiles: (url: string) => object;
} {
  const hooks = [...numbered("HOOK", 6), "HOOK_IN_FILE"];
  const credentials = [...numbered("CREDENTIAL", 6), "CREDENTIAL_IN_FILE"];
  const profiles = [...numbered("PROFILE", 8), "PROFILE_IN_FILE"];
  return {
    cortex: {
      sandbox: "off",
      broker: { retryMs: 0 },
      personas: { atlas: { permissions: { credentials } } },
      webSearch: { url: "http://127.0.0.1:1/?q={query}", apiKeyEnv: "SEARCH" },
      channels: {
        webhooks: Object.fromEntries(
          hooks.map((secretEnv, n) => [`hook-${n}`, { deliverTo: { url: `${receiver}/${n}`, secretEnv } }]),
        ),
      },
    },
    profiles: (url) => ({
      defaultProfile: "profile-0",
      profiles: Object.fromEntries(
        profiles.map((apiKeyEnv, n) => [
          `profile-${n}`,
          {
            provider: "openai-compatible",
            baseUrl: url,
            model: "m",
            apiKeyEnv,
            extraEnv: pick(IN_PROFILES, /^EXTRA/),
            extraOption: pick(IN_PROFILES, /^[a-z]/),
          },
        ]),
      ),
    }),
  };
}

function pick(from: Readonly<Record<string, string>>, names: RegExp): Record<string, string> {
  return Object.fromEntries(Object.entries(from).filter(([name]) => names.test(name)));
}

test("50 secrets that a person pastes, a tool prints, a command prints and a model says are recorded nowhere", async () => {
  expect(Object.keys(SECRETS).length + 1).toBeGreaterThanOrEqual(50);
  expect(found(inAllSpellings()).length).toBeGreaterThan(Object.keys(SECRETS).length * 8);
  using folder = temporaryFolder();
  await using receiver = await openReceiver();
  const all = inAllSpellings();
  await using model = await startModelServer({
    answer: ({ messages }) => {
      const results = messages.filter(({ role }) => role === "tool").length;
      // What only the model knows is recorded nowhere either, though it is seen while it is said.
      const isKnowing = messages.some(({ role, text }) => role === "user" && text.includes("You know them"));
      const known = isKnowing ? all : messages.map(({ text }) => text).join("\n");
      if (results === 0) return { calls: [{ name: "Print", arguments: { known } }] };
      if (results === 1)
        return { calls: [{ name: "Bash", arguments: { command: "env; env | base64 -w0" } }] };
      if (results === 2) return { calls: [{ name: "Nothing", arguments: { known } }] };
      return { text: `They are:\n${known}`, thinking: known };
    },
  });
  const { cortex, profiles } = configuration(receiver.url);
  writeHome(folder.path, { cortex, profiles: profiles(model.openaiUrl) });
  const lines = Object.entries(IN_FILE).map(([name, value]) => `${name}='${value}'`);
  writeFileSync(join(folder.path, "config", ".env"), lines.join("\n"));
  const printed = testTool("Print", async () => ({ kind: "done", result: { text: all, details: { all } } }));
  const environment = { PATH: process.env["PATH"], ...IN_ENVIRONMENT };
  await using served = await openTestServer({}, { home: folder.path, environment, tools: [printed] });
  const ask = async (content: string, session: string): Promise<void> => {
    const delivery = { channel: "webhook", place: "hook-0" };
    const { item } = await served.cortex.send({ content, session, delivery });
    expect(await served.cortex.outcome(item, NEVER)).toMatchObject({ kind: "turn" });
  };
  await ask("You know them. Say them all.", "knowing");
  await using stream = await openStream(served);
  await ask(`Here are my secrets:\n${all}`, "main");
  await expect.poll(() => receiver.received.length).toBeGreaterThan(1);
  const responses = await readEverything(served);

  const kept = [...filesBelow(folder.path)]
    .filter(([name]) => !/^(config|workspaces|tmp\/output)\/|^data\/token$/.test(name))
    .map(([name, bytes]) => [name, bytes.toString("utf8")] as const);
  const places: readonly (readonly [string, string])[] = [
    ...kept,
    ...responses,
    ["the log", served.log.join("\n")],
    [
      "the model's requests",
      JSON.stringify(model.requests.map(({ messages }) => messages.map(({ text }) => text))),
    ],
    [
      "what the receiver got",
      receiver.received.map(({ body, json }) => `${body}\n${String(json["content"])}`).join("\n"),
    ],
    ["the stream", stream.received()],
  ];
  expect(places.length).toBeGreaterThan(10);
  await expect.poll(() => stream.received()).toContain("They are");
  expect(places.flatMap(([place, text]) => found(text).map((what) => `${place}: ${what}`))).toEqual([]);
  expect(places.filter(([, text]) => text.includes(served.token)).map(([place]) => place)).toEqual([]);
});

/** Listens to what the server tells as it happens. */
async function openStream({ server, token }: TestServer): Promise<AsyncDisposable & { received(): string }> {
  const stop = new AbortController();
  const response = await fetch(`http://127.0.0.1:${server.port}/api/stream`, {
    headers: { authorization: `Bearer ${token}` },
    signal: stop.signal,
  });
  let text = "";
  const reading = (async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk;
  })().catch(() => {}); // it is cut off at the end
  return {
    received: () => text,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await reading;
    },
  };
}

/** Every page that the API has to give, of everything that there is. */
async function readEverything(served: TestServer): Promise<[string, string][]> {
  const { cortex } = served;
  const { json: description } = await served.send("/api/openapi.json");
  const turn = (await cortex.store.sessions.head(MAIN_SESSION))!;
  const { items: events } = await cortex.store.events.list({ limit: 10 });
  const ids = [turn, MAIN_SESSION, ...events.map(({ id }) => id)].map(encodeURIComponent);
  const paths = Object.entries(description.paths as Record<string, object>)
    .filter(([path, methods]) => "get" in methods && !path.includes("stream"))
    .flatMap(([path]) => (path.includes("{") ? ids.map((id) => path.replaceAll(/\{\w+\}/g, id)) : [path]));
  return Promise.all(
    [...paths, "/api/search?q=secrets", "/api/events?limit=100"].map(
      async (path): Promise<[string, string]> => {
        const { text } = await served.send(path);
        return [path, text];
      },
    ),
  );
}
