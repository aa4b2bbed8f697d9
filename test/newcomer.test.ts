/**
 * The mistakes of the first hour. Each is told in one line with what was wrong and one with what to do, and doing that
 * helps: commands that a hint names are run as they stand there, and what it says of files is done to them.
 */
import { createHmac } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { BIN, environmentOf, readNote, start, startServer } from "./support/cli.ts";
import { type ModelServer, startModelServer } from "./support/model-server.ts";
import { runHere } from "./support/run-here.ts";
import { shellWords } from "./support/shell-words.ts";
import { temporaryFolder } from "./support/temporary.ts";

const PATIENT = { timeout: 45_000 };
const NO_TURN = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const SECRET = "a secret of the shop";

let folder: ReturnType<typeof temporaryFolder>;
let home: string;
let server: Awaited<ReturnType<typeof startServer>>;
let model: ModelServer;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  folder = temporaryFolder();
  home = join(folder.path, "home");
  model = await startModelServer({ answer: () => ({ text: "Here I am." }) });
  put("config/cortex.json", {
    server: { port: 0 },
    broker: { maxAttempts: 1 },
    channels: { webhooks: { shop: { scheme: "generic", secretEnv: "SHOP_SECRET" } } },
  });
  const remote = { backend: "pi", provider: "openai-compatible", model: "m" };
  put("config/profiles.json", {
    profiles: {
      keyless: { ...remote, baseUrl: model.openaiUrl, apiKeyEnv: "MODEL_KEY" },
      unreachable: { ...remote, baseUrl: "http://127.0.0.1:2/v1" },
    },
  });
  put("config/.env", `SHOP_SECRET="${SECRET}"\n`);
  environment = {
    ...environmentOf(home),
    HOME: folder.path,
    CORTEX_TEAM_DIR: join(folder.path, "team"),
    CORTEX_PROFILE: undefined,
  };
  server = await startServer(home, "shipped");
  await send("hello");
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** A file of the home, or of another one. */
function put(name: string, content: unknown, where = home): string {
  const path = join(where, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

const cortex = (...argv: readonly string[]) => runHere(environment, argv);
const send = (...words: readonly string[]) => cortex("send", ...words, "--wait");

/** How a command ended that should not have been typed like that. */
async function refused(
  argv: readonly string[],
  { code, what, hint }: { code: number; what: RegExp; hint: RegExp },
): Promise<string> {
  const ended = await cortex(...argv);
  const lines = ended.err.trimEnd().split("\n");
  expect({ code: ended.code, out: ended.out, lines: lines.length, err: ended.err }).toEqual({
    code,
    out: "",
    lines: 2,
    err: ended.err,
  });
  expect(lines[0]).toMatch(what);
  expect(lines[1]).toMatch(hint);
  expect(ended.err).not.toMatch(/^\s+at /m);
  return lines[1]!;
}

/** Runs the commands that a hint names, as far as they are whole and end by themselves. Of a guess, its help. */
async function follow(hint: string): Promise<number> {
  const named = Array.from(hint.matchAll(/(Did you mean )?`(cortex [^`<>]+)`/g))
    .map(([, guess, command]) => shellWords(guess === undefined ? command! : `${command} --help`))
    .filter(([first]) => first !== "up" && first !== "chat");
  for (const argv of named) expect({ argv, ...(await cortex(...argv)) }).toMatchObject({ code: 0 });
  return named.length;
}

interface Row {
  /** What was typed before. It may have been done already. */
  readonly after?: readonly (readonly string[])[];
  readonly typed: readonly string[];
  readonly code?: number;
  readonly what: RegExp;
  readonly hint: RegExp;
  /** What the hint says to do, where that is more than to run the commands in it. */
  readonly better?: readonly string[];
}

const TEAM = ["team", "init"];
const BOB = ["team", "register", "Bob", "--foreign"];

const ROWS: Readonly<Record<string, Row>> = {
  "a command with a typing error": {
    typed: ["stauts"],
    code: 2,
    what: /Unknown command "stauts"/,
    hint: /`cortex status`/,
  },
  "a command of a command with one": {
    typed: ["hooks", "tset", "x", "--channel", "cli"],
    code: 2,
    what: /Unknown command "hooks tset"/,
    hint: /Did you mean `cortex hooks test`\?/,
  },
  "help for a command that is not there": {
    typed: ["help", "chta"],
    code: 2,
    what: /Unknown command "chta"/,
    hint: /Did you mean `cortex chat`\?/,
  },
  "a command of which there is only the promise": {
    typed: ["acp"],
    code: 2,
    what: /Command "acp" is not available yet/,
    hint: /`cortex help`/,
  },
  "a command whose commands do the work": {
    typed: ["sub-agent"],
    code: 2,
    what: /Missing command after `cortex sub-agent`/,
    hint: /`cortex sub-agent --help`/,
  },
  "an option with a typing error": {
    typed: ["send", "--sesion", "x", "hi"],
    code: 2,
    what: /'--sesion'/,
    hint: /Did you mean --session\?/,
    better: ["send", "--session", "x", "hi"],
  },
  "an option before its command": {
    typed: ["--limit", "5", "events"],
    code: 2,
    what: /'--limit'/,
    hint: /after its name/,
    better: ["events", "--limit", "5"],
  },
  "nothing where a turn belongs": {
    typed: ["show"],
    code: 2,
    what: /'turn'/,
    hint: /`cortex show --help`/,
  },
  "one word too many": { typed: ["status", "now"], code: 2, what: /"now"/, hint: /`cortex status --help`/ },
  "an option without its value": {
    typed: ["events", "--limit"],
    code: 2,
    what: /--limit/,
    hint: /`cortex events --help`/,
  },
  "a limit that is no number": {
    typed: ["log", "--limit", "many"],
    code: 2,
    what: /"many"/,
    hint: /1 to 1000/,
    better: ["log", "--limit", "1000"],
  },
  "a moment that is none": {
    typed: ["search", "x", "--since", "yesterday"],
    code: 2,
    what: /"yesterday"/,
    hint: /7d/,
    better: ["search", "x", "--since", "7d"],
  },
  "a shell that has no completion": {
    typed: ["completion", "tcsh"],
    code: 2,
    what: /"tcsh"/,
    hint: /bash/,
    better: ["completion", "bash"],
  },
  "costs by something else": {
    typed: ["costs", "--by", "colour"],
    code: 2,
    what: /"colour"/,
    hint: /model/,
    better: ["costs", "--by", "model"],
  },
  "a state that no run has": {
    typed: ["runs", "--state", "broken"],
    code: 2,
    what: /"broken"/,
    hint: /failed/,
    better: ["runs", "--state", "failed"],
  },
  "an empty message": {
    typed: ["send", " "],
    code: 2,
    what: /empty/,
    hint: /`cortex send hello`/,
  },
  "a message that is too long": {
    typed: ["send", "x".repeat(2_000_000)],
    what: /\d/,
    hint: /./,
    better: ["send", "short"],
  },
  "a profile that is not there": {
    typed: ["send", "hi", "--profile", "ofline"],
    what: /"ofline"/,
    hint: /offline/,
    better: ["send", "hi", "--profile", "offline"],
  },
  "a session key with a space": {
    typed: ["send", "hi", "--session", "my work"],
    what: /"my work"/,
    hint: /`work`/,
    better: ["send", "hi", "--session", "work"],
  },
  "a session of an agent that is not there": {
    typed: ["send", "hi", "--session", "agent:mian:main"],
    what: /"mian"/,
    hint: /main/,
    better: ["send", "hi", "--session", "agent:main:main"],
  },
  "a persona that is not there": {
    typed: ["send", "hi", "--persona", "nobody"],
    what: /"nobody"/,
    hint: /atlas/,
    better: ["send", "hi", "--persona", "atlas"],
  },
  "a queue mode that is none": {
    typed: ["send", "hi", "--mode", "later"],
    what: /"later"/,
    hint: /followup/,
    better: ["send", "hi", "--mode", "followup"],
  },
  "two targets": {
    typed: ["send", "hi", "--session", "work", "--persona", "atlas"],
    what: /"work"/,
    hint: /Pass only one/,
    better: ["send", "hi", "--session", "work"],
  },
  "a thread that is not there": {
    typed: ["send", "hi", "--thread", "abc"],
    what: /"abc"/,
    hint: /`cortex log`/,
  },
  "the beginning of an id": {
    typed: ["show", "01ARZ"],
    what: /"01ARZ"/,
    hint: /`cortex log --all`.*26 characters/,
  },
  "a fork of a turn that is not there": {
    typed: ["fork", NO_TURN],
    what: new RegExp(NO_TURN),
    hint: /`cortex log --all`/,
  },
  "two turns of which one is not there": {
    typed: ["diff", NO_TURN, NO_TURN],
    what: new RegExp(NO_TURN),
    hint: /`cortex sessions`/,
  },
  "the context of a session that is not there": {
    typed: ["context", "mian"],
    what: /"mian"/,
    hint: /`cortex sessions`/,
  },
  "the queue of one": { typed: ["queue", "mian"], what: /"mian"/, hint: /`cortex sessions`/ },
  "an event that is not there": { typed: ["why", "abc"], what: /"abc"/, hint: /`cortex events`/ },
  "an agent that is not there": {
    typed: ["agents", "show", "mian"],
    what: /"mian"/,
    hint: /main/,
    better: ["agents", "show", "main"],
  },
  "a role that is none": {
    typed: ["agents", "create", "zoe", "--role", "boss"],
    what: /"boss"/,
    hint: /worker/,
    better: ["agents", "create", "zoe", "--role", "worker"],
  },
  "an agent that is there already": {
    typed: ["agents", "create", "main"],
    what: /"main"/,
    hint: /another name/,
    better: ["agents", "create", "main-two"],
  },
  "the name of an agent with a space": {
    typed: ["agents", "create", "my agent"],
    what: /"my agent"/,
    hint: /lowercase letters/,
    better: ["agents", "create", "my-agent"],
  },
  "a request that nobody made": {
    typed: ["approvals", "approve", NO_TURN],
    what: new RegExp(NO_TURN),
    hint: /`cortex approvals`/,
  },
  "a dead letter that is not there": {
    typed: ["dead", "retry", "abc"],
    what: /"abc"/,
    hint: /`cortex dead list`/,
  },
  "a hook that is not there": {
    typed: ["hooks", "show", "invoices"],
    what: /"invoices"/,
    hint: /`cortex hooks`/,
  },
  "a hook that is tested with nothing": {
    typed: ["hooks", "test", "default-dm-routing"],
    code: 2,
    what: /one test event/,
    hint: /--channel and --content/,
    better: ["hooks", "test", "default-dm-routing", "--channel", "cli", "--content", "x"],
  },
  "a name that no hook can have": {
    typed: ["hooks", "new", "My Hook"],
    what: /"My Hook"/,
    hint: /`school-emails`/,
    better: ["hooks", "new", "school-emails"],
  },
  "a hook that is there already": {
    after: [["hooks", "new", "school-emails"]],
    typed: ["hooks", "new", "school-emails"],
    what: /"school-emails"/,
    hint: /another name/,
    better: ["hooks", "new", "other-emails"],
  },
  "a schedule that is none": {
    typed: ["hooks", "new", "daily", "--schedule", "daily"],
    what: /"daily"/,
    hint: /"every 30m"/,
    better: ["hooks", "new", "daily", "--schedule", "every 30m"],
  },
  "a relay of nothing that is there": {
    typed: ["relay", "run", "code-review", "Go on"],
    what: /"code-review"/,
    hint: /`cortex relay templates`/,
  },
  "a relay that is not there": {
    typed: ["relay", "cancel", "abc"],
    what: /"abc"/,
    hint: /`cortex relay list`/,
  },
  "a team that is not there": {
    typed: ["team", "list"],
    what: /No team in .*team/,
    hint: /`cortex team init`/,
  },
  "a task for somebody who is not there": {
    after: [TEAM],
    typed: ["team", "dispatch", "bob", "Write it"],
    what: /"bob"/,
    hint: /`cortex team list`/,
    better: BOB,
  },
  "a task without a title": {
    after: [TEAM, BOB],
    typed: ["team", "dispatch", "bob", " "],
    what: /title is empty/,
    hint: /title/,
    better: ["team", "dispatch", "bob", "Write it"],
  },
  "an adapter for something else": {
    after: [TEAM, BOB],
    typed: ["team", "adapter", "vim", "bob"],
    what: /"vim"/,
    hint: /generic/,
    better: ["team", "status", "bob"],
  },
  "pruning, without saying what": {
    typed: ["prune"],
    code: 2,
    what: /Missing `--before`/,
    hint: /`cortex prune --before 90d`/,
  },
  "pruning what is new": {
    typed: ["prune", "--before", "1h"],
    what: /too recent/,
    hint: /at least a day ago/,
    better: ["prune", "--before", "2d", "--yes"],
  },
  "a model that nobody has": {
    typed: ["init", "--yes", "--model", "claude"],
    code: 2,
    what: /"claude"/,
    hint: /anthropic\/claude/,
    better: ["init", "--yes"],
  },
  "a sandbox of another kind": {
    typed: ["init", "--yes", "--sandbox", "on"],
    code: 2,
    what: /"on"/,
    hint: /auto, require, off/,
    better: ["init", "--yes"],
  },
};

test.each(Object.entries(ROWS))("%s", async (_, { after = [], typed, code = 1, what, hint, better }) => {
  for (const argv of after) await cortex(...argv);
  const followed = await follow(await refused(typed, { code, what, hint }));
  expect(better ?? followed).not.toBe(0);
  expect(await cortex(...(better ?? ["status"]))).toMatchObject({ code: 0 });
});

describe("files", () => {
  /** Each is a home of its own, with one file that is wrong and how it is right. */
  const WRONG: readonly (readonly [string, string, string, RegExp, RegExp, string])[] = [
    [
      "a comma that is missing",
      "cortex.json",
      '{\n  "server": { "port": 0 }\n  "sandbox": "off"\n}',
      /cortex\.json:3:3: .*comma/,
      /double quotes/,
      '{\n  "server": { "port": 0 },\n  "sandbox": "off"\n}',
    ],
    [
      "a key with a typing error",
      "cortex.json",
      '{ "servr": {} }',
      /cortex\.json:1:3 servr/,
      /"server"/,
      '{ "server": {} }',
    ],
    [
      "a text for a number",
      "cortex.json",
      '{ "server": { "port": "x" } }',
      /1:23 .*"x"/,
      /0 picks a free one/,
      "{}",
    ],
    ["a choice that is none", "cortex.json", '{ "sandbox": "of" }', /"of"/, /"off"/, '{ "sandbox": "off" }'],
    [
      "an agent with a persona that is not there",
      "cortex.json",
      '{ "agents": { "main": { "persona": "atls" } } }',
      /"atls"/,
      /"atlas"/,
      '{ "agents": { "main": { "persona": "atlas" } } }',
    ],
    [
      "an agent with a profile that is not there",
      "cortex.json",
      '{ "agents": { "main": { "profile": "fast" } } }',
      /"fast"/,
      /offline/,
      '{ "agents": { "main": { "profile": "offline" } } }',
    ],
    [
      "a default profile that is not there",
      "profiles.json",
      '{ "defaultProfile": "local" }',
      /"local"/,
      /offline/,
      '{ "defaultProfile": "offline" }',
    ],
    [
      "a key without its name",
      ".env",
      "A=1\nsk-123\n",
      /\.env:2: (?!.*sk-123)/,
      /NAME=value/,
      "A=1\nKEY=sk-123\n",
    ],
  ];

  test.each(WRONG)("%s", async (_, file, wrong, what, hint, right) => {
    using other = temporaryFolder();
    put(`config/${file}`, wrong, other.path);
    await refused(["config", "--home", other.path], { code: 1, what, hint });
    await refused(["up", "--port", "0", "--home", other.path], { code: 78, what, hint });
    expect(await cortex("doctor", "--offline", "--home", other.path)).toMatchObject({ code: 78 });
    put(`config/${file}`, right, other.path);
    expect(await cortex("config", "--home", other.path)).toMatchObject({ code: 0 });
  });

  test("a team's file that is no YAML", async () => {
    using other = temporaryFolder();
    put("config.yaml", "team_dir: [\n", other.path);
    await refused(["config", "--home", other.path], { code: 1, what: /config\.yaml/, hint: /./ });
    put("config.yaml", "team_dir: ~/team\n", other.path);
    expect(await cortex("config", "--home", other.path)).toMatchObject({ code: 0 });
  });

  test("a port that is no number, as a flag and in the environment", async () => {
    using other = temporaryFolder();
    const argv = ["--home", other.path];
    const wrong = { what: /expected a number, got "hello"/, hint: /0 picks a free one/ };
    await refused(["up", "--port", "hello", ...argv], { code: 78, ...wrong });
    environment["CORTEX_PORT"] = "hello";
    await refused(["config", ...argv], { code: 1, ...wrong });
    environment["CORTEX_PORT"] = "0";
    expect(await cortex("config", ...argv)).toMatchObject({ code: 0 });
    delete environment["CORTEX_PORT"];
  });

  test("a home that is a file", async () => {
    const file = put("file", "", folder.path);
    for (const place of [file, join(file, "below")]) {
      const wrong = { what: /file is a file/, hint: /another home with --home/ };
      for (const command of ["sessions", "config", "init", "hooks", "verify", "agents"])
        await refused([command, "--home", place], { code: 1, ...wrong });
      await refused(["up", "--home", place], { code: 78, ...wrong });
      expect(await cortex("doctor", "--offline", "--home", place)).toMatchObject({
        code: 78,
        out: expect.stringContaining("is a file"),
      });
    }
    expect(await cortex("init", "--yes", "--home", join(folder.path, "elsewhere"))).toMatchObject({
      code: 0,
    });
  });

  test("a home where nothing can be made", async () => {
    expect.hasAssertions();
    await refused(["up", "--home", "/proc/nowhere"], { code: 78, what: /\/proc\/nowhere/, hint: /--home/ });
    await refused(["init", "--home", "/proc/nowhere"], { code: 1, what: /\/proc\/nowhere/, hint: /--home/ });
  });

  test("a home in which nothing was said yet", async () => {
    using other = temporaryFolder();
    const hint = await refused(["sessions", "--home", other.path], {
      code: 1,
      what: /No ledger/,
      hint: /`cortex up/,
    });
    expect(hint).toContain("CORTEX_HOME");
  });

  test("a template that is not JSON, and one in the wrong place", async () => {
    using other = temporaryFolder();
    const argv = ["relay", "validate", "--home", other.path];
    put("config/thread-templates/agents/poet.json", "{", other.path);
    put("config/thread-templates/poem.yaml", "entry: poet\n", other.path);
    expect(await cortex(...argv)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/poet\.json:1:2 .*closing }[^]*poem\.yaml ignored\n.*templates\//),
    });
    put(
      "config/thread-templates/agents/poet.json",
      {
        description: "Writes",
        profile: "offline",
        persistSession: false,
        promptTemplate: "Write: {{userMessage}}",
      },
      other.path,
    );
    expect(await cortex(...argv)).toMatchObject({ code: 0 });
  });
});

