import { join } from "node:path";
import { expect, test } from "vitest";
import { configHome, loadFiles, problemsIn } from "../../test/support/config-home.ts";
import {
  MAX_DEPTH,
  MAX_FILE_TEXT_BYTES,
  MAX_CHAIN,
  MAX_GATHER_MS,
  MAX_RETURNS,
  MAX_PAIRED,
  MAX_SETTLE_MS,
  MAX_SUB_AGENT_MS,
  MAX_TOOL_HOOK_MS,
  MAX_TOOL_HOOKS,
} from "./cortex-schema.ts";
import { readConfig } from "./read.ts";

const permitted = (permissions: object) => ({ personas: { atlas: { permissions } } });
const paired = (...senders: object[]) => ({ channels: { paired: senders } });
const webhooks = (entries: object) => ({ channels: { webhooks: entries } });
const inbox = (entry: object) => ({ channels: { files: { inbox: { folder: "in", ...entry } } } });
const ann = { channel: "telegram", sender: "1" };

test.each([
  [{ a: ["a"] }, ["profiles.a.fallback[0]: circular fallback: a → a"]],
  [{ a: ["b"], b: ["c"], c: ["offline", "a"] }, ["profiles.c.fallback[1]: circular fallback: a → b → c → a"]],
  [{ x: ["a"], a: ["b"], b: ["a"] }, ["profiles.b.fallback[0]: circular fallback: a → b → a"]],
  [{ a: ["b"], b: ["a"], c: ["d"], d: ["c"] }, ["a → b → a", "c → d → c"]],
])("of the fallbacks %j, each circle is named once", async (fallbacks, expected) => {
  const profiles = Object.fromEntries(
    Object.entries(fallbacks).map(([name, fallback]) => [name, { fallback }]),
  );
  const problems = await problemsIn({ "profiles.json": { profiles } });
  expect(problems).toHaveLength(expected.length);
  for (const [index, text] of expected.entries()) expect(problems[index]).toContain(text);
});

test("two ways to the same fallback are no circle", async () => {
  const profiles = { a: { fallback: ["b", "c"] }, b: { fallback: ["d"] }, c: { fallback: ["d"] }, d: {} };
  await expect(loadFiles({ "profiles.json": { profiles } })).resolves.toBeDefined();
});

