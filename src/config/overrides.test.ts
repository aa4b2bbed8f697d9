import { expect, test } from "vitest";
import { loadFiles, problemsIn } from "../../test/support/config-home.ts";
import { activeProfile } from "./config.ts";
import { SETTINGS } from "./overrides.ts";

test("a flag comes before the environment, the environment before the file, the file before the default", async () => {
  const file = { "cortex.json": { server: { port: 1 } } };
  const environment = { CORTEX_PORT: "2" };
  const port = async (...given: Parameters<typeof loadFiles>): Promise<number> =>
    (await loadFiles(...given)).config.server.port;

  expect(await port({})).toBe(4747);
  expect(await port(file)).toBe(1);
  expect(await port(file, { environment })).toBe(2);
  expect(await port(file, { environment, flags: { port: "3" } })).toBe(3);
});

test("any single value can be set by its path", async () => {
  const { config } = await loadFiles(
    {},
    {
      environment: {
        CORTEX_BROKER_QUEUE_DEBOUNCE_MS: "250",
        CORTEX_BROKER_QUEUE_MODE: "collect",
        CORTEX_HOOKS_LLM_USD_PER_DAY: "0.5",
        CORTEX_TIMEZONE: "Asia/Tokyo",
        CORTEX_ADMIN_CHANNEL: "webhook",
        CORTEX_ADMIN_PLACE: "desk",
      },
      flags: { "broker-max-concurrent-runs": "2" },
    },
  );
  expect(config.broker).toMatchObject({ maxConcurrentRuns: 2, queue: { debounceMs: 250, mode: "collect" } });
  expect(config.hooks.llmUsdPerDay).toBe(0.5);
  expect(config.timezone).toBe("Asia/Tokyo");
  expect(config.admin).toEqual({ channel: "webhook", account: "default", place: "desk" });
});

test("the names of flags and variables follow from the path, and no two are the same", () => {
  const names = SETTINGS.map(({ path, flag, variable }) => `${path.join(".")} --${flag} ${variable}`);
  expect(names).toContain("server.port --port CORTEX_PORT");
  expect(names).toContain("server.host --host CORTEX_HOST");
  expect(names).toContain("defaultProfile --profile CORTEX_PROFILE");
  expect(names).toContain("broker.leaseMs --broker-lease-ms CORTEX_BROKER_LEASE_MS");
  expect(names).toContain("relay.onRestart --relay-on-restart CORTEX_RELAY_ON_RESTART");
  expect(new Set(SETTINGS.map(({ variable }) => variable)).size).toBe(SETTINGS.length);
});

test("CORTEX_PROFILE names the active profile", async () => {
  const profiles = { "profiles.json": { defaultProfile: "work", profiles: { work: {}, local: {} } } };
  const { config } = await loadFiles(profiles, { environment: { CORTEX_PROFILE: "local" } });
  expect(activeProfile(config)?.name).toBe("local");
});

test("a wrong value of a flag or variable is a problem beside those of the files, named for where it was set", async () => {
  const problems = await problemsIn(
    { "cortex.json": { sandbox: "on" } },
    {
      environment: { CORTEX_PORT: "http", CORTEX_PROFILE: "locl", CORTEX_TIMEZONE: "Mars" },
      flags: { port: "70000", prot: "1" },
    },
  );
  expect(problems).toEqual([
    'flag --prot: unknown setting. Did you mean "port"?',
    'environment CORTEX_TIMEZONE timezone: unknown time zone "Mars". Time zone for timers and for times shown to agents, such as Europe/Berlin.',
    "flag --port server.port: expected at most 65535, got 70000. Port; 0 picks a free one.",
    'environment CORTEX_PORT server.port: expected a number, got "http". Port; 0 picks a free one.',
    'cortex.json:2:14 sandbox: expected one of auto, require, off, got "on". Use one of auto, require, off.',
    'environment CORTEX_PROFILE defaultProfile: unknown profile "locl". Use one of offline.',
  ]);
});

test("a flag does not hide that the file is wrong", async () => {
  const problems = await problemsIn({ "cortex.json": { server: { port: "x" } } }, { flags: { port: "1" } });
  expect(problems).toHaveLength(1);
});

test("a variable that sets half of something is a problem, and not an exception", async () => {
  expect(await problemsIn({}, { environment: { CORTEX_ADMIN_CHANNEL: "webhook" } })).toEqual([
    "cortex.json admin.place: missing. Id of the chat on the channel, or name of the webhook.",
  ]);
});

test("an empty variable counts as not set, and others of that prefix are nobody's business", async () => {
  const environment = { CORTEX_PORT: "", CORTEX_HOME: "/tmp", CORTEX_SOMETHING: "else" };
  const { config } = await loadFiles({}, { environment });
  expect(config.server.port).toBe(4747);
});