describe("backups", () => {
  test("over a file, over a home, and of what is none", async () => {
    const file = join(folder.path, "cortex.backup");
    expect(await cortex("backup", file)).toMatchObject({ code: 0 });
    await refused(["backup", file], { code: 1, what: /cortex\.backup already/, hint: /Choose another/ });
    await refused(["backup", "/nowhere/b"], {
      code: 1,
      what: /Missing folder \/nowhere/,
      hint: /Create the folder/,
    });
    expect(await cortex("backup", `${file}.2`)).toMatchObject({ code: 0 });

    await refused(["restore", file], { code: 1, what: /home is not empty/, hint: /--home/ });
    const restored = join(folder.path, "restored");
    expect(await cortex("restore", file, "--home", restored)).toMatchObject({ code: 0 });
    expect(existsSync(join(restored, "data", "chat-history"))).toBe(false);

    const letter = put("letter.txt", "Dear Ada,\n".repeat(100), folder.path);
    for (const none of [letter, folder.path]) {
      const wrong = { code: 1, what: /is not a Cortex backup/, hint: /`cortex backup <file>`/ };
      await refused(["restore", none, "--home", join(folder.path, "new")], wrong);
      await refused(["restore", none, "--check"], wrong);
    }
    await refused(["restore", "/nowhere/b"], {
      code: 1,
      what: /\/nowhere\/b/,
      hint: /`cortex backup <file>`/,
    });
    expect(await cortex("restore", file, "--check")).toMatchObject({ code: 0 });
  });
});

