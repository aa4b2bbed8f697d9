import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { configHome } from "../../test/support/config-home.ts";
import { openTestCortex, writeHome } from "../../test/support/home.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import { applyChange } from "../feature/changes.ts";
import type { Check } from "../feature/check.ts";
import { checkMachine } from "./check-machine.ts";
import { CLOCK_DOUBT_MS, EARLIEST_MS } from "./check-store.ts";
import { type DoctorOptions, examine } from "./doctor.ts";
import { addShippedRelays } from "../relay/templates/shipped-files.ts";

/** Whether there is bubblewrap, and which ports are free, depends on the machine; here, there is none, and any will do. */
const NO_SANDBOX = { PATH: "/nonexistent", CORTEX_PORT: "0" };

async function check(home: string, parts: Partial<DoctorOptions> = {}) {
  const given = { environment: NO_SANDBOX, nowMs: Date.now(), version: "1.0.0", server: undefined };
  const { state, canStart, checks } = await examine({ home, ...given, ...parts });
  const named = (name: string): Check[] => checks.filter((each) => each.name === name);
  return { state, canStart, checks, named, one: (name: string) => named(name)[0]! };
}

function changeBytes(path: string, at: number, length: number): void {
  const bytes = readFileSync(path);
  bytes.fill(0xff, at, at + length);
  writeFileSync(path, bytes);
}

describe("the machine", () => {
  test("a home that is not there yet is no fault", async () => {
    using folder = temporaryFolder();
    const { state, one } = await check(join(folder.path, "new"));
    expect(state).toBe("warn"); // there is no sandbox and no model
    expect(one("home")).toMatchObject({
      state: "ok",
      message: expect.stringContaining("does not exist yet"),
    });
    expect(one("store")).toMatchObject({ state: "ok", message: "none yet" });
    expect(one("server")).toMatchObject({ state: "ok" });
  });

  test("a Node that is too old is a failure", async () => {
    using folder = temporaryFolder();
    const [node] = await checkMachine(folder.path, "22.9.0");
    expect(node).toMatchObject({ name: "node", state: "fail", hint: expect.stringContaining("24") });
    expect((await checkMachine(folder.path, "24.0.0"))[0]).toMatchObject({ state: "ok" });
  });

  test("secrets that others can read are named, with the command that closes them", async () => {
    using home = configHome({ ".env": "A=b" });
    mkdirSync(join(home.path, "data"));
    writeFileSync(join(home.path, "data", "token"), "x", { mode: 0o640 });
    chmodSync(join(home.folder, ".env"), 0o600);
    chmodSync(join(home.path, "data", "token"), 0o640);
    const { one } = await check(home.path);
    expect(one(".env")).toMatchObject({ state: "ok" });
    expect(one("token")).toMatchObject({
      state: "warn",
      hint: `Run \`chmod go-rwx ${home.path}/data/token\`.`,
    });
  });

  test("a token that is a link is a failure, because no server starts with it", async () => {
    using home = configHome({});
    mkdirSync(join(home.path, "data"));
    writeFileSync(join(home.path, "elsewhere"), "x".repeat(64), { mode: 0o600 });
    symlinkSync(join(home.path, "elsewhere"), join(home.path, "data", "token"));
    expect((await check(home.path)).one("token")).toMatchObject({
      state: "fail",
      message: expect.stringContaining("is a symbolic link"),
    });
  });

  test.each([
    [0o777, "write to"],
    [0o755, "read"],
  ])("a home of mode %o is named, and can be closed", async (mode, verb) => {
    using folder = temporaryFolder();
    chmodSync(folder.path, mode);
    const found = (await check(folder.path)).one("home");
    expect(found).toMatchObject({ state: "warn", message: `Other users can ${verb} ${folder.path}` });
    await applyChange(found.change!);
    expect(statSync(folder.path).mode & 0o777).toBe(0o700);
  });

  test("a new home is for its owner only", async () => {
    using folder = temporaryFolder();
    const home = join(folder.path, "home");
    await using _ = await openTestCortex({}, { home });
    expect((await check(home)).one("home")).toMatchObject({ state: "ok" });
    expect(statSync(home).mode & 0o777).toBe(0o700);
  });
});

