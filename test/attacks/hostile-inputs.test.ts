/** Whatever comes in, Cortex says clearly what it thinks of it, loses nothing that it has taken, and goes on. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import type { EventId } from "../../src/model/ids.ts";
import type { Outcome } from "../../src/feature/outcomes.ts";
import { readSkills } from "../../src/personas/skills.ts";
import { openTestServer, type Received, type Sending, type TestServer } from "../support/server.ts";
import { temporaryFolder } from "../support/temporary.ts";
import {
  anyArguments,
  anyText,
  BODIES,
  COMMANDS,
  FRONTMATTERS,
  HEADERS,
  KEYS,
  sampled,
  TEXTS,
  URLS,
} from "./hostile-inputs.ts";

const NEVER = new AbortController().signal;
/** Of all tests together. */
let inputs = 0;
/** Of the messages that were taken. */
const outcomes: Outcome[] = [];
let served: TestServer;

beforeAll(async () => {
  const permissions = { tools: { deny: ["Bash", "CodeExec", "AskUser"] }, hosts: [], channels: [] };
  served = await openTestServer({ cortex: { personas: { atlas: { permissions } }, broker: { retryMs: 0 } } });
});

afterAll(() => served[Symbol.asyncDispose]());

const messageTo =
  (session: string) =>
  (content: string): Sending => ({
    method: "POST",
    path: "/api/messages",
    json: { content, session },
  });

/** What is wrong with the answers to what was sent, a line each. */
async function problemsWith(sendings: readonly Sending[]): Promise<string[]> {
  expect(sendings).not.toEqual([]);
  inputs += sendings.length;
  const problems = await Promise.all(
    sendings.map(async (sending) => {
      const problem = await problemWith(await served.send(sending));
      return problem === undefined ? [] : `${JSON.stringify(sending).slice(0, 200)}: ${problem}`;
    }),
  );
  return problems.flat();
}

/** A refusal says why and what to do; what was taken comes to an end. */
async function problemWith({ status, json, text }: Received): Promise<string | undefined> {
  if (status >= 500) return `${status} ${text.slice(0, 200)}`;
  if (status >= 400) {
    const { code, message, hint } = json?.error ?? {};
    const isClear = [code, message, hint].every((part) => typeof part === "string" && part !== "");
    return isClear ? undefined : `${status} ${text.slice(0, 200)}`;
  }
  const event = json?.eventId as EventId | undefined;
  const dispatches = event === undefined ? [] : await served.cortex.store.events.dispatches(event);
  for (const { item } of dispatches) outcomes.push((await served.cortex.outcome(item, NEVER))!);
  return status === 202 && dispatches.length === 0 ? "it was taken, and lost" : undefined;
}

test("messages", async () => {
  const contents = [...TEXTS, ...sampled(anyText, 60)];
  const sendings = contents.map((content, index) => messageTo(`text-${index % 40}`)(content));
  expect(await problemsWith(sendings)).toEqual([]);
});

test("commands", async () => {
  const words = sampled(anyText, 20).map((text) => `/approve ${text}`);
  expect(await problemsWith([...COMMANDS, ...words].map(messageTo("commands")))).toEqual([]);
});

test("session keys", async () => {
  const keys = [...KEYS, ...sampled(anyText, 20)];
  const paths = keys.flatMap((key) => {
    const encoded = encodeURIComponent(key.toWellFormed());
    return [{ path: `/api/sessions/${encoded}` }, messageTo(key)("hello")];
  });
  expect(await problemsWith(paths)).toEqual([]);
});

test("bodies", async () => {
  const headers = { "content-type": "application/json" };
  const sendings = BODIES.map((body) => ({ method: "POST", path: "/api/messages", body, headers }));
  expect(await problemsWith(sendings)).toEqual([]);
});

test("headers", async () => {
  const sendings = HEADERS.map((headers) => ({ path: "/api/sessions", headers }));
  expect(await problemsWith(sendings)).toEqual([]);
});

test("arguments of tools, which end as results of a turn", async () => {
  const names = [
    "Read",
    "Write",
    "Edit",
    "Grep",
    "Glob",
    "List",
    "Stat",
    "Skill",
    "memory_search",
    "message",
    "WebFetch",
    "WebSearch",
    "sub_agent",
    "dispatch_to_agent",
    "send_message_to_agent",
    "reply_to_caller",
  ];
  const calls = sampled(anyArguments, 120).map(
    (args, index) => `/tool ${names[index % names.length]!} ${JSON.stringify(args)}`,
  );
  expect(await problemsWith(calls.map((line, index) => messageTo(`tool-${index}`)(line)))).toEqual([]);
  const { items } = await served.cortex.store.sessions.list({ limit: 1_000 });
  const turns = await Promise.all(
    items
      .filter(({ key }) => key.startsWith("tool-"))
      .map(({ head }) => served.cortex.store.turns.read(head!)),
  );
  expect(turns.filter((turn) => turn!.toolCalls.length === 1).length).toBeGreaterThan(80);
});

test("URLs, of which none is allowed", async () => {
  const calls = URLS.map((url) => `/tool WebFetch ${JSON.stringify({ url })}`);
  expect(await problemsWith(calls.map((line, index) => messageTo(`url-${index}`)(line)))).toEqual([]);
});

test("names of files, which stay inside the workspace", async () => {
  const home = served.cortex.home;
  const before = readdirSync(home).toSorted();
  const calls = [...TEXTS.filter((text) => text.length < 5_000), ...sampled(anyText, 40)].map(
    (path) => `/tool Write ${JSON.stringify({ path, content: "x" })}`,
  );
  expect(await problemsWith(calls.map((line, index) => messageTo(`file-${index}`)(line)))).toEqual([]);
  expect(await problemsWith([messageTo("files")('/tool List {"depth": 3}')])).toEqual([]);
  expect(readdirSync(home).toSorted()).toEqual(before);
});

test("frontmatter of skills", async () => {
  using folder = temporaryFolder();
  const all = [...FRONTMATTERS, ...sampled(anyText, 30).map((text) => `---\nname: ${text}\n---\n`)];
  for (const [index, text] of all.entries()) {
    const skill = join(folder.path, "skills", `skill-${index}`);
    mkdirSync(skill, { recursive: true });
    writeFileSync(join(skill, "SKILL.md"), text);
  }
  inputs += all.length;
  const { skills, problems } = await readSkills({
    workspace: folder.path,
    home: join(folder.path, "home"),
    config: { agents: {}, personas: {}, channels: { webhooks: {}, files: {}, paired: [] } },
    pluginDirs: [],
    patterns: ["*"],
  });
  expect(skills.length + problems.length).toBeGreaterThanOrEqual(all.length - 5);
});

test("that was enough, nothing of it was lost, and the server is well", async () => {
  expect(inputs).toBeGreaterThanOrEqual(500);
  expect(outcomes.length).toBeGreaterThanOrEqual(300);
  expect(outcomes.filter(({ kind }) => kind === "dead")).toEqual([]);
  expect(await served.send("/api/health")).toMatchObject({ status: 200 });
});
