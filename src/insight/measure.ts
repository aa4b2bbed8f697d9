/** The measures of a running Cortex: queues, stuck runs, deliveries, hooks, memory and disk. */
import { stat, statfs } from "node:fs/promises";
import { getHeapStatistics } from "node:v8";

import type { Config } from "../config/config.ts";
import { databasePath } from "../config/home.ts";
import { hasCode } from "../model/error-code.ts";
import { dayStart } from "../model/day.ts";
import type { Counts, HookState, Ledger, Pulse, StoredHook } from "../store/store.ts";
import type { CoolDown } from "../turns/choose-profile.ts";
import type { QuotaUse } from "../turns/quotas.ts";
import { limitsReached, type UsageReached } from "../turns/limits.ts";
import type { LoopDelay } from "../feature/route.ts";
import type { UnsetVariable } from "../config/describe-unset.ts";

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
    /** Running ones, the least recently active first. */
    readonly stillest: readonly StillRun[];
  };
  readonly deliveries: Counts["deliveries"] & { readonly oldestUnknownMs: number | null };
  readonly dead: { readonly messages: number; readonly deliveries: number };
  readonly hooks: Readonly<Record<HookState, number>> & {
    readonly oldestUnjudgedMs: number | null;
    /** Hooks that failed to load or are paused, by name; at most MAX_HOOKS_NAMED. */
    readonly broken: readonly BrokenHook[];
  };
  /** Open event streams. */
  readonly streams: number;
  /** Profiles that failed and are not used for now. */
  readonly coolDowns: readonly CoolingProfile[];
  /** Daily limits on model usage that were reached. */
  readonly usageReached: readonly UsageReached[];
  /** Variables that settings refer to but that are not set. */
  readonly unsetVariables: readonly UnsetVariable[];
  /** The disk space that the home and the agents' workspaces take. */
  readonly quotas: readonly QuotaUse[];
  /** The connections of chat channels. */
  readonly channels: readonly ChannelHealth[];
}

interface ChannelHealth {
  readonly name: string;
  readonly account: string;
  readonly state: string;
  /** How long it has not been live. Null: it is. */
  readonly downMs: number | null;
  readonly error: string | null;
}

export interface CoolingProfile {
  readonly profile: string;
  /** Consecutive failures. */
  readonly failures: number;
  readonly leftMs: number;
  /** The error of the last failure. */
  readonly error: string;
}

interface BrokenHook {
  readonly name: string;
  readonly status: "errored" | "open";
  readonly error: string;
}

/** Maximum number of broken hooks to list. */
export const MAX_HOOKS_NAMED = 5;

/** A running run and the time since its last journal entry. */
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
  readonly quotas: readonly QuotaUse[];
  readonly channels: readonly MeasuredChannel[];
}

interface MeasuredChannel {
  readonly channel: string;
  readonly account: string;
  readonly state: string;
  readonly downSinceMs: number | undefined;
  readonly error: string | undefined;
}

export async function readMeasures(parts: MeasuredCortex): Promise<Measures> {
  const { ledger, config, home, nowMs, startedAtMs, loop, streams, coolDowns, unsetVariables, quotas } =
    parts;
  const { channels } = parts;
  const [counts, pulse, hooks, used, vitals] = await Promise.all([
    ledger.counts(),
    ledger.pulse(nowMs),
    ledger.hooks.list(),
    ledger.turns.usedSince(dayStart(nowMs, config.timezone)),
    readVitals(home),
  ]);
  return {
    uptimeMs: ageOf(startedAtMs, nowMs),
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
    quotas,
    channels: channels.map(({ channel, account, state, downSinceMs, error }) => {
      return { name: channel, account, state, downMs: ageOf(downSinceMs, nowMs), error: error ?? null };
    }),
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

/** Counts from the start of this process at the earliest: before, it could not make progress. */
function stillRuns({ runs }: Pulse, { nowMs, startedAtMs }: MeasuredCortex): StillRun[] {
  return runs.map(({ run, turn, session, movedAtMs }) => ({
    runId: run,
    turnId: turn,
    session,
    stillMs: ageOf(Math.max(movedAtMs, startedAtMs), nowMs),
  }));
}

/** Never negative, even if the clock was set back. */
export function ageOf(sinceMs: number, nowMs: number): number;
export function ageOf(sinceMs: number | undefined, nowMs: number): number | null;
export function ageOf(sinceMs: number | undefined, nowMs: number): number | null {
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

/** 0 if missing: the write-ahead log comes and goes. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return 0;
    throw error;
  }
}
