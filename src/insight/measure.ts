/** The measures of a running Cortex: what waits, what does not move, what it takes of the machine. */
import { stat, statfs } from "node:fs/promises";
import { getHeapStatistics } from "node:v8";

import type { Config } from "../config/config.ts";
import { databasePath } from "../config/home.ts";
import { hasCode } from "../model/error-code.ts";
import { dayStart } from "../model/day.ts";
import type { Counts, HookState, Ledger, Pulse, StoredHook } from "../store/store.ts";
import type { CoolDown } from "../turns/cool-downs.ts";
import { limitsReached, type UsageReached } from "../turns/spending.ts";
import type { LoopDelay } from "../feature/route.ts";
import type { UnsetVariable } from "../config/unset-variables.ts";

export interface Measures extends Vitals {
  readonly uptimeMs: number;
  readonly loop: LoopDelay;
  readonly ledger: Pick<Counts, "events" | "turns" | "sessions">;
  readonly queue: {
    readonly waiting: number;
    readonly sessionsWaiting: number;
    readonly oldestWaitingMs: number | null;
  };
  readonly runs: {
    readonly running: number;
    readonly suspended: number;
    /** Those at work; the ones that have been still for longest come first. */
    readonly stillest: readonly StillRun[];
  };
  readonly deliveries: Counts["deliveries"] & { readonly oldestUnknownMs: number | null };
  readonly dead: { readonly messages: number; readonly deliveries: number };
  readonly hooks: Readonly<Record<HookState, number>> & {
    readonly oldestUnjudgedMs: number | null;
    /** Those that cannot be loaded, and those that are paused, by name; at most MAX_HOOKS_NAMED. */
    readonly broken: readonly BrokenHook[];
  };
  /** How many follow what happens. */
  readonly streams: number;
  /** Profiles that failed and are left alone for now. */
  readonly coolDowns: readonly CoolingProfile[];
  /** Limits on the use of models that this day has reached. */
  readonly usageReached: readonly UsageReached[];
  /** Variables that settings name and that are not set. */
  readonly unsetVariables: readonly UnsetVariable[];
}

export interface CoolingProfile {
  readonly profile: string;
  /** In a row. */
  readonly failures: number;
  readonly leftMs: number;
  /** Of the last one. */
  readonly error: string;
}

interface BrokenHook {
  readonly name: string;
  readonly status: "errored" | "open";
  readonly error: string;
}

/** Of the hooks with which something is wrong, so many are named. */
export const MAX_HOOKS_NAMED = 5;

/** A run at work, and for how long nothing has entered its journal. */
interface StillRun {
  readonly runId: string;
  readonly turnId: string;
  readonly session: string;
  readonly stillMs: number;
}

export interface MeasuredCortex {
  readonly ledger: Ledger;
  readonly config: Pick<Config, "timezone" | "usage">;
  readonly home: string;
  readonly nowMs: number;
  readonly startedAtMs: number;
  readonly loop: LoopDelay;
  readonly streams: number;
  readonly coolDowns: readonly CoolDown[];
  readonly unsetVariables: readonly UnsetVariable[];
}

export async function readMeasures(parts: MeasuredCortex): Promise<Measures> {
  const { ledger, config, home, nowMs, startedAtMs, loop, streams, coolDowns, unsetVariables } = parts;
  const [counts, pulse, hooks, used, vitals] = await Promise.all([
    ledger.counts(),
    ledger.pulse(nowMs),
    ledger.hooks.list(),
    ledger.turns.usedSince(dayStart(nowMs, config.timezone)),
    readVitals(home),
  ]);
  return {
    uptimeMs: ageOf(startedAtMs, nowMs)!,
    loop,
    ...vitals,
    ledger: { events: counts.events, turns: counts.turns, sessions: counts.sessions },
    queue: {
      waiting: counts.queued,
      sessionsWaiting: pulse.sessionsWaiting,
      oldestWaitingMs: ageOf(pulse.waitingSinceMs, nowMs),
    },
    runs: { running: counts.running, suspended: counts.suspended, stillest: stillRuns(pulse, parts) },
    deliveries: { ...counts.deliveries, oldestUnknownMs: ageOf(pulse.unknownSinceMs, nowMs) },
    dead: { messages: counts.dead, deliveries: counts.deliveries.dead },
    hooks: { ...countHooks(hooks), oldestUnjudgedMs: ageOf(pulse.unjudgedSinceMs, nowMs) },
    streams,
    coolDowns: coolDowns.map(({ profile, failures, untilMs, error }) => {
      return { profile, failures, leftMs: Math.max(0, untilMs - nowMs), error };
    }),
    usageReached: limitsReached(used, config.usage),
    unsetVariables,
  };
}

function countHooks(hooks: readonly StoredHook[]): Omit<Measures["hooks"], "oldestUnjudgedMs"> {
  const states = { active: 0, disabled: 0, errored: 0, open: 0 };
  const broken: BrokenHook[] = [];
  for (const { name, state, error = "" } of hooks) {
    states[state]++;
    if ((state === "errored" || state === "open") && broken.length < MAX_HOOKS_NAMED)
      broken.push({ name, status: state, error });
  }
  return { ...states, broken };
}

/** Before it was started, this process could move nothing: that a run was still then says nothing about it. */
function stillRuns({ runs }: Pulse, { nowMs, startedAtMs }: MeasuredCortex): StillRun[] {
  return runs.map(({ run, turn, session, movedAtMs }) => ({
    runId: run,
    turnId: turn,
    session,
    stillMs: ageOf(Math.max(movedAtMs, startedAtMs), nowMs)!,
  }));
}

/** A clock that was set back makes nothing younger than new. */
function ageOf(sinceMs: number | undefined, nowMs: number): number | null {
  return sinceMs === undefined ? null : Math.max(0, nowMs - sinceMs);
}

type Vitals = Awaited<ReturnType<typeof readVitals>>;

export async function readVitals(home: string) {
  const path = databasePath(home);
  const [databaseBytes, walBytes, disk] = await Promise.all([
    sizeOf(path),
    sizeOf(`${path}-wal`),
    statfs(home),
  ]);
  const { rss, heapUsed } = process.memoryUsage();
  return {
    memory: { rssBytes: rss, heapUsedBytes: heapUsed, heapLimitBytes: getHeapStatistics().heap_size_limit },
    disk: { databaseBytes, walBytes, freeBytes: disk.bavail * disk.bsize },
  };
}

/** The write-ahead log comes and goes. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return 0;
    throw error;
  }
}
