import { expect, test } from "vitest";

import { openTestStore } from "../../test/support/open-store.ts";
import { alice, delivery, dispatch, event, START_MS, toSession, turnFor } from "../../test/support/sample.ts";
import { begin } from "../../test/support/stores.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import {
  CHANNEL_DOWN_MS,
  findProblems,
  FULL_HEAP,
  LARGE_WAL_BYTES,
  LONG_UNKNOWN_MS,
  LONG_WAIT_MS,
  LOOP_STALL_MS,
  LOW_DISK_BYTES,
  MAX_RUNS_NAMED,
  readHealth,
  SLOW_LOOP_P99_MS,
  STILL_RUN_MS,
} from "./health.ts";
import { MAX_HOOKS_NAMED, readMeasures, type Measures } from "./measure.ts";

const still = (stillMs: number, session = "work") => ({ runId: "r", turnId: "t", session, stillMs });

const CONFIG = {
  timezone: "UTC",
  usage: { callsPerDay: 9, tokensPerDay: 9, personaCallsPerDay: 9, personaTokensPerDay: 9 },
};

const FINE: Measures = {
  uptimeMs: 1_000,
  loop: { p50Ms: 0.1, p99Ms: SLOW_LOOP_P99_MS - 1, maxMs: LOOP_STALL_MS - 1 },
  ledger: { events: 9, turns: 4, sessions: 3 },
  queue: { waiting: 3, sessionsWaiting: 2, oldestWaitingMs: LONG_WAIT_MS - 1 },
  runs: { running: 1, suspended: 1, stillest: [still(STILL_RUN_MS - 1)] },
  deliveries: { pending: 1, sending: 1, unknown: 1, dead: 0, oldestUnknownMs: LONG_UNKNOWN_MS - 1 },
  dead: { messages: 0, deliveries: 0 },
  hooks: { active: 3, disabled: 2, errored: 0, open: 0, oldestUnjudgedMs: LONG_WAIT_MS - 1, broken: [] },
  memory: { rssBytes: 200, heapUsedBytes: 1_000 * FULL_HEAP, heapLimitBytes: 1_000 },
  disk: { databaseBytes: 1, walBytes: LARGE_WAL_BYTES, freeBytes: LOW_DISK_BYTES },
  coolDowns: [],
  usageReached: [],
  unsetVariables: [],
  quotas: [],
  channels: [],
  streams: 1,
};

test("a Cortex at work, within its limits, has no problems", () => {
  expect(findProblems(FINE)).toEqual([]);
});

test.each<[string, Partial<Measures>, RegExp]>([
  [
    "a run that is still",
    { runs: { ...FINE.runs, stillest: [still(20 * 60_000, "agent:main:main")] } },
    /^A run of agent:main:main has made no progress for 20 min$/,
  ],
  [
    "a message that has waited long",
    { queue: { ...FINE.queue, oldestWaitingMs: 3 * 3_600_000 } },
    /queued for 3 h; 2 sessions waiting, 1 run in progress/,
  ],
  ["dead messages", { dead: { messages: 1, deliveries: 0 } }, /^1 dead letter: 1 message and 0 del/],
  ["dead deliveries", { dead: { messages: 2, deliveries: 1 } }, /^3 dead letters: 2 .* 1 delivery$/],
  [
    "a delivery that may have arrived",
    { deliveries: { ...FINE.deliveries, oldestUnknownMs: 3 * 86_400_000 } },
    /^1 delivery with unknown outcome.* 3 days ago$/,
  ],
  [
    "a hook that cannot be loaded",
    {
      hooks: { ...FINE.hooks, errored: 1, broken: [{ name: "bell", status: "errored", error: "oops\nat" }] },
    },
    /^Hook bell failed to load: oops$/,
  ],
  [
    "a hook that is paused",
    { hooks: { ...FINE.hooks, open: 1, broken: [{ name: "bell", status: "open", error: "no wire" }] } },
    /^Hook bell is paused .*: no wire$/,
  ],
  ["many such hooks", { hooks: { ...FINE.hooks, errored: 7 } }, /^7 more hooks failed to load or paused$/],
  [
    "an event that nobody judges",
    { hooks: { ...FINE.hooks, oldestUnjudgedMs: LONG_WAIT_MS } },
    /^An event has been waiting for its hooks for 10 min/,
  ],
  [
    "a limit on models that is reached",
    {
      usageReached: [{ what: "atlas has made 2 model calls today", setting: "personaCallsPerDay", limit: 2 }],
    },
    /^Daily limit reached: atlas has made 2 model calls today$/,
  ],
  [
    "a variable that a setting names and nobody has set",
    { unsetVariables: [{ setting: "webSearch.apiKeyEnv", variable: "KEY", effect: "WebSearch fails" }] },
    /^webSearch\.apiKeyEnv: KEY is not set, so WebSearch fails$/,
  ],
  ["a slow loop", { loop: { ...FINE.loop, p99Ms: SLOW_LOOP_P99_MS } }, /main thread.* p99 250 ms/],
  ["a stall", { loop: { ...FINE.loop, maxMs: LOOP_STALL_MS } }, /main thread.* maximum 5000 ms/],
  [
    "a full disk",
    { disk: { ...FINE.disk, freeBytes: LOW_DISK_BYTES - 1_048_576 } },
    /^Low disk space: 511 MiB/,
  ],
  ["a long log", { disk: { ...FINE.disk, walBytes: 300 * 1_048_576 } }, /write-ahead log .* 300 MiB$/],
  ["full memory", { memory: { ...FINE.memory, heapUsedBytes: 901 } }, /heap in use$/],
])("%s is a problem, with a hint", (_, measures, words) => {
  const problems = findProblems({ ...FINE, ...measures });
  expect(problems).toEqual([{ problem: expect.stringMatching(words), hint: expect.stringMatching(/\.$/) }]);
});