describe("the configuration", () => {
  test("settings of the team are mentioned where they are wrong", async () => {
    using home = configHome({});
    writeFileSync(join(home.path, "config.yaml"), "heartbeat_minutes: 5\n");
    expect((await check(home.path)).named("team")).toEqual([]);
    writeFileSync(join(home.path, "config.yaml"), "heartbeat_minutes: often\n");
    expect((await check(home.path)).one("team")).toMatchObject({
      state: "fail",
      message: expect.stringContaining("config.yaml:1:1 heartbeat_minutes"),
    });
  });

  test("templates of relays are right, wrong, or not there", async () => {
    using home = configHome({});
    expect((await check(home.path)).named("relays")).toEqual([]);
    addShippedRelays(home.path);
    expect((await check(home.path)).named("relays")).toEqual([
      expect.objectContaining({ state: "ok", message: "4 valid templates" }),
    ]);
    writeFileSync(join(home.path, "config", "thread-templates", "agents", "coder.json"), "{}");
    expect((await check(home.path)).one("relays")).toMatchObject({
      state: "fail",
      message: expect.stringMatching(/^\d+ problems in templates: .*coder\.json/),
      hint: expect.stringContaining("cortex relay validate"),
    });
  });

  test("one that is wrong is a failure with all that is wrong in it", async () => {
    using home = configHome({ "cortex.json": { sandbx: "off", server: { port: -1 } } });
    const { state, one, named } = await check(home.path);
    expect(state).toBe("fail");
    expect(one("config")).toMatchObject({ state: "fail", message: expect.stringMatching(/port[^]*sandbx/) });
    expect(named("sandbox")).toEqual([]);
  });

  test("a missing key is a failure for the model that answers, and a warning for others", async () => {
    const profiles = {
      mine: { provider: "anthropic", model: "claude-sonnet-4-5", apiKeyEnv: "MINE" },
      other: { provider: "openai", model: "gpt-5.1" },
    };
    using home = configHome({ "profiles.json": { defaultProfile: "mine", profiles }, ".env": "OTHER=x" });
    const before = await check(home.path);
    expect(before.one("model")).toMatchObject({ state: "fail", hint: expect.stringContaining("MINE") });
    expect(before.named("profiles")).toMatchObject([
      { state: "warn", hint: expect.stringContaining("OPENAI_API_KEY") },
    ]);
    const environment = { ...NO_SANDBOX, MINE: "a", OPENAI_API_KEY: "b" };
    const after = await check(home.path, { environment });
    expect(after.one("model")).toMatchObject({ state: "ok" });
    expect(after.named("profiles")).toEqual([]);
  });

  test("without a model there is a warning, and with the offline model on purpose there is none", async () => {
    using home = configHome();
    expect((await check(home.path)).one("model")).toMatchObject({ state: "warn" });
    home.write("profiles.json", { defaultProfile: "offline" });
    expect((await check(home.path)).one("model")).toMatchObject({ state: "ok" });
  });

  test("what is wrong with agents is listed; folders that hold the home and secrets that are short too", async () => {
    using home = configHome();
    writeFileSync(join(home.path, "file"), "");
    const permissions = { roots: [home.path, "inner"], credentials: ["PIN"] };
    home.write("cortex.json", {
      agents: { main: { workspace: "file" } },
      personas: { atlas: { permissions } },
    });
    mkdirSync(join(home.path, "inner"));
    const { named } = await check(home.path, { environment: { ...NO_SANDBOX, PIN: "1234" } });
    expect(named("agents").map(({ state, message }) => `${state} ${message}`)).toEqual([
      expect.stringMatching(/^fail agents\.main\.workspace: .*file is not a folder$/),
      `warn personas.atlas.permissions.roots: ${home.path} contains the home, with its token and keys`,
    ]);
    expect(named("secrets")).toMatchObject([{ state: "warn", message: expect.stringContaining("PIN") }]);
  });

  test("variables that are named and not set, and folders that are not there, are listed", async () => {
    using home = configHome();
    home.write("cortex.json", {
      channels: {
        webhooks: {
          pay: { scheme: "generic", secretEnv: "PAY" },
          repo: { scheme: "github", secretEnv: "REPO" },
          door: { scheme: "unsigned" },
          out: { deliverTo: { url: "https://example.com", secretEnv: "OUT" } },
          plain: { deliverTo: { url: "https://example.com" } },
        },
        files: { inbox: { folder: "inbox" }, all: { folder: "config" } },
      },
      webSearch: { url: "http://localhost/?q={query}", apiKeyEnv: "SEARCH" },
      hooks: { env: ["REPO", "CITY"] },
      toolHooks: [{ event: "before", command: "true", env: ["POLICY"] }],
      subAgents: { types: { own: { description: "Ours.", command: ["own"], env: ["OWN"] } } },
    });
    const environment = { ...NO_SANDBOX, REPO: "a long secret", SEARCH: "" };
    const { named } = await check(home.path, { environment });
    expect(named("variables").map(({ state, message }) => `${state} ${message}`)).toEqual([
      "fail channels.webhooks.pay.secretEnv: PAY is not set, so requests to this webhook are rejected",
      "fail channels.webhooks.out.deliverTo.secretEnv: OUT is not set, so deliveries to this webhook fail",
      "fail webSearch.apiKeyEnv: SEARCH is not set, so WebSearch fails",
      "warn hooks.env[1]: CITY is not set, so programs do not get it",
      "warn toolHooks[0].env[0]: POLICY is not set, so programs do not get it",
      "warn subAgents.types.own.env[0]: OWN is not set, so programs do not get it",
    ]);
    expect(named("files")).toMatchObject([
      { state: "warn", message: expect.stringContaining("files.inbox: ") },
    ]);
  });

  test.each([
    ["auto", "warn", /needs your approval, because bubblewrap is not installed/],
    ["require", "fail", /are refused, because bubblewrap is not installed/],
    ["off", "warn", /without a sandbox/],
  ])("sandbox %s without bubblewrap: %s", async (sandbox, state, message) => {
    using home = configHome({ "cortex.json": { sandbox } });
    expect((await check(home.path)).one("sandbox")).toMatchObject({
      state,
      message: expect.stringMatching(message),
      hint: expect.any(String),
    });
  });
});