describe("models", () => {
  test("a profile without a key: the message waits as a dead letter until it has one", async () => {
    const hint = await refused(["send", "hi", "--wait", "--profile", "keyless"], {
      code: 1,
      what: /"keyless".*MODEL_KEY/,
      hint: /`cortex dead retry/,
    });
    put("config/.env", `SHOP_SECRET="${SECRET}"\nMODEL_KEY=open-sesame\n`);
    await expect
      .poll(async () => (await send("hi", "--profile", "keyless")).out, PATIENT)
      .toBe("Here I am.\n");
    expect(await follow(hint)).toBe(1);
  });

  test("a model server that does not run", async () => {
    const hint = await refused(["send", "hi", "--wait", "--profile", "unreachable"], {
      code: 1,
      what: /127\.0\.0\.1:2/,
      hint: /`cortex dead retry/,
    });
    expect(await follow(hint)).toBe(1);
  });
});

describe("hooks", () => {
  const RIGHT = "export default { handler: () => ({ fire: false }) };\n";

  test.each([
    ["with a syntax error", "unclosed", "export default { handler( { return {}; } };\n", /unclosed\.ts:1/],
    ["that exports nothing of use", "useless", "export const hook = 1;\n", /Expected a function or/],
  ])("one %s is read again when it is mended", async (_, name, source, why) => {
    const test = ["hooks", "test", name, "--channel", "cli", "--content", "x"];
    put(`hooks/${name}.ts`, source);
    await expect.poll(async () => (await cortex(...test)).err, PATIENT).toMatch(why);
    await refused(test, { code: 1, what: why, hint: /^Fix its file in hooks\// });
    expect(await cortex("hooks", "enable", name)).toMatchObject({
      code: 1,
      err: expect.stringContaining("Fix its file"),
    });
    put(`hooks/${name}.ts`, RIGHT);
    await expect.poll(async () => (await cortex(...test)).code, PATIENT).toBe(0);
  });

  test("one in a file of the wrong name is listed with what is wrong", async () => {
    put("hooks/My Hook.ts", RIGHT);
    await expect
      .poll(async () => (await cortex("hooks")).out, PATIENT)
      .toMatch(/Invalid hook name My Hook.ts: use 1 to 64 lower-case/);
  });
});

test("webhooks that are not there, not signed, and as the hints have it", async () => {
  const { host, port } = readNote(home);
  const post = async (name: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`http://${host}:${port}/webhooks/${name}`, {
      method: "POST",
      body: "{}",
      headers,
    });
    return { status: response.status, said: JSON.stringify(await response.json()) };
  };
  expect(await post("shpo")).toEqual({ status: 404, said: expect.stringMatching(/shpo.*cortex\.json/) });
  expect(await post("shop")).toEqual({
    status: 401,
    said: expect.stringMatching(/Missing header X-Cortex-Signature.*docs\/webhooks\.md/),
  });
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac("sha256", SECRET).update(`${timestamp}.{}`).digest("hex");
  const headers = { "X-Cortex-Timestamp": timestamp, "X-Cortex-Signature": `sha256=${signature}` };
  expect(await post("shop", headers)).toMatchObject({ status: 202 });
});

describe("servers", () => {
  test("none, a second one, and a port that is taken: each says what starts one", async () => {
    const { port } = readNote(home);
    const other = join(folder.path, "second");
    const none = await refused(["send", "hi", "--home", other], {
      code: 3,
      what: /No server/,
      hint: /`cortex up/,
    });
    expect(none).toContain(`\`cortex up --home ${other}\``);
    await refused(["up"], {
      code: 1,
      what: /Process \d+, up since/,
      hint: /set CORTEX_HOME to another home/,
    });
    await refused(["up", "--home", other, "--port", String(port), "--team-dir", join(other, "team")], {
      code: 1,
      what: new RegExp(`:${port}`),
      hint: /--port/,
    });
    const second = start(other, "up", "--home", other, "--port", "0");
    await second.says("Ctrl-C stops it");
    expect(await cortex("send", "hi", "--home", other)).toMatchObject({ code: 0 });
    second.child.kill("SIGTERM");
    expect(await second.ended).toMatchObject({ code: 0 });
  });

  test.runIf(process.platform === "linux")("a service where there is no systemd", async () => {
    environment["PATH"] = "/nowhere";
    const ended = await cortex("service", "install", "--home", join(folder.path, "served"));
    environment["PATH"] = process.env["PATH"];
    // The file is there, and the commands that start it where there is one.
    expect(ended).toMatchObject({
      code: 0,
      err: "",
      out: expect.stringMatching(/Not started: .*To start it later:\n {2}systemctl --user/),
    });
  });
});

describe("where it runs", () => {
  /** A checkout in which nobody has run `npm ci`. */
  function checkout(): ReturnType<typeof temporaryFolder> {
    const bare = temporaryFolder();
    const root = dirname(dirname(BIN));
    for (const name of ["bin", "package.json", "src/cli", "src/model", "src/config/home.ts"])
      cpSync(join(root, name), join(bare.path, name), { recursive: true });
    return bare;
  }

  async function called(args: readonly string[]) {
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    const [err] = await Promise.all([text(child.stderr), once(child, "close")]);
    return { code: child.exitCode, err };
  }

  test("before `npm ci`, which is what is missing", async () => {
    using bare = checkout();
    const { code, err } = await called([join(bare.path, "bin", "cortex.js"), "status"]);
    expect({ code, lines: err.trimEnd().split("\n") }).toEqual({
      code: 1,
      lines: [expect.stringContaining(bare.path), expect.stringContaining("Run `npm ci`")],
    });
  });

  test("on a Node that is too old", async () => {
    using bare = checkout();
    const old = `Object.defineProperty(process, "versions", { value: { node: "20.1.0" } })`;
    const { code, err } = await called([
      `--import=data:text/javascript,${encodeURIComponent(old)}`,
      join(bare.path, "bin", "cortex.js"),
    ]);
    expect({ code, lines: err.trimEnd().split("\n") }).toEqual({
      code: 1,
      lines: [expect.stringContaining("needs Node 24"), expect.stringContaining("Run `npm ci`")],
    });
  });

  test("through npx, hints say npx", async () => {
    const ended = await runHere({ ...environment, npm_command: "exec" }, ["stauts"]);
    expect(ended.err).toContain("`npx cortex status`");
    const fresh = join(folder.path, "through-npx");
    const made = await runHere({ ...environment, npm_command: "exec" }, ["init", "--yes", "--home", fresh]);
    expect(made.out).toContain("npx cortex up --home");
    const found = await runHere({ ...environment, npm_command: "exec" }, ["status", "--home", fresh]);
    expect(found.out).toContain("start it with `npx cortex up`");
    expect(readFileSync(join(fresh, "config", "cortex.json"), "utf8")).toContain("sandbox");
  });
});
