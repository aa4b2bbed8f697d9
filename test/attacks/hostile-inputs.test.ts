/** Whatever comes in, Cortex says clearly what it thinks of it, loses nothing that it has taken, and goes on. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { compileFilter } from "../../src/hooks/judge/filter.ts";
import { CortexError } from "../../src/model/errors.ts";
import type { EventId } from "../../src/model/ids.ts";
import type { Outcome } from "../../src/feature/outcomes.ts";
import { readSkills } from "../../src/personas/skills.ts";
import { loadFiles } from "../support/config-home.ts";
import { run } from "../support/here.ts";
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
  const webhooks = { door: { scheme: "unsigned" } };
  served = await openTestServer({
    cortex: { personas: { atlas: { permissions } }, broker: { retryMs: 0 }, channels: { webhooks } },
  });
});

afterAll(() => served[Symbol.asyncDispose]());

const messageTo =
  (session: string) =>
  (content: string): Sending => ({
    method: "POST",
    path: "/api/messages",
    json: { content, session },
  });

/** As many are sent at a time. */
const AT_ONCE = 8;
/** In the processor's time of this thread, which is the server's, too: what else the machine does counts for nothing. */
const MAX_HEALTH_MS = 100;
/** The memory of earlier ones may be collected just then. */
const LOOKS = 3;
/** What kept others waiting, however often it was tried. */
const slow: string[] = [];

/** What is wrong with the answers to what was sent, a line each. */
async function problemsWith(sendings: readonly Sending[]): Promise<string[]> {
  expect(sendings).not.toEqual([]);
  inputs += sendings.length;
  const problems: string[] = [];
  for (let from = 0; from < sendings.length; from += AT_ONCE) {
    const group = sendings.slice(from, from + AT_ONCE);
    const { found, waitedMs } = await sendBesideHealth(group);
    problems.push(...found);
    let leastMs = waitedMs;
    for (let look = 1; look < LOOKS && leastMs > MAX_HEALTH_MS; look++)
      leastMs = Math.min(leastMs, (await sendBesideHealth(group)).waitedMs);
    if (leastMs > MAX_HEALTH_MS) slow.push(`${leastMs} ms beside ${JSON.stringify(group).slice(0, 300)}`);
  }
  return problems;
}

/** Sends some, and asks in between whether the server is well. */
async function sendBesideHealth(
  group: readonly Sending[],
): Promise<{ readonly found: readonly string[]; readonly waitedMs: number }> {
  const answers = Promise.all(
    group.map(async (sending) => {
      const problem = await problemWith(await served.send(sending), sending.path === "/api/messages");
      return problem === undefined ? [] : `${JSON.stringify(sending).slice(0, 200)}: ${problem}`;
    }),
  );
  const before = process.threadCpuUsage();
  const health = await served.send("/api/health");
  const { user, system } = process.threadCpuUsage(before);
  expect(health.status).toBe(200);
  return { found: (await answers).flat(), waitedMs: Math.round((user + system) / 1_000) };
}

/** A refusal says why and what to do; what was taken comes to an end. */
async function problemWith(
  { status, json, text }: Received,
  isForSomebody = true,
): Promise<string | undefined> {
  if (status >= 500) return `${status} ${text.slice(0, 200)}`;
  if (status >= 400) {
    const { code, message, hint } = json?.error ?? {};
    const isClear = [code, message, hint].every((part) => typeof part === "string" && part !== "");
    return isClear ? undefined : `${status} ${text.slice(0, 200)}`;
  }
  const event = json?.eventId as EventId | undefined;
  const dispatches = event === undefined ? [] : await served.cortex.store.events.dispatches(event);
  for (const { item } of dispatches) outcomes.push((await served.cortex.outcome(item, NEVER))!);
  return status === 202 && dispatches.length === 0 && isForSomebody ? "it was taken, and lost" : undefined;
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

test("every route, with parameters and bodies that nobody means", async () => {
  const { json } = await served.send("/api/openapi.json");
  const sendings = Object.entries(json.paths as Record<string, object>)
    // The stream never ends, and whoever rotates the token has to know the new one.
    .filter(([path]) => !/stream|rotate|logout/.test(path))
    .flatMap(([path, methods], place) =>
      Object.keys(methods)
        .filter((method) => ["get", "post", "put", "patch", "delete"].includes(method))
        .flatMap((method, index) => hostileTo(method, path, place + index)),
    );
  expect(sendings.length).toBeGreaterThan(150);
  expect(await problemsWith(sendings)).toEqual([]);
});

/** A few of all that could be sent to one route, others for each. */
function hostileTo(method: string, path: string, index: number): Sending[] {
  const pick = <T>(values: readonly T[], step: number): T => values[(7 * index + step) % values.length]!;
  return [0, 1, 2].map((step): Sending => {
    const at = path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(pick(KEYS, step).toWellFormed()));
    if (method === "get" || method === "delete") {
      const query = encodeURIComponent(pick(SHORT, step).toWellFormed());
      const names = pick(["limit", "cursor", "state", "session", "since", "q", "person", "before"], step);
      return { method: method.toUpperCase(), path: `${at}?${names}=${query}&${names}=-1` };
    }
    const body =
      step === 0 ? JSON.stringify({ [pick(FIELDS, index)]: pick(SHORT, index) }) : pick(BODIES, step);
    return { method: method.toUpperCase(), path: at, body, headers: { "content-type": "application/json" } };
  });
}

