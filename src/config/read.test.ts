import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configHome, loadFiles, problemsIn } from "../../test/support/config-home.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import type { AgentId, PersonaId } from "../model/ids.ts";
import { activeProfile, profile } from "./config.ts";
import { MAX_ENTRIES } from "./schema-parts.ts";
import { MAX_PROBLEMS_LISTED } from "./problem.ts";
import { readConfig } from "./read.ts";

const main = "main" as AgentId;
const atlas = "atlas" as PersonaId;

test("with no file at all there is a manager called main with the persona Atlas and all tools", async () => {
  using home = configHome();
  const { config } = await readConfig({
    home: home.path,
    environment: {},
    systemTimezone: () => "Europe/Berlin",
  });

  expect(config).toMatchObject({
    agents: { main: { persona: "atlas", profile: "__active__", role: "manager", tools: ["*"] } },
    personas: {
      atlas: {
        identity: { name: "Atlas" },
        permissions: { tools: { allow: ["*"], deny: [] }, hosts: ["*"] },
      },
    },
    broker: {
      maxConcurrentRuns: 8,
      maxAttempts: 3,
      maxInterruptions: 20,
      leaseMs: 30_000,
      shutdownMs: 10_000,
      queue: { mode: "steer-backlog", agentMode: "followup", debounceMs: 1_000, cap: 20, drop: "summarize" },
    },
    hooks: { profile: "__active__", llmUsdPerDay: 1 },
    relay: { onRestart: "fail" },
    sandbox: "auto",
    store: "sqlite",
    timezone: "Europe/Berlin",
    server: { host: "127.0.0.1", port: 4747 },
    dmScope: "main",
    profiles: { offline: { name: "offline", backend: "offline", fallback: [] } },
  });
  expect(Object.keys(config.agents)).toEqual(["main"]);
  expect(config.agents[main]!.workspace).toBe(join(home.path, "workspaces", "main"));
  expect(config.admin).toBeUndefined();
  expect(activeProfile(config)).toBeUndefined();
});

test("a home that is not there is a home without files", async () => {
  using home = configHome();
  const nowhere = join(home.path, "nowhere");
  const { config } = await readConfig({ home: nowhere, environment: {}, systemTimezone: () => "UTC" });
  expect(config.server.port).toBe(4747);
});

test("an agent beside main is a worker unless it says otherwise, and main is always there", async () => {
  const { config } = await loadFiles({
    "cortex.json": { agents: { scout: {}, clerk: { role: "manager" } }, personas: { nova: {} } },
  });
  expect(
    Object.entries(config.agents)
      .map(([id, { role }]) => `${id} ${role}`)
      .toSorted(),
  ).toEqual(["clerk manager", "main manager", "scout worker"]);
  expect(
    Object.values(config.personas)
      .map(({ identity }) => identity.name)
      .toSorted(),
  ).toEqual(["Atlas", "Nova"]);
});

test("what is said of main or atlas changes only that", async () => {
  const { config } = await loadFiles({
    "cortex.json": {
      agents: { main: { limits: { modelCalls: 7 } } },
      personas: { atlas: { permissions: { spendUsdPerDay: 3 }, mainSession: "Telegram:group:123" } },
    },
  });
  expect(config.agents[main]).toMatchObject({ role: "manager", limits: { modelCalls: 7, repeatedCalls: 5 } });
  expect(config.personas[atlas]!.permissions).toMatchObject({ spendUsdPerDay: 3, ask: [] });
  expect(config.personas[atlas]!.mainSession).toBe("agent:main:telegram:group:123");
});

