/**
 * Carries out the commands of pages and prints, as a line of JSON for each, how it ended. Each page has a home of its
 * own with a server; all of it is in this process, which is much faster than one for each command. What needs a shell,
 * because of a pipe or a loop, gets one.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { runCommandLine } from "../../src/cli/command-line.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import type { Identity } from "../../src/model/principal.ts";
import { MAIN_SESSION, type SessionKey } from "../../src/model/session-key.ts";
import { type Cortex, openCortex } from "../../src/runtime/cortex.ts";
import { addShippedRelays } from "../../src/relay/templates/shipped-files.ts";
import { serve } from "../../src/server/serve.ts";
import { BIN, environmentOf } from "./cli.ts";
import type { PlayedPage } from "./docs.ts";
import { writeHome } from "./home.ts";
import { openWarmStore } from "./open-store.ts";
import { shellWords } from "./shell-words.ts";
import { temporaryFolder } from "./temporary.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** For one command; it is named then. */
const PATIENCE_MS = 120_000;
const POLL_MS = 20;
/** What there is about a turn that does not simply end. */
const SCRIPT = `
- { when: ^fail, plays: [{ fault: refused }] }
- { when: ^look, plays: [{ calls: [{ tool: Glob, args: { pattern: "*" } }] }, { say: done }] }
- { when: ^ask, plays: [{ calls: [{ tool: AskUser, args: { question: "Which one?" } }] }, { say: done }] }
`;
/** What may stand for an id on a page. */
const ANY_ID =
  /^(<(id|turn|session|event|relay|approval)>|(http:)?[0-7][0-9A-HJKMNP-TV-Z]{25}|thr_[0-9a-f]{8})$/i;

let strangers = 0;

const pages = JSON.parse(await text(process.stdin)) as PlayedPage[];
const printOut = process.stdout.write.bind(process.stdout);
for (const page of pages) await playPage(page);

async function playPage({ page, before, commands }: PlayedPage): Promise<void> {
  using folder = temporaryFolder();
  const user = folder.path;
  const home = join(user, ".cortex");
  writeHome(home, {
    cortex: {
      server: { port: 0 },
      timezone: "UTC",
      broker: { retryMs: 0, maxAttempts: 1 },
      // Without its token, the channel is there and connects to nothing.
      channels: { webhooks: { orders: { scheme: "unsigned" } }, telegram: { tokenEnv: "NO_TOKEN" } },
      personas: { atlas: { permissions: { ask: ["Glob"] } } },
    },
    profiles: { profiles: { played: { backend: "offline", script: "script.yaml" } } },
    script: SCRIPT,
  });
  // Then it gets those that come along; to inspect them takes as long as all else that a home needs.
  if ([...before, ...commands].some((command) => /\bhooks\b/.test(command)))
    rmSync(join(home, "hooks"), { recursive: true });
  addShippedRelays(home);
  mkdirSync(join(user, ".config/fish/completions"), { recursive: true });
  copyFileSync(join(ROOT, "README.md"), join(user, "README.md"));
  const PATH = `${writeProgram(home)}:${process.env["PATH"]}`;
  const environment = { ...environmentOf(home), HOME: user, PATH };
  process.env["HOME"] = user; // for what asks the system
  process.chdir(user);
  {
    await using cortex = await openCortex({ home, environment, openStore: openWarmStore, log: () => {} });
    await using server = await serve(cortex, { host: "127.0.0.1", port: 0, log: () => {} });
    const idOf = await createIds(cortex);
    for (const command of [...before, ...commands]) {
      await meetStranger(command, cortex);
      const line = (await withIds(command, idOf)).replaceAll(":4747", `:${server.port}`);
      const watch = setTimeout(() => {
        process.stderr.write(`${page}: "${command}" does not end.\n`);
        process.exit(1);
      }, PATIENCE_MS);
      const ended = isPlain(line) ? await runHere(line, environment) : await runInShell(line, environment);
      await seen(line, cortex);
      clearTimeout(watch);
      printOut(`${JSON.stringify({ page, command, ...ended })}\n`);
    }
  }
  process.chdir(ROOT);
}

