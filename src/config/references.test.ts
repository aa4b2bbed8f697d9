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
  [{ a: ["a"] }, ["profiles.a.fallback[0]: goes in a circle: a → a"]],
  [{ a: ["b"], b: ["c"], c: ["offline", "a"] }, ["profiles.c.fallback[1]: goes in a circle: a → b → c → a"]],
  [{ x: ["a"], a: ["b"], b: ["a"] }, ["profiles.b.fallback[0]: goes in a circle: a → b → a"]],
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
  [{ agents: { main: { profile: "nope" } } }, 'agents.main.profile: no profile is called "nope"'],
  [{ hooks: { profile: "nope" } }, 'hooks.profile: no profile is called "nope"'],
  [{ agents: { "a b": {} } }, 'agents["a b"]: "a b" is not the id of an agent'],
  [{ personas: { Nova: {} } }, 'personas.Nova: "Nova" has capital letters'],
  [{ personas: { "": {} } }, 'personas[""]: "" is not the id of a persona'],
  [{ identityLinks: { ann: ["ann"] } }, 'identityLinks.ann[0]: "ann" is not of the form channel:peer'],
  [{ agents: { main: { queueMode: "x" } } }, 'agents.main.queueMode: "x" is not a queue mode'],
  [{ agents: { main: { tools: [5] } } }, "agents.main.tools[0]: 5 is not a text. The tools it has"],
  [{ server: { port: 1.5 } }, "server.port: 1.5 is not a whole number"],
  [{ agents: { main: { persona: "" } } }, "agents.main.persona: is empty"],
  [permitted({ hosts: ["https://a.com"] }), 'permissions.hosts[0]: "https://a.com" is not a host'],
  [permitted({ hosts: ["a.com", "b.com:80"] }), 'permissions.hosts[1]: "b.com:80" is not a host'],
  [permitted({ hosts: ["a.com/x"] }), '"a.com/x" is not a host: a host has no scheme, port or path'],
  [permitted({ hosts: [""] }), '"" is not a host'],
  [permitted({ credentials: ["GH-TOKEN"] }), '"GH-TOKEN" is not the name of a variable'],
  [permitted({ credentials: ["sk-1234"] }), "The name of a variable of the environment or of config/.env"],
  [permitted({ spendUsdPerDay: -1 }), "permissions.spendUsdPerDay: -1 is less than 0"],
  [paired({ sender: "1" }), "channels.paired[0].channel: is missing"],
  [paired({ ...ann, permissions: { tool: {} } }), "channels.paired[0].permissions.tool: is not a key"],
  [paired({ ...ann, permissions: { hosts: ["a:1"] } }), '"a:1" is not a host'],
  [webhooks({ pay: { scheme: "generic" } }), "channels.webhooks.pay.secretEnv: is missing"],
  [webhooks({ pay: { secretEnv: "PAY" } }), "channels.webhooks.pay.scheme: is missing"],
  [
    webhooks({ pay: { scheme: "unsigned", secretEnv: "PAY" } }),
    "channels.webhooks.pay.secretEnv: is of no use to what is unsigned",
  ],
  [
    webhooks({ pay: { scheme: "gitlab", secretEnv: "PAY" } }),
    'channels.webhooks.pay.scheme: "gitlab" is not one of github, stripe, slack, generic, unsigned',
  ],
  [webhooks({ pay: { scheme: "github", secretEnv: "no name" } }), "channels.webhooks.pay.secretEnv:"],
  [webhooks({ pay: { secret: "x" } }), "channels.webhooks.pay.secret: is not a key"],
  [webhooks({ "Pay/1": { scheme: "unsigned" } }), 'channels.webhooks["Pay/1"]: "Pay/1" is not a name'],
  [{ channels: { files: { "a b": { folder: "x" } } } }, 'channels.files["a b"]: "a b" is not a name'],
  [{ channels: { files: { inbox: {} } } }, "channels.files.inbox.folder: is missing"],
  [inbox({ settleMs: MAX_SETTLE_MS + 1 }), `inbox.settleMs: ${MAX_SETTLE_MS + 1} is more than`],
  [inbox({ maxBytes: MAX_FILE_TEXT_BYTES + 1 }), `inbox.maxBytes: ${MAX_FILE_TEXT_BYTES + 1} is more than`],
  [paired(ann, ann), 'channels.paired[1]: "1" of "telegram" is there twice'],
  [{ webSearch: {} }, "webSearch.url: is missing"],
  [{ webSearch: { url: "ftp://a/{query}" } }, '"ftp://a/{query}" is not an http or https address'],
  [{ webSearch: { url: "https://a.com/search" } }, '"https://a.com/search" has no {query}'],
  [
    { webSearch: { url: "https://a.com/?q={query}", apiKeyEnv: "a b" } },
    '"a b" is not the name of a variable',
  ],
  [{ toolHooks: [{ event: "during", command: "x" }] }, '"during" is not one of before, after'],
  [{ toolHooks: [{ event: "before" }] }, "toolHooks[0].command: is missing"],
  [
    { toolHooks: [{ event: "before", command: "x", timeoutMs: MAX_TOOL_HOOK_MS + 1 }] },
    "is more than 600000",
  ],
  [
    { toolHooks: Array.from({ length: MAX_TOOL_HOOKS + 1 }, () => ({ event: "before", command: "x" })) },
    "has more than 100 entries",
  ],
  [paired(...Array.from({ length: MAX_PAIRED + 1 }, (_, i) => ({ ...ann, sender: `${i}` }))), "than 10000"],
  [{ memory: { tokens: -1 } }, "memory.tokens: -1 is less than 0"],
  [{ memory: { threshold: 2 } }, "memory.threshold: 2 is more than 1"],
])("%j in cortex.json is a problem", async (cortex, expected) => {
  const problems = await problemsIn({ "cortex.json": cortex });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(expected);
});

