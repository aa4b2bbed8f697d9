/** The timing of a turn, stage by stage, from the marks committed with it and the times in the ledger. */
import { type Stage, STAGES, type Timing } from "../model/spans.ts";
import type { HookRun, QueueItem, StoredDelivery, StoredRun, StoredTurn } from "../store/store.ts";

/** The end of a stage. */
export interface StageTime {
  readonly stage: Stage;
  /** Time since the message was received. */
  readonly atMs: number;
  /** Time since the previous stage. */
  readonly tookMs: number;
  /** CPU time of the whole process since the last measured stage. Null: not measured. */
  readonly cpuMs: number | null;
}

interface LedgerTimes {
  /** The first message of the turn. */
  readonly item: QueueItem | undefined;
  readonly hooks: readonly HookRun[];
  readonly run: StoredRun | undefined;
  readonly turn: StoredTurn | undefined;
  readonly deliveries: readonly StoredDelivery[];
}

/** In chronological order. Without marks, with the millisecond resolution of the ledger. */
export function stageTimes(times: LedgerTimes, timing: Timing | undefined): StageTime[] {
  const marks = new Map(timing?.marks.map(([stage, ms, cpuMs]) => [stage, { ms: timing.atMs + ms, cpuMs }]));
  const ledger = ledgerTimes(times);
  const ended: { readonly stage: Stage; readonly ms: number; readonly cpuMs: number | null }[] = [];
  for (const stage of STAGES) {
    const mark = marks.get(stage);
    const isSameCommit = stage === "queued" && ledger.queued === ledger.accepted;
    const ms = mark?.ms ?? (isSameCommit ? marks.get("accepted")?.ms : undefined) ?? ledger[stage];
    if (ms === undefined) continue;
    // Ledger times are whole milliseconds: within one millisecond, keep the order of the stages.
    const before = ended.at(-1)?.ms ?? 0;
    ended.push({ stage, ms: Math.floor(before) === ms ? before : ms, cpuMs: mark?.cpuMs ?? null });
  }
  const inOrder = ended.toSorted((one, other) => one.ms - other.ms);
  const startMs = inOrder[0]?.ms ?? 0;
  let measuredMs: number | null = null;
  return inOrder.map(({ stage, ms, cpuMs }, at) => {
    const usedMs = cpuMs === null || measuredMs === null ? null : rounded(cpuMs - measuredMs);
    measuredMs = cpuMs ?? measuredMs;
    return {
      stage,
      atMs: rounded(ms - startMs),
      tookMs: rounded(ms - (inOrder[at - 1]?.ms ?? ms)),
      cpuMs: usedMs,
    };
  });
}

function ledgerTimes({ item, hooks, run, turn, deliveries }: LedgerTimes): Partial<Record<Stage, number>> {
  const { event } = item ?? {};
  const sent = deliveries.flatMap(({ state, settledAtMs }) => (state === "sent" ? (settledAtMs ?? []) : []));
  return {
    ...(event === undefined || event.atMs > event.receivedAtMs ? {} : { received: event.atMs }),
    ...(event === undefined ? {} : { accepted: event.receivedAtMs }),
    ...(hooks.length === 0 ? {} : { judged: Math.max(...hooks.map(({ endedAtMs }) => endedAtMs)) }),
    ...(item === undefined ? {} : { queued: item.queuedAtMs }),
    ...(run === undefined ? {} : { claimed: run.startedAtMs }),
    ...(turn === undefined ? {} : { committed: turn.completedAtMs }),
    ...(sent.length === 0 ? {} : { delivered: Math.max(...sent) }),
  };
}

/** To the microsecond. */
function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