test("paths are made absolute: from the home, from the config folder for scripts, from the user's folder for ~", async () => {
  using home = configHome({
    "cortex.json": {
      agents: { main: { workspace: "work", pluginDirs: ["~/plugins", "/opt/plugins"] } },
      personas: { atlas: { permissions: { roots: ["notes"] } } },
    },
    "profiles.json": { profiles: { demo: { backend: "offline", script: "demo.yaml" } } },
  });
  const { config } = await readConfig({
    home: home.path,
    environment: { HOME: "/home/ann" },
    systemTimezone: () => "UTC",
  });
  expect(config.agents[main]!.workspace).toBe(join(home.path, "work"));
  expect(config.agents[main]!.pluginDirs).toEqual(["/home/ann/plugins", "/opt/plugins"]);
  expect(config.personas[atlas]!.permissions.roots).toEqual([join(home.path, "notes")]);
  expect(profile(config, "demo").script).toBe(join(home.folder, "demo.yaml"));
});

test("a configuration with ten mistakes lists all ten, with places and hints", async () => {
  const cortex = `{
  "agents": {
    "main": { "rol": "manager", "persona": "nova" },
    "Scout": { "role": "boss", "limits": { "modelCalls": 0 } }
  },
  "personas": { "atlas": { "mainSession": "a b" } },
  "broker": { "maxConcurrentRuns": "8", "queue": { "mode": "stear" } },
  "timezone": "Mars/Olympus"
}`;
  const profiles = `{ "profiles": {
  "work": { "backend": "pi", "fallback": ["wrok"] }
} }`;
  expect(await problemsIn({ "cortex.json": cortex, "profiles.json": profiles })).toEqual([
    'cortex.json:3:15 agents.main.rol: unknown key. Did you mean "role"?',
    'cortex.json:4:24 agents.Scout.role: expected one of manager, worker, got "boss". Use one of manager, worker.',
    "cortex.json:4:58 agents.Scout.limits.modelCalls: expected at least 1, got 0. Maximum number of model calls per turn.",
    'cortex.json:6:43 personas.atlas.mainSession: Invalid session key "a b": a label has 1 to 64 letters, digits, dots, - and _. Use a label such as `work`, or a key such as `agent:main:main` or `telegram:group:123`.',
    'cortex.json:7:36 broker.maxConcurrentRuns: expected a number, got "8". Maximum number of concurrent turns.',
    'cortex.json:7:60 broker.queue.mode: Unknown queue mode "stear". Queue modes: steer, steer-backlog, followup, queue, collect, interrupt.',
    'cortex.json:8:15 timezone: unknown time zone "Mars/Olympus". Time zone for timers and for times shown to agents, such as Europe/Berlin.',
    'cortex.json:3:44 agents.main.persona: unknown persona "nova". Use one of atlas.',
    'cortex.json:4:5 agents.Scout: "Scout" contains uppercase letters. Write "scout".',
    'profiles.json:2:43 profiles.work.fallback[0]: unknown profile "wrok". Did you mean "work"?',
  ]);
});

test("all problems are one error, which says how many there are", async () => {
  await expect(loadFiles({ "cortex.json": { a: 1, b: 2 } })).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringMatching(/^The configuration in .+config has 2 problems:\n/) as string,
  });
  await expect(loadFiles({ "cortex.json": { dmscope: "main" } })).rejects.toMatchObject({
    message: expect.stringMatching(/^\/.+\/config\/cortex\.json:2:3 dmscope: unknown key$/) as string,
    hint: 'Did you mean "dmScope"?',
  });
});

test("a file that is not JSON does not hide what is wrong with the other", async () => {
  const problems = await problemsIn({ "cortex.json": "{", "profiles.json": { defaultProfil: "x" } });
  expect(problems).toHaveLength(2);
  expect(problems[0]).toMatch(/^cortex\.json:1:2: invalid JSON: missing closing }\. /);
  expect(problems[1]).toMatch(/^profiles\.json:2:3 defaultProfil: unknown key/);
});

test.each([["[]"], ["5"], ["null"]])("a file that holds %s is a problem of the whole file", async (text) => {
  const [problem, ...more] = await problemsIn({ "cortex.json": text });
  expect(problem).toMatch(
    /^cortex\.json:1:1: expected an object, got (a list|5|null)\. Cortex configuration\.$/,
  );
  expect(more).toEqual([]);
});

