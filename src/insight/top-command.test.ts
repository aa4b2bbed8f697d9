import { expect, test } from "vitest";

import type { Overview } from "./overview.ts";
import { describeTop, topView, withoutTime } from "./top-command.ts";

const NOW_MS = Date.UTC(2026, 2, 1, 12);
const plain = (_: unknown, words: string): string => words;

const EMPTY: Overview = {
  home: "/home/me/.cortex",
  server: null,
  model: null,
  health: null,
  counts: null,
  runs: [],
  waiting: null,
  approvals: [],
  costs: null,
};

const BUSY: Overview = {
  ...EMPTY,
  counts: {
    events: 9,
    turns: 4,
    sessions: 2,
    queued: 1,
    running: 1,
    suspended: 0,
    dead: 1,
    deliveries: { pending: 0, sending: 0, unknown: 0, dead: 1 },
  },
  runs: [
    {
      id: "run" as Overview["runs"][number]["id"],
      turnId: "turn" as Overview["runs"][number]["turnId"],
      session: "agent:main:main" as Overview["runs"][number]["session"],
      attempt: 2,
      state: "running",
      interruptions: 0,
      wait: null,
      abort: null,
      abortedBy: null,
      isCompacting: false,
      error: null,
      startedAt: new Date(NOW_MS - 900_000).toISOString(),
      endedAt: null,
      stillMs: 660_000,
      isStuck: true,
    },
  ],
  waiting: { sessions: 0, oldestMs: null, items: [] },
  costs: { dayUsd: 1.5, dayTurns: 3, hourUsd: 0.25, hourTurns: 1, dayCalls: 0, dayTokens: 0 },
};

test("a home without anything says so, and how to begin", () => {
  expect(describeTop(topView(EMPTY, NOW_MS), plain)).toBe(
    "Cortex on /home/me/.cortex: no server is running; start one with `cortex up`\nThe ledger is empty.",
  );
});

test("what runs, what is stuck and what it costs is told", () => {
  const told = describeTop(topView(BUSY, NOW_MS), plain);
  expect(told).toContain("1 running · 0 suspended · 1 queued · 2 dead · 1.5000 USD in 24 hours (3 turns)");
  expect(told).toContain("agent:main:main  running, attempt 2  15 min 0 s  turn  no progress for 11 min 0 s");
});

test("a model that cools down is told of, and for how long", () => {
  const coolDowns = [{ profile: "busy", failures: 2, leftMs: 90_000, error: "429" }];
  const view = { ...topView(BUSY, NOW_MS), coolDowns };
  expect(describeTop(view, plain)).toContain(
    "Cooling down\nprofile busy, for another 1 min 30 s after 2 failures in a row: 429",
  );
});

test("time alone changes nothing", () => {
  expect(withoutTime(topView(BUSY, NOW_MS + 5_000))).toBe(withoutTime(topView(BUSY, NOW_MS)));
  expect(withoutTime(topView(EMPTY, NOW_MS))).not.toBe(withoutTime(topView(BUSY, NOW_MS)));
});
