/** What goes on in a home at this moment: its server, what runs, what waits, what does not move, what it costs. */
import { DAY_MS, HOUR_MS } from "../model/durations.ts";
import { CortexError, type ErrorCode } from "../model/errors.ts";
import { type Health, STILL_RUN_MS } from "./health.ts";
import { usageOf } from "./costs.ts";
import { approvalView, itemView, runView } from "../feature/views.ts";
import { ask } from "../client/ask.ts";
import { openLedger } from "../client/ledger.ts";
import { findServer, urlOf } from "../client/server.ts";

/** Of each kind, those that have been there for longest are named. */
const MAX_NAMED = 20;

export type Overview = Awaited<ReturnType<typeof readOverview>>;

export async function readOverview(home: string, nowMs: number) {
  const [running, ledger] = await Promise.all([
    unless("server_missing", readServer(home)),
    unless("store_missing", readLedger(home, nowMs)),
  ]);
  const { runs = [], ...rest } = ledger ?? { counts: null, waiting: null, approvals: [], costs: null };
  return {
    home,
    ...(running ?? { server: null, model: null, health: null }),
    ...rest,
    runs: runs.map((run) => moving(run, { startedAt: running?.server.startedAt, nowMs })),
  };
}

/** Before its server was started, nothing could move a run; without one, nothing can: it is not stuck then. */
function moving(
  { run, movedAtMs }: { run: ReturnType<typeof runView>; movedAtMs: number | undefined },
  { startedAt, nowMs }: { startedAt: string | undefined; nowMs: number },
) {
  const sinceMs =
    movedAtMs === undefined || startedAt === undefined
      ? undefined
      : Math.max(movedAtMs, Date.parse(startedAt));
  const stillMs = age(sinceMs, nowMs);
  return { ...run, stillMs, isStuck: stillMs !== null && stillMs >= STILL_RUN_MS };
}

async function readServer(home: string) {
  const server = await findServer(home);
  if (server === undefined) return undefined;
  const { pid, startedAt, host, port } = server;
  const [config, health] = await Promise.all([
    ask(server, { path: "/api/config" }),
    ask(server, { path: "/api/health?full=1" }),
  ]);
  const { model } = config.body as unknown as {
    model: { profile: { name: string; model: string | null }; why: string };
  };
  return {
    server: { url: urlOf(server), pid, startedAt, host, port },
    model,
    health: health.body as unknown as Health,
  };
}

async function readLedger(home: string, nowMs: number) {
  await using ledger = await openLedger(home);
  const sinceMs = nowMs - DAY_MS;
  const [counts, active, pulse, queued, open, costs, used] = await Promise.all([
    ledger.counts(),
    ledger.runs.active({ limit: MAX_NAMED }),
    ledger.pulse(nowMs),
    ledger.queue.list({ limit: MAX_NAMED }),
    ledger.approvals.list({ state: "open", limit: MAX_NAMED }),
    ledger.turns.costs({ by: "day", sinceMs, untilMs: nowMs + 1, dayStartsMs: [sinceMs, nowMs - HOUR_MS] }),
    ledger.turns.usedSince(sinceMs),
  ]);
  const usage = usageOf(used);
  const movedAtMs = new Map(pulse.runs.map(({ run, movedAtMs }) => [run, movedAtMs]));
  return {
    counts,
    runs: active.map((run) => ({ run: runView(run), movedAtMs: movedAtMs.get(run.id) })),
    waiting: {
      sessions: pulse.sessionsWaiting,
      oldestMs: age(pulse.waitingSinceMs, nowMs),
      items: queued.items.map(itemView),
    },
    approvals: open.items.map(approvalView),
    costs: { ...sumUp(costs, nowMs - HOUR_MS), dayCalls: usage.calls, dayTokens: usage.tokens },
  };
}

type CostRows = Awaited<ReturnType<Awaited<ReturnType<typeof openLedger>>["turns"]["costs"]>>;

function sumUp(rows: CostRows, hourMs: number) {
  const hour = rows.find(({ key }) => Number(key) === hourMs);
  return {
    dayUsd: rows.reduce((sum, { costUsd }) => sum + costUsd, 0),
    dayTurns: rows.reduce((sum, { turns }) => sum + turns, 0),
    hourUsd: hour?.costUsd ?? 0,
    hourTurns: hour?.turns ?? 0,
  };
}

function age(sinceMs: number | undefined, nowMs: number): number | null {
  return sinceMs === undefined ? null : Math.max(0, nowMs - sinceMs);
}

/** Undefined where there is nothing to read, which is no failure here. */
async function unless<T>(code: ErrorCode, reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof CortexError && error.code === code) return undefined;
    throw error;
  }
}