/** `cortex`, for a shell. Returns the folder that it is in. */
function writeProgram(home: string): string {
  const folder = join(home, "bin");
  mkdirSync(folder);
  writeFileSync(join(folder, "cortex"), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`, {
    mode: 0o755,
  });
  return folder;
}

/** A person types the next command when the server has long read the file that this one wrote. */
async function seen(line: string, { store }: Cortex): Promise<void> {
  const hook = /^cortex hooks new ([\w-]+)/.exec(line)?.[1];
  if (hook === undefined) return;
  while ((await store.hooks.get(hook)) === undefined) await wait(POLL_MS);
}

/** Somebody has got the code that a command names. */
async function meetStranger(command: string, { store }: Cortex): Promise<void> {
  const code = /^cortex channels pair (\w{8})\b/.exec(command)?.[1];
  if (code === undefined) return;
  const identity = `telegram:${++strangers}` as Identity;
  const target = { channel: "telegram", place: String(strangers) };
  await store.pairings.offer({ code, identity, name: "Eve", target, expiresAtMs: Date.now() + PATIENCE_MS });
}

/** Whether no shell is needed: nothing but `cortex` and its words. */
function isPlain(line: string): boolean {
  return /^cortex\b/.test(line) && !/[|<>&;$`\n]/.test(line.replaceAll(/"[^"$`]*"|'[^']*'/g, ""));
}

async function runHere(
  line: string,
  environment: NodeJS.ProcessEnv,
): Promise<{ code: number; said: string }> {
  let said = "";
  const restored = [process.stdout, process.stderr].map((stream) => {
    const write = stream.write.bind(stream);
    stream.write = (chunk: string | Uint8Array): boolean => {
      said += String(chunk);
      return true;
    };
    return () => void (stream.write = write);
  });
  const argv = shellWords(line).map((word) => word.replace(/^~(?=\/|$)/, environment["HOME"]!));
  const code = await runCommandLine(COMMANDS, { argv, environment });
  for (const restore of restored) restore();
  return { code, said };
}

async function runInShell(
  line: string,
  environment: NodeJS.ProcessEnv,
): Promise<{ code: number; said: string }> {
  const script = `exec 2>&1\n${line}`;
  const child = spawn("bash", ["-c", script], { env: environment, stdio: ["ignore", "pipe", "inherit"] });
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, "close") as Promise<[number]>]);
  return { code, said };
}

type IdOf = (words: readonly string[], at: number) => Promise<string>;

async function withIds(command: string, idOf: IdOf): Promise<string> {
  const words = command.split(" ");
  const replaced = words.map(async (word, at) => (ANY_ID.test(word) ? idOf(words, at) : word));
  return (await Promise.all(replaced)).join(" ");
}

/** Ids of what commands are about: of a turn that there always is, and of what is made when it is asked for. */
async function createIds(cortex: Cortex): Promise<IdOf> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const say = async (content: string, session: string, profile: string) =>
    (await cortex.send({ content, channel: "cli", session, profile })).item;
  const first = await say("An invoice of blue widgets", MAIN_SESSION, "offline");
  const outcome = await cortex.outcome(first, signal);
  const turn = outcome?.kind === "turn" ? outcome.turn : "";
  const [event] = (await cortex.store.events.list({ direction: "received", limit: 1 })).items;
  const relay = async (): Promise<string> => {
    const { id } = await cortex.relays.run({ name: "doc-review", message: "Explain relays" });
    await cortex.relays.ended(id, signal);
    return id;
  };
  // One for each command: what was tried again is no dead letter, and what was answered no question any more.
  const dead = async (): Promise<string> => {
    const item = await say("fail", "failing", "played");
    await cortex.outcome(item, signal);
    return item;
  };
  const approval = async (verb: string | undefined): Promise<string> => {
    const session = `${verb}-this` as SessionKey;
    await say(verb === "answer" ? "ask" : "look", session, "played");
    for (;;) {
      const { items } = await cortex.store.approvals.list({ state: "open", session });
      if (items[0] !== undefined) return items[0].id;
      await wait(POLL_MS);
    }
  };
  let tokens = 0;
  const token = async (): Promise<string> => {
    const id = `token-${++tokens}`;
    const by = { principal: "owner" };
    return (await cortex.store.tokens.create({ id, name: id, hash: id, can: ["read"] }, by)).id;
  };
  return async (words, at) => {
    const [, noun, verb] = words;
    if (words[at] === "<session>") return MAIN_SESSION;
    if (words[at - 1] === "--event" || words[at]!.startsWith("http:")) return event!.id;
    if (noun === "dead") return dead();
    if (noun === "tokens") return token();
    if (noun === "approvals") return approval(verb);
    return noun === "relay" ? relay() : turn;
  };
}