test("of many runs that are still, some are named and the rest counted", () => {
  const runs = Array.from({ length: MAX_RUNS_NAMED + 2 }, (_, i) => still(STILL_RUN_MS, `s${i}`));
  const problems = findProblems({ ...FINE, runs: { ...FINE.runs, stillest: runs } });
  expect(problems).toHaveLength(MAX_RUNS_NAMED + 1);
  expect(problems.at(-1)!.problem).toBe("2 more runs have made no progress for 10 min or longer");
});

test("of many hooks that are broken, some are named", async () => {
  await using opened = await openTestStore();
  using folder = temporaryFolder();
  const { store, clock } = opened;
  const names = Array.from({ length: MAX_HOOKS_NAMED + 2 }, (_, i) => `hook-${i}`);
  const fine = { name: "fine", mode: "persistent", digest: "fine" } as const;
  const broken = names.map((name) => ({ name, mode: "persistent", digest: name, error: "no" }) as const);
  await store.hooks.sync([...broken, fine]);
  await store.events.accept(event("a"), { judge: true });
  clock.advance(1_000);
  const { hooks } = await readMeasures({
    ledger: store,
    config: CONFIG,
    home: folder.path,
    nowMs: clock(),
    startedAtMs: START_MS,
    loop: FINE.loop,
    streams: 0,
    coolDowns: [],
    unsetVariables: [],
    quotas: [],
    channels: [],
  });
  expect(hooks).toMatchObject({
    active: 1,
    disabled: 0,
    errored: names.length,
    open: 0,
    oldestUnjudgedMs: 1_000,
  });
  expect(hooks.broken.map(({ name }) => name)).toEqual(names.slice(0, MAX_HOOKS_NAMED));
});

test("health tells the ages of what waits, runs and may have arrived", async () => {
  await using opened = await openTestStore();
  using folder = temporaryFolder();
  const { store, clock } = opened;
  await store.turns.commit(turnFor(await begin(store, "a", "one"), { deliveries: [delivery("a")] }));
  const [claim] = await store.outbox.claim(alice, 1);
  await store.outbox.plan(claim!, ["x"]);
  await store.outbox.settle(claim!, 0, { kind: "unknown", error: "?", retryAtMs: clock() });
  clock.advance(60_000);
  const { run, turn } = await begin(store, "b", "two");
  await store.events.accept(event("c"), { dispatch: dispatch("c", toSession("two")) });
  clock.advance(STILL_RUN_MS);

  const loop = { p50Ms: 0, p99Ms: 0, maxMs: 0 };
  const parts = {
    ledger: store,
    config: CONFIG,
    home: folder.path,
    nowMs: clock(),
    loop,
    streams: 2,
    coolDowns: [],
    unsetVariables: [],
    quotas: [],
    channels: [],
  };
  const health = await readHealth({ ...parts, startedAtMs: START_MS });
  expect(health).toMatchObject({
    status: "degraded",
    uptimeMs: STILL_RUN_MS + 60_000,
    ledger: { events: 3, turns: 1, sessions: 2 },
    queue: { waiting: 1, sessionsWaiting: 1, oldestWaitingMs: STILL_RUN_MS },
    runs: {
      running: 1,
      suspended: 0,
      stillest: [{ runId: run, turnId: turn, session: "two", stillMs: STILL_RUN_MS }],
    },
    deliveries: { unknown: 1, oldestUnknownMs: STILL_RUN_MS + 60_000 },
    dead: { messages: 0, deliveries: 0 },
    disk: { databaseBytes: 0, walBytes: 0, freeBytes: expect.any(Number) },
    streams: 2,
  });
  expect(health.problems.map(({ problem }) => problem)).toEqual(
    expect.arrayContaining([
      "A run of two has made no progress for 10 min",
      expect.stringContaining("A message has been queued for 10 min"),
      expect.stringContaining("11 min ago"),
    ]),
  );

  const restarted = await readHealth({ ...parts, startedAtMs: clock() - 5 });
  expect(restarted.runs.stillest).toMatchObject([{ stillMs: 5 }]);
});

test("a channel that needs a person is a problem at once, one that reconnects after a while", () => {
  const channel = { name: "telegram", account: "default", error: "Unauthorized. Get a token." };
  const problemsOf = (state: string, downMs: number | null, account = "default") =>
    findProblems({ ...FINE, channels: [{ ...channel, account, state, downMs }] }).map(
      ({ problem }) => problem,
    );
  expect(problemsOf("refused", 0)).toEqual([
    "Channel telegram is not connected (refused, for 0 min): Unauthorized. Get a token",
  ]);
  expect(problemsOf("backoff", CHANNEL_DOWN_MS - 1)).toEqual([]);
  expect(problemsOf("backoff", CHANNEL_DOWN_MS, "work")).toEqual([
    "Channel telegram@work is not connected (backoff, for 2 min): Unauthorized. Get a token",
  ]);
  expect(problemsOf("live", null)).toEqual([]);
  expect(problemsOf("off", CHANNEL_DOWN_MS)).toEqual([]);
});