test.each([
  [{ agents: { main: { profile: "nope" } } }, 'agents.main.profile: unknown profile "nope"'],
  [{ hooks: { profile: "nope" } }, 'hooks.profile: unknown profile "nope"'],
  [{ agents: { "a b": {} } }, 'agents["a b"]: invalid agent id "a b"'],
  [{ personas: { Nova: {} } }, 'personas.Nova: "Nova" contains uppercase letters'],
  [{ personas: { "": {} } }, 'personas[""]: invalid persona id ""'],
  [{ identityLinks: { ann: ["ann"] } }, 'identityLinks.ann[0]: expected channel:peer, got "ann"'],
  [
    { channels: { telegram: { accounts: { work: { tokenEnv: "T", persona: "nope" } } } } },
    'channels.telegram.accounts.work.persona: unknown persona "nope"',
  ],
  [{ channels: { telegram: { queueMode: "x" } } }, 'channels.telegram.queueMode: Unknown queue mode "x"'],
  [{ agents: { main: { queueMode: "x" } } }, 'agents.main.queueMode: Unknown queue mode "x"'],
  [{ agents: { main: { tools: [5] } } }, "agents.main.tools[0]: expected a string, got 5. Tools it has"],
  [{ server: { port: 1.5 } }, "server.port: expected an integer, got 1.5"],
  [{ agents: { main: { persona: "" } } }, "agents.main.persona: must not be empty"],
  [permitted({ hosts: ["https://a.com"] }), 'permissions.hosts[0]: invalid host "https://a.com"'],
  [permitted({ hosts: ["a.com", "b.com:80"] }), 'permissions.hosts[1]: invalid host "b.com:80"'],
  [permitted({ hosts: ["a.com/x"] }), 'invalid host "a.com/x": use no scheme, port or path'],
  [permitted({ hosts: [""] }), 'invalid host ""'],
  [permitted({ credentials: ["GH-TOKEN"] }), 'invalid variable name "GH-TOKEN"'],
  [permitted({ credentials: ["sk-1234"] }), "Name of a variable in the environment or config/.env"],
  [permitted({ spendUsdPerDay: -1 }), "permissions.spendUsdPerDay: expected at least 0, got -1"],
  [paired({ sender: "1" }), "channels.paired[0].channel: missing"],
  [paired({ ...ann, permissions: { tool: {} } }), "channels.paired[0].permissions.tool: unknown key"],
  [paired({ ...ann, permissions: { hosts: ["a:1"] } }), 'invalid host "a:1"'],
  [webhooks({ pay: { scheme: "generic" } }), "channels.webhooks.pay.secretEnv: missing"],
  [webhooks({ pay: { secretEnv: "PAY" } }), "channels.webhooks.pay.scheme: missing"],
  [
    webhooks({ pay: { scheme: "unsigned", secretEnv: "PAY" } }),
    'channels.webhooks.pay.secretEnv: unused because the scheme is "unsigned"',
  ],
  [
    webhooks({ pay: { scheme: "gitlab", secretEnv: "PAY" } }),
    'channels.webhooks.pay.scheme: expected one of github, stripe, slack, generic, unsigned, got "gitlab"',
  ],
  [webhooks({ pay: { scheme: "github", secretEnv: "no name" } }), "channels.webhooks.pay.secretEnv:"],
  [webhooks({ pay: { secret: "x" } }), "channels.webhooks.pay.secret: unknown key"],
  [webhooks({ "Pay/1": { scheme: "unsigned" } }), 'channels.webhooks["Pay/1"]: invalid name "Pay/1"'],
  [{ channels: { files: { "a b": { folder: "x" } } } }, 'channels.files["a b"]: invalid name "a b"'],
  [{ channels: { files: { inbox: {} } } }, "channels.files.inbox.folder: missing"],
  [inbox({ settleMs: MAX_SETTLE_MS + 1 }), `inbox.settleMs: expected at most ${MAX_SETTLE_MS}`],
  [inbox({ maxBytes: MAX_FILE_TEXT_BYTES + 1 }), `inbox.maxBytes: expected at most ${MAX_FILE_TEXT_BYTES}`],
  [paired(ann, ann), 'channels.paired[1]: duplicate sender "1" on channel "telegram"'],
  [{ webSearch: {} }, "webSearch.url: missing"],
  [{ webSearch: { url: "ftp://a/{query}" } }, 'invalid http or https URL "ftp://a/{query}"'],
  [{ webSearch: { url: "https://a.com/search" } }, '"https://a.com/search" does not contain {query}'],
  [{ webSearch: { url: "https://a.com/?q={query}", apiKeyEnv: "a b" } }, 'invalid variable name "a b"'],
  [{ toolHooks: [{ event: "during", command: "x" }] }, 'expected one of before, after, got "during"'],
  [{ toolHooks: [{ event: "before" }] }, "toolHooks[0].command: missing"],
  [
    { toolHooks: [{ event: "before", command: "x", timeoutMs: MAX_TOOL_HOOK_MS + 1 }] },
    "expected at most 600000",
  ],
  [
    { toolHooks: Array.from({ length: MAX_TOOL_HOOKS + 1 }, () => ({ event: "before", command: "x" })) },
    "more than 100 entries",
  ],
  [paired(...Array.from({ length: MAX_PAIRED + 1 }, (_, i) => ({ ...ann, sender: `${i}` }))), "than 10000"],
  [{ memory: { tokens: -1 } }, "memory.tokens: expected at least 0, got -1"],
  [{ memory: { threshold: 2 } }, "memory.threshold: expected at most 1, got 2"],
])("%j in cortex.json is a problem", async (cortex, expected) => {
  const problems = await problemsIn({ "cortex.json": cortex });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(expected);
});

test.each([
  [{ defaultProfile: "__active__" }, 'defaultProfile: unknown profile "__active__"'],
  [{ profiles: { __active__: {} } }, 'invalid profile name "__active__"'],
  [{ profiles: { "a b": {} } }, 'invalid profile name "a b"'],
  [
    { profiles: { offline: { backend: "pi" } } },
    'the name "offline" is reserved for the profile without a model',
  ],
  [{ profiles: { a: { fallback: ["__active__"] } } }, 'unknown profile "__active__"'],
  [{ profiles: { a: { provider: "openai-compatible" } } }, "profiles.a.baseUrl: missing"],
  [{ profiles: { a: { baseUrl: "localhost:1234" } } }, 'invalid http or https URL "localhost:1234"'],
  [{ profiles: { a: { price: { input: 1 } } } }, "profiles.a.price.output: missing"],
])("%j in profiles.json is a problem", async (profiles, expected) => {
  const problems = await problemsIn({ "profiles.json": profiles });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(expected);
});

test("hosts are compared in small letters, and may be addresses and have stars", async () => {
  const hosts = ["Example.COM", "*.a.org", "*", "127.0.0.1", "[::1]", "xn--bcher-kva.de", "local_host"];
  const { config } = await loadFiles({ "cortex.json": permitted({ hosts }) });
  expect(Object.values(config.personas)[0]!.permissions.hosts).toEqual(["example.com", ...hosts.slice(1)]);
});

test("what a paired sender may do is narrowed by what is said, and folders start from the home", async () => {
  const permissions = { tools: { deny: ["Bash"] }, roots: ["~/notes", "/data"] };
  const { config } = await loadFiles(
    { "cortex.json": paired({ ...ann, permissions }, { ...ann, sender: "2" }) },
    { environment: { HOME: "/home/ann" } },
  );
  expect(config.channels.paired).toEqual([
    { ...ann, permissions: { ...permissions, roots: ["/home/ann/notes", "/data"] } },
    { ...ann, sender: "2" },
  ]);
});