const SHORT = TEXTS.filter((text) => text.length < 2_000);
const FIELDS = ["name", "id", "can", "role", "identities", "limits", "permissions", "content", "__proto__"];

test("people and tokens", async () => {
  const people = SHORT.flatMap((text, index): object[] => [
    { id: text, name: text, role: ["member", "guest", "owner", text][index % 4] },
    { id: `p-${index}`, name: text, identities: [`telegram:${text}`], permissions: { [text]: [text] } },
  ]);
  const tokens = SHORT.map((text, index): object =>
    index % 2 === 0 ? { name: text, can: ["read"] } : { name: `t-${index}`, can: [text, `ingest:${text}`] },
  );
  const post =
    (path: string) =>
    (json: object): Sending => ({ method: "POST", path, json });
  expect(
    await problemsWith([...people.map(post("/api/people")), ...tokens.map(post("/api/tokens"))]),
  ).toEqual([]);
});

test("events and webhooks", async () => {
  const fields = [
    "adapter",
    "channel",
    "sourceId",
    "sender",
    "place",
    "placeKind",
    "topic",
    "replyTo",
    "content",
    "metadata",
  ];
  const events = [...SHORT, ...sampled(anyText, 20)].map((text, index): Sending => {
    const event = { adapter: "door", channel: "door", sourceId: `event-${index}`, content: "ring" };
    return {
      method: "POST",
      path: "/api/events",
      json: { ...event, [fields[index % fields.length]!]: text },
    };
  });
  const hooks = [
    ...BODIES.map((body) => ["door", body] as const),
    ...SHORT.map((text) => [text, "{}"] as const),
  ];
  const webhooks = hooks.map(([name, body], index): Sending => ({
    method: "POST",
    path: `/webhooks/${encodeURIComponent(name.toWellFormed())}`,
    body,
    headers: {
      "content-type": ["application/json", "application/x-www-form-urlencoded", "text/plain"][index % 3]!,
      "idempotency-key": `hook-${index}`,
      "x-cortex-signature": SHORT[index % SHORT.length]!.replaceAll(/[^\x20-\x7e]/g, "?"),
    },
  }));
  expect(await problemsWith([...events, ...webhooks])).toEqual([]);
});

/** What throws is an error for people, or it is a fault of ours. */
async function faultsOf(given: readonly unknown[], read: (value: never) => unknown): Promise<string[]> {
  expect(given).not.toEqual([]);
  inputs += given.length;
  const faults: string[] = [];
  for (const value of given) {
    try {
      await read(value as never);
    } catch (error) {
      if (!(error instanceof CortexError))
        faults.push(`${JSON.stringify(value)?.slice(0, 200)}: ${String(error)}`);
    }
  }
  return faults;
}

test("filters of hooks", async () => {
  const names = ["channels", "directions", "senders", "types", "cron", "match"];
  const filters = SHORT.flatMap((text, index) => [
    { [names[index % names.length]!]: text },
    { [names[(index + 1) % names.length]!]: [text, index] },
  ]);
  expect(await faultsOf([...filters, ...sampled(anyArguments, 40)], compileFilter)).toEqual([]);
});

test("configuration files", async () => {
  const names = [
    "agents",
    "personas",
    "channels",
    "broker",
    "people",
    "server",
    "timezone",
    "toolHooks",
    "quota",
  ];
  const files = SHORT.flatMap((text, index): object[] => [
    { "cortex.json": text },
    { "cortex.json": { [names[index % names.length]!]: { [text]: text } } },
  ]);
  const texts = BODIES.filter((body) => body.length < 50_000).map((text) => ({ "cortex.json": text }));
  expect(await faultsOf([...files, ...texts], loadFiles)).toEqual([]);
});

test("arguments of commands", async () => {
  const { home } = served.cortex;
  const commands = [
    "show",
    "why",
    "sessions",
    "hooks show",
    "people show",
    "tokens revoke",
    "config",
    "approvals",
    "context",
    "relay show",
  ];
  const lines = SHORT.filter((text) => !text.includes("\0")).map((text, index) =>
    commands[index % commands.length]!.split(" ").concat(text),
  );
  inputs += lines.length;
  for (const line of lines) {
    const { code, err } = await run(home, line);
    expect([line, code, /^ {4}at /m.test(err)]).toEqual([
      line,
      expect.toSatisfy((is) => [0, 1, 2].includes(is)),
      false,
    ]);
  }
});

test("that was enough, nothing of it was lost, and the server is well", async () => {
  console.info(`${inputs} hostile inputs`);
  expect(inputs).toBeGreaterThanOrEqual(800);
  expect(slow).toEqual([]);
  expect(outcomes.length).toBeGreaterThanOrEqual(300);
  expect(outcomes.filter(({ kind }) => kind === "dead")).toEqual([]);
  expect(await served.send("/api/health")).toMatchObject({ status: 200 });
});