test("what misses a key is shown once, and is not taken for more than it is", async () => {
  expect(await problemsIn({ "cortex.json": { admin: {}, agents: { x: { persona: "nova" } } } })).toEqual([
    "cortex.json:2:12 admin.channel: missing. Channel; http and cli only record reports in the ledger.",
    "cortex.json:2:12 admin.place: missing. Id of the chat on the channel, or name of the webhook.",
    'cortex.json:5:18 agents.x.persona: unknown persona "nova". Use one of atlas.',
  ]);
});

test("a persona or profile that is wrong in itself is not also called unknown", async () => {
  const problems = await problemsIn({
    "cortex.json": { agents: { main: { persona: "nova", profile: "work" } }, personas: { nova: 5 } },
    "profiles.json": { profiles: { work: [] } },
  });
  expect(problems).toEqual([
    "cortex.json:9:13 personas.nova: expected an object, got 5. Identity and permissions.",
    "profiles.json:3:13 profiles.work: expected an object, got a list. A backend and a model.",
  ]);
});

test("a key that was pasted into a profile is not repeated in the error", async () => {
  const problems = await problemsIn({
    "profiles.json": { profiles: { work: { apiKey: "sk-12345", apiKeyEnv: "sk-67890" } } },
  });
  expect(problems).toEqual([
    "profiles.json:5:20 profiles.work.apiKeyEnv: invalid environment variable name. Environment variable that holds the API key, never the key itself.",
    'profiles.json:4:7 profiles.work.apiKey: unknown key. Did you mean "apiKeyEnv"?',
  ]);
});

test(`no more than ${MAX_PROBLEMS_LISTED} problems are listed, the others are counted`, async () => {
  const names = Array.from({ length: MAX_PROBLEMS_LISTED + 7 }, (_, index) => [`key${index}`, 1]);
  const problems = await problemsIn({ "cortex.json": Object.fromEntries(names) });
  expect(problems).toHaveLength(MAX_PROBLEMS_LISTED + 1);
  expect(problems.at(-1)).toBe("and 7 more");
});

test(`there may be ${MAX_ENTRIES} profiles with the one that is built in, and no more`, async () => {
  const profiles = (count: number) => ({
    profiles: Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `p${index}`,
        { fallback: index + 1 < count ? [`p${index + 1}`] : [] },
      ]),
    ),
  });
  const { config } = await loadFiles({ "profiles.json": profiles(MAX_ENTRIES - 1) });
  expect(Object.keys(config.profiles)).toHaveLength(MAX_ENTRIES);
  expect(await problemsIn({ "profiles.json": profiles(MAX_ENTRIES) })).toEqual([
    "profiles.json:2:15 profiles: more than 1000 entries. Profiles by name. `offline` always exists.",
  ]);
});

test("a profile has its key as its name, and an unknown one is an error with the known ones", async () => {
  const { config } = await loadFiles({
    "profiles.json": { defaultProfile: "local", profiles: { local: { model: "qwen3" } } },
  });
  expect(activeProfile(config)).toEqual({ name: "local", backend: "pi", model: "qwen3", fallback: [] });
  expect(() => profile(config, "constructor")).toThrow(
    expect.objectContaining({
      code: "profile_unknown",
      message: 'Unknown profile "constructor"',
      hint: "Known profiles: offline, local. Add others in config/profiles.json.",
    }),
  );
});

test("variables of .env can be looked up, those of the process come first, and the process has no new ones", async () => {
  const { environment } = await loadFiles(
    { ".env": "ONLY_IN_FILE='a b' # why\nIN_BOTH=file\nexport THIRD=3\n" },
    { environment: { IN_BOTH: "process" } },
  );
  expect(environment("ONLY_IN_FILE")).toBe("a b");
  expect(environment("IN_BOTH")).toBe("process");
  expect(environment("THIRD")).toBe("3");
  expect(environment("NOWHERE")).toBeUndefined();
  expect(environment("constructor")).toBeUndefined();
  expect(process.env["ONLY_IN_FILE"]).toBeUndefined();
});

