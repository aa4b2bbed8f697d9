/** A snapshot of a home: server, runs, queue, pending requests and costs. */
import { DAY_MS, HOUR_MS } from "../model/durations.ts";
import { CortexError, type ErrorCode } from "../model/errors.ts";
import { type Health, STILL_RUN_MS } from "./health.ts";
import { usageOf } from "./costs.ts";
import { ageOf } from "./measure.ts";
import type { Approval, CostRow } from "../store/store.ts";
import type { ApprovalView } from "../feature/approval-view.ts";
import { itemView, runView } from "../feature/views.ts";
import { ask } from "../client/ask.ts";
import { openLedger } from "../client/ledger.ts";
import { findServer, urlOf } from "../client/server.ts";

/** Maximum number of items of each kind, the oldest first. */
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
    runs: runs.map((run) => withProgress(run, { startedAt: running?.server.startedAt, nowMs })),
  };
}

/** A run can only be stuck while its server is running; time before the start does not count. */
function withProgress(
  { run, movedAtMs }: { run: ReturnType<typeof runView>; movedAtMs: number | undefined },
  { startedAt, nowMs }: { startedAt: string | undefined; nowMs: number },
) {
  const sinceMs =
    movedAtMs === undefined || startedAt === undefined
      ? undefined
      : Math.max(movedAtMs, Date.parse(startedAt));
  const stillMs = ageOf(sinceMs, nowMs);
  return stillMs !== null && stillMs >= STILL_RUN_MS
    ? { ...run, stillMs, isStuck: true as const }
    : { ...run, stillMs, isStuck: false as const };
}

interface ConfigAnswer {
  readonly model: {
    readonly profile: { readonly name: string; readonly model: string | null };
    readonly why: string;
  };
}

async function readServer(home: string) {
  const server = await findServer(home);
  if (server === undefined) return undefined;
  const { pid, startedAt, host, port } = server;
  const [config, health] = await Promise.all([
    ask<ConfigAnswer>(server, { path: "/api/config" }),
    ask<Health>(server, { path: "/api/health?full=1" }),
  ]);
  return {
    server: { url: urlOf(server), pid, startedAt, host, port },
    model: config.body.model,
    health: health.body,
  };
}

/** What renders them is only loaded if there are any. */
async function approvalViews(open: readonly Approval[]): Promise<ApprovalView[]> {
  if (open.length === 0) return [];
  const { approvalView } = await import("../feature/approval-view.ts");
  return open.map(approvalView);
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
      oldestMs: ageOf(pulse.waitingSinceMs, nowMs),
      items: queued.items.map(itemView),
    },
    approvals: await approvalViews(open.items),
    costs: { ...sumUp(costs, nowMs - HOUR_MS), dayCalls: usage.calls, dayTokens: usage.tokens },
  };
}

function sumUp(rows: readonly CostRow[], hourMs: number) {
  const hour = rows.find(({ key }) => Number(key) === hourMs);
  return {
    dayUsd: rows.reduce((sum, { costUsd }) => sum + costUsd, 0),
    dayTurns: rows.reduce((sum, { turns }) => sum + turns, 0),
    hourUsd: hour?.costUsd ?? 0,
    hourTurns: hour?.turns ?? 0,
  };
}

/** Undefined if reading fails with this code. */
async function unless<T>(code: ErrorCode, reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof CortexError && error.code === code) return undefined;
    throw error;
  }
}