describe("the ledger", () => {
  test("beside a running Cortex it is whole, and who has it is said", async () => {
    await using cortex = await openTestCortex();
    const { one } = await check(cortex.home);
    expect(one("store")).toEqual({
      name: "store",
      state: "ok",
      message: "intact; 0 events, 0 turns, 0 sessions",
      hint: null,
      change: null,
      stopsStart: false,
    });
    expect(one("lock")).toMatchObject({ state: "ok", message: expect.stringContaining(`${process.pid}`) });
    expect(one("clock")).toMatchObject({ state: "ok" });
  });

  test("what a process that is gone has left behind is said", async () => {
    using home = configHome();
    mkdirSync(join(home.path, "data"));
    const note = join(home.path, "data", "cortex.db.lock");
    for (const text of ['{"pid":2147483646,"startedAt":"2026-03-01T00:00:00.000Z"}', "{"]) {
      writeFileSync(note, text);
      expect((await check(home.path)).one("lock")).toMatchObject({ state: "warn" });
    }
  });

  test("one that is damaged is a failure", async () => {
    using folder = temporaryFolder();
    const cortex = await openTestCortex({}, { home: folder.path });
    await cortex.accept({
      adapter: "test",
      sourceId: "1",
      channel: "test",
      content: "x".repeat(50_000),
      timestampMs: 1,
    });
    await cortex.stop();
    changeBytes(join(folder.path, "data", "cortex.db"), 8192 * 3, 8192 * 20);
    const { state, one } = await check(folder.path);
    expect([state, one("store").state]).toEqual(["fail", "fail"]);
    writeFileSync(join(folder.path, "data", "cortex.db"), "no database");
    expect((await check(folder.path)).one("store")).toMatchObject({ state: "fail" });
  });

  test("a clock that cannot be right is named", async () => {
    const laterMs = Date.now() + 10 * CLOCK_DOUBT_MS;
    await using cortex = await openTestCortex({}, { clock: () => laterMs });
    await cortex.accept({ adapter: "test", sourceId: "1", channel: "test", content: "x", timestampMs: 1 });
    expect((await check(cortex.home)).one("clock")).toMatchObject({
      state: "warn",
      message: expect.stringContaining("50 minutes in the future"),
    });
    expect((await check(cortex.home, { nowMs: laterMs })).one("clock")).toMatchObject({ state: "ok" });
    expect((await check("/nonexistent", { nowMs: EARLIEST_MS - 1 })).one("clock")).toMatchObject({
      state: "fail",
    });
  });
});

describe("what keeps Cortex from starting", () => {
  test("is told apart from what only does not work", async () => {
    using home = configHome({ "cortex.json": { sandbox: "require" } });
    expect(await check(home.path)).toMatchObject({ state: "fail", canStart: true });
    home.write("cortex.json", { sandbox: "often" });
    expect(await check(home.path)).toMatchObject({ state: "fail", canStart: false });
  });

  test("a port that another process has does, unless that is the server", async () => {
    await using other = await listenSomewhere();
    using home = configHome({ "cortex.json": { server: { port: other.port } } });
    const environment = { PATH: "/nonexistent" };
    const { canStart, one } = await check(home.path, { environment });
    expect(canStart).toBe(false);
    expect(one("port")).toMatchObject({ message: `Port in use by another process: 127.0.0.1:${other.port}` });
    const served = await check(home.path, { environment, server: { version: "1.0.0" } });
    expect([served.canStart, served.named("port")]).toEqual([true, []]);
  });
});

async function listenSomewhere(): Promise<AsyncDisposable & { port: number }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}

test("hooks that cannot be loaded are named, and those that can are counted", async () => {
  const home = temporaryFolder();
  using _ = home;
  writeHome(home.path, { hooks: { "good.ts": HOOK, "bad.ts": "export default 1;\n" } });
  const cortex = await openTestCortex({}, { home: home.path });
  await cortex.stop();
  expect((await check(home.path)).named("hooks")).toMatchObject([
    { state: "warn", message: expect.stringMatching(/^bad failed to load: /) },
  ]);
});