test("a .env may be a link, as mounted secrets are, but not to a file that others can write", async () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, "config"));
  const mounted = join(folder.path, "mounted");
  writeFileSync(mounted, "CORTEX_SANDBOX=off\n", { mode: 0o644 });
  symlinkSync(mounted, join(folder.path, "config", ".env"));
  const read = () => readConfig({ home: folder.path, environment: {}, systemTimezone: () => "UTC" });
  expect((await read()).environment("CORTEX_SANDBOX")).toBe("off");
  chmodSync(mounted, 0o666);
  await expect(read()).rejects.toThrow(/\.env: it is a symbolic link to a file that other users can write/);
});

test("every value says where it came from", async () => {
  const { config } = await loadFiles(
    {
      "cortex.json":
        '{\n "server": { "host": "::1",\n "port": 1 },\n "agents": { "main": { "tools": [] } } }',
      "profiles.json": { profiles: { "gpt-4.1": { model: "x" } } },
      ".env": "CORTEX_SANDBOX=off",
    },
    { environment: { CORTEX_PORT: "8080", CORTEX_PROFILE: "offline" }, flags: { port: "9090" } },
  );
  expect(config.origins).toMatchObject({
    "server.host": "cortex.json:2",
    "server.port": "flag --port",
    sandbox: ".env CORTEX_SANDBOX",
    defaultProfile: "environment CORTEX_PROFILE",
    "agents.main.tools": "cortex.json:4",
    "agents.main.role": "default",
    timezone: "default",
    'profiles["gpt-4.1"].model': "profiles.json:4",
    'profiles["gpt-4.1"].backend': "default",
    "profiles.offline.backend": "default",
  });
  expect(Object.keys(config.origins)).not.toContain("profiles.offline.name");
});

test("a misspelt key is an error with the key that was meant, in both files and at any depth", async () => {
  expect(
    await problemsIn({
      "cortex.json": {
        channels: { webhoks: {}, matrxi: {} },
        personas: { atlas: { identity: { sol: "x" } } },
      },
      "profiles.json": { defualtProfile: "offline", profiles: { mine: { modle: "x", price: { inpt: 1 } } } },
    }),
  ).toEqual([
    expect.stringMatching(/identity\.sol: unknown key\. Did you mean "soul"\?$/),
    expect.stringMatching(/channels\.webhoks: unknown key\. Did you mean "webhooks"\?$/),
    expect.stringMatching(
      /channels\.matrxi: unknown key.*Did you mean "matrix"\? It is not available in this version; available: webhooks, files, telegram, slack, discord, paired\.$/,
    ),
    expect.stringMatching(/price\.input: missing/),
    expect.stringMatching(/price\.output: missing/),
    expect.stringMatching(/price\.inpt: unknown key.*Did you mean "input"\?$/),
    expect.stringMatching(/profiles\.mine\.modle: unknown key.*Did you mean "model"\?$/),
    expect.stringMatching(/defualtProfile: unknown key.*Did you mean "defaultProfile"\?$/),
  ]);
});

test.each([
  [
    "cortex.json",
    { channels: { matrix: {} } },
    /channels\.matrix: not available in this version\. Available: webhooks, files, telegram, slack, discord, paired\./,
  ],
  ["cortex.json", { mcpServers: {} }, /mcpServers: not available in this version\./],
  [
    "cortex.json",
    { store: "postgres" },
    /store: "postgres" is not available in this version\. Available: sqlite\./,
  ],
  ["cortex.json", { admin: { channel: "matrix", place: "1" } }, /admin\.channel: "matrix" is not available/],
  [
    "profiles.json",
    { profiles: { c: { backend: "claude" } } },
    /backend: "claude" is not available in this version\. Available: pi, offline\./,
  ],
  [
    "profiles.json",
    { profiles: { c: { backend: "codx" } } },
    /expected one of pi, offline, got "codx"\. Did you mean "codex"\? It is not available/,
  ],
])("what is not built yet is refused as such: %s %j", async (file, content, problem) => {
  expect(await problemsIn({ [file]: content })).toEqual([expect.stringMatching(problem)]);
});