test.each([
  [{ defaultProfile: "__active__" }, 'defaultProfile: no profile is called "__active__"'],
  [{ profiles: { __active__: {} } }, '"__active__" is not the name of a profile'],
  [{ profiles: { "a b": {} } }, '"a b" is not the name of a profile'],
  [{ profiles: { offline: { backend: "pi" } } }, '"offline" names the profile without a model'],
  [{ profiles: { a: { fallback: ["__active__"] } } }, 'no profile is called "__active__"'],
  [{ profiles: { a: { provider: "openai-compatible" } } }, "profiles.a.baseUrl: is missing"],
  [{ profiles: { a: { baseUrl: "localhost:1234" } } }, '"localhost:1234" is not an http or https address'],
  [{ profiles: { a: { price: { input: 1 } } } }, "profiles.a.price.output: is missing"],
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
  const { config } = await readConfig({ home: home.path, environment: {}, systemTimezone: "UTC" });
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
  [types({ Big: { description: "x" } }), '"Big" is not the name of a type of sub-agent'],
  [types({ "a:b": { description: "x" } }), '"a:b" is not the name of a type of sub-agent'],
  [types({ ["x".repeat(49)]: { description: "x" } }), "is not the name of a type"],
  [types({ mine: {} }), "subAgents.types.mine.description: is missing"],
  [
    types({ mine: { description: "x", profile: "nope" } }),
    'subAgents.types.mine.profile: no profile is called "nope"',
  ],
  [types({ mine: { description: "x", command: [] } }), "subAgents.types.mine.command"],
  [types({ mine: { description: "x", command: [""] } }), "subAgents.types.mine.command"],
  [
    types({ mine: { description: "x", env: ["KEY"] } }),
    "subAgents.types.mine.env: is for a type with a command",
  ],
  [
    types({ mine: { description: "x", command: ["x"], env: ["A KEY"] } }),
    '"A KEY" is not the name of a variable',
  ],
  [{ toolHooks: [{ event: "before", command: "x", env: ["$KEY"] }] }, '"$KEY" is not the name of a variable'],
  [{ hooks: { env: "KEY" } }, "hooks.env"],
  [types({ mine: { description: "x", maxTurns: 0 } }), "0 is less than 1"],
  [
    types({ mine: { description: "x", timeoutMs: MAX_SUB_AGENT_MS + 1 } }),
    `is more than ${MAX_SUB_AGENT_MS}`,
  ],
  [{ broker: { maxDepth: MAX_DEPTH + 1 } }, `is more than ${MAX_DEPTH}`],
  [{ broker: { maxChain: MAX_CHAIN + 1 } }, `is more than ${MAX_CHAIN}`],
  [{ broker: { maxChain: 0 } }, "0 is less than 1"],
  [{ broker: { maxReturns: MAX_RETURNS + 1 } }, `is more than ${MAX_RETURNS}`],
  [{ hooks: { gatherMs: MAX_GATHER_MS + 1 } }, `is more than ${MAX_GATHER_MS}`],
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