test("tool hooks see every tool and have ten seconds, and agents are reminded, unless it is said otherwise", async () => {
  const { config } = await loadFiles({
    "cortex.json": {
      toolHooks: [{ event: "before", command: "./check" }],
      agents: { main: { memory: false } },
    },
  });
  expect(config.toolHooks).toEqual([
    { event: "before", match: "*", command: "./check", timeoutMs: 10_000, env: [] },
  ]);
  expect(config.memory).toEqual({ tokens: 1_000, threshold: 0.3 });
  expect(Object.values(config.agents)[0]!.memory).toBe(false);
  expect(config.webSearch).toBeUndefined();
});

test("the spelling of queue modes that others use is understood", async () => {
  const { config } = await loadFiles({ "cortex.json": { broker: { queue: { mode: "steer+backlog" } } } });
  expect(config.broker.queue.mode).toBe("steer-backlog");
});

test("the offline profile can be given a script", async () => {
  const { config } = await loadFiles({
    "profiles.json": { profiles: { offline: { backend: "offline", script: "/demo.yaml" } } },
  });
  expect(config.profiles["offline"]).toMatchObject({ backend: "offline", script: "/demo.yaml" });
});

test("a watched folder is found from the home, and all of its settings have defaults", async () => {
  using home = configHome({ "cortex.json": inbox({}) });
  const { config } = await readConfig({ home: home.path, environment: {}, systemTimezone: () => "UTC" });
  expect(config.channels.files["inbox"]).toEqual({
    folder: join(home.path, "in"),
    include: ["**"],
    exclude: ["**/*~", "**/*.tmp", "**/*.part", "**/*.crdownload"],
    settleMs: 1_000,
    maxBytes: 262_144,
    existing: "report",
  });
});

const types = (entries: object) => ({ subAgents: { types: entries } });

test.each([
  [types({ Big: { description: "x" } }), 'invalid sub-agent type name "Big"'],
  [types({ "a:b": { description: "x" } }), 'invalid sub-agent type name "a:b"'],
  [types({ ["x".repeat(49)]: { description: "x" } }), "invalid sub-agent type name"],
  [types({ mine: {} }), "subAgents.types.mine.description: missing"],
  [
    types({ mine: { description: "x", profile: "nope" } }),
    'subAgents.types.mine.profile: unknown profile "nope"',
  ],
  [types({ mine: { description: "x", command: [] } }), "subAgents.types.mine.command"],
  [types({ mine: { description: "x", command: [""] } }), "subAgents.types.mine.command"],
  [
    types({ mine: { description: "x", env: ["KEY"] } }),
    "subAgents.types.mine.env: only allowed for a type with a command",
  ],
  [types({ mine: { description: "x", command: ["x"], env: ["A KEY"] } }), 'invalid variable name "A KEY"'],
  [{ toolHooks: [{ event: "before", command: "x", env: ["$KEY"] }] }, 'invalid variable name "$KEY"'],
  [{ hooks: { env: "KEY" } }, "hooks.env"],
  [types({ mine: { description: "x", maxTurns: 0 } }), "expected at least 1, got 0"],
  [
    types({ mine: { description: "x", timeoutMs: MAX_SUB_AGENT_MS + 1 } }),
    `expected at most ${MAX_SUB_AGENT_MS}`,
  ],
  [{ broker: { maxDepth: MAX_DEPTH + 1 } }, `expected at most ${MAX_DEPTH}`],
  [{ broker: { maxChain: MAX_CHAIN + 1 } }, `expected at most ${MAX_CHAIN}`],
  [{ broker: { maxChain: 0 } }, "expected at least 1, got 0"],
  [{ broker: { maxReturns: MAX_RETURNS + 1 } }, `expected at most ${MAX_RETURNS}`],
  [{ hooks: { gatherMs: MAX_GATHER_MS + 1 } }, `expected at most ${MAX_GATHER_MS}`],
])("of programs, %j is refused", async (cortex, problem) => {
  expect((await problemsIn({ "cortex.json": cortex })).join("\n")).toContain(problem);
});

test("a type of sub-agent may be a program", async () => {
  const { config } = await loadFiles({
    "cortex.json": types({
      mine: { description: "Mine", command: ["./mine", "--fast"], profile: "offline" },
    }),
  });
  expect(config.subAgents).toEqual({
    types: { mine: { description: "Mine", command: ["./mine", "--fast"], profile: "offline" } },
    warm: 2,
    warmMs: 300_000,
    silenceMs: 120_000,
  });
  expect(config.broker).toMatchObject({ maxDepth: 3, maxChain: 8 });
});