const HOOK = `export const meta = { name: "Good", description: "Does nothing." };
export default async () => ({ fire: false });
`;

test("a team directory is looked at where there is one", async () => {
  using home = configHome({});
  const team = join(home.path, "team");
  const environment = { ...NO_SANDBOX, CORTEX_TEAM_DIR: team };
  mkdirSync(join(team, "agents", "vera"), { recursive: true });
  expect((await check(home.path, { environment })).one("team")).toMatchObject({
    state: expect.stringMatching(/^(ok|warn)$/),
    message: expect.stringContaining(team),
  });
});

test("a server of another version is to be restarted", async () => {
  using folder = temporaryFolder();
  const url = "http://127.0.0.1:4747";
  expect((await check(folder.path, { server: { url, version: "1.0.0" } })).one("server")).toMatchObject({
    state: "ok",
    message: `${url}, version 1.0.0`,
  });
  expect((await check(folder.path, { server: { url, version: "0.9.0" } })).one("server")).toMatchObject({
    state: "warn",
    hint: expect.stringContaining("Restart"),
  });
});

test("unknown keys of config.yaml and of relay templates are warnings", async () => {
  using folder = temporaryFolder();
  const templates = {
    agents: {
      writer: {
        profile: "offline",
        persistSession: false,
        directive: "Write.",
        promptTemplate: "{{input}}",
        colour: "red",
      },
    },
    templates: {
      solo: { agents: ["writer"], entryAgent: "writer", transitions: [], maxTotalSteps: 1, hue: 1 },
    },
  };
  writeHome(folder.path, { relays: templates });
  writeFileSync(join(folder.path, "config.yaml"), "team_dir: /nonexistent/team\nobsidian_vault: x\n");
  const { named, canStart } = await check(folder.path);
  expect(canStart).toBe(true);
  expect(named("team")).toMatchObject([
    { state: "warn", message: 'config.yaml:2:1: unknown key "obsidian_vault"' },
  ]);
  expect(named("relays").map(({ state, message }) => [state, message.replace(/^\S+ /, "")])).toEqual([
    ["warn", expect.stringMatching(/^agents\.writer\.colour: /)],
    ["warn", expect.stringMatching(/^templates\.solo\.hue: /)],
  ]);
});

test("unknown tools, ignored fields and plugins that load nothing are warnings", async () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, "plugins", "empty"), { recursive: true });
  mkdirSync(join(folder.path, "plugins", "unused", "pdf"), { recursive: true });
  writeFileSync(
    join(folder.path, "plugins", "unused", "pdf", "SKILL.md"),
    "---\nname: pdf\ndescription: x\n---\n",
  );
  const pluginDirs = ["plugins/empty"];
  const writer = {
    profile: "offline",
    persistSession: false,
    promptTemplate: "{{input}}",
    tools: "Read, Gerp",
    claudeAgent: "scribe",
    pluginDirs,
  };
  const member = { ref: "writer", tools: ["file_read", "Wriet"], outputStyle: "terse" };
  writeHome(folder.path, {
    cortex: { agents: { main: { tools: ["Raed"], pluginDirs } } },
    relays: {
      agents: { writer },
      templates: { solo: { agents: [member], entryAgent: "writer", transitions: [], maxTotalSteps: 1 } },
    },
  });
  const { named } = await check(folder.path);
  const told = (name: string) => named(name).map(({ state, message, hint }) => [state, message, hint]);
  expect(told("plugins")).toEqual([
    ["warn", "plugins/unused is not loaded: no agent names it", expect.stringContaining("pluginDirs")],
  ]);
  expect(told("agents")).toEqual([
    ["warn", 'agents.main.tools[0]: unknown tool "Raed"', 'Did you mean "Read"?'],
    ["warn", expect.stringMatching(/plugins\/empty: it is empty: /), expect.any(String)],
  ]);
  expect(
    told("relays").map(([state, message, hint]) => [state, message!.replace(/^\S+ /, ""), hint]),
  ).toEqual([
    ["warn", 'agents.writer.tools: unknown tool "Gerp"', 'Did you mean "Grep"?'],
    [
      "warn",
      'agents.writer.claudeAgent: ignored because backend "offline" does not use it',
      expect.any(String),
    ],
    ["warn", expect.stringMatching(/^agents\.writer\.pluginDirs\[0\]: it is empty: /), expect.any(String)],
    ["warn", 'templates.solo.agents[0].tools[1]: unknown tool "Wriet"', 'Did you mean "Write"?'],
    [
      "warn",
      "templates.solo.agents[0].outputStyle: ignored because no backend of this version uses it",
      expect.any(String),
    ],
  ]);
});
