/** The health of a running Cortex: its measures and a list of problems. */
import { accountName } from "../model/account-name.ts";
import { count } from "../model/count.ts";
import { readMeasures, type MeasuredCortex, type Measures } from "./measure.ts";
import { describeQuota, hintFor } from "../turns/quotas.ts";
import { describeUnset } from "../config/describe-unset.ts";

export interface Health extends Measures {
  /** degraded: there are problems. */
  readonly status: "ok" | "degraded";
  readonly problems: readonly HealthProblem[];
}

export interface HealthProblem {
  readonly problem: string;
  readonly hint: string;
}

/** Reconnecting takes seconds. */
export const CHANNEL_DOWN_MS = 2 * 60_000;
/** Hardly any model call or tool call takes this long. */
export const STILL_RUN_MS = 10 * 60_000;
export const LONG_WAIT_MS = 10 * 60_000;
/** Enough time to check with the channel. */
export const LONG_UNKNOWN_MS = 10 * 60_000;
export const SLOW_LOOP_P99_MS = 250;
export const LOOP_STALL_MS = 5_000;
/** Four times the usual bound of the log. */
export const LARGE_WAL_BYTES = 256 * 1_024 ** 2;
export const LOW_DISK_BYTES = 512 * 1_024 ** 2;
export const FULL_HEAP = 0.9;
/** Longer errors of hooks are cut. */
const MAX_ERROR_LENGTH = 200;
/** Maximum number of stuck runs to list. */
export const MAX_RUNS_NAMED = 5;

export async function readHealth(parts: MeasuredCortex): Promise<Health> {
  const measures = await readMeasures(parts);
  const problems = findProblems(measures);
  return { status: problems.length === 0 ? "ok" : "degraded", problems, ...measures };
}

export function findProblems(measures: Measures): HealthProblem[] {
  return [
    ...stillRuns(measures),
    ...longWait(measures),
    ...deadLetters(measures),
    ...unknownDeliveries(measures),
    ...brokenHooks(measures),
    ...usedUp(measures),
    ...measures.unsetVariables.map(describeUnset),
    ...lowQuotas(measures),
    ...deadChannels(measures),
    ...slowLoop(measures),
    ...machine(measures),
  ];
}

function* stillRuns({ runs }: Measures): Generator<HealthProblem> {
  const still = runs.stillest.filter(({ stillMs }) => stillMs >= STILL_RUN_MS);
  for (const { session, turnId, stillMs } of still.slice(0, MAX_RUNS_NAMED)) {
    yield {
      problem: `A run of ${session} has made no progress for ${inWords(stillMs)}`,
      hint: `\`cortex why ${turnId}\` traces it; POST /api/sessions/${encodeURIComponent(session)}/abort aborts it.`,
    };
  }
  if (still.length > MAX_RUNS_NAMED) {
    yield {
      problem: `${count(still.length - MAX_RUNS_NAMED, "more run has", "more runs have")} made no progress for ${inWords(STILL_RUN_MS)} or longer`,
      hint: "`cortex runs --state running` lists them.",
    };
  }
}

function* longWait({ queue, runs }: Measures): Generator<HealthProblem> {
  const { oldestWaitingMs, sessionsWaiting } = queue;
  if (oldestWaitingMs === null || oldestWaitingMs < LONG_WAIT_MS) return;
  yield {
    problem: `A message has been queued for ${inWords(oldestWaitingMs)}; ${count(sessionsWaiting, "session")} waiting, ${count(runs.running, "run")} in progress`,
    hint: "`cortex queue` lists queued messages. `broker.maxConcurrentRuns` in cortex.json limits concurrent runs.",
  };
}

function* deadLetters({ dead }: Measures): Generator<HealthProblem> {
  const total = dead.messages + dead.deliveries;
  if (total === 0) return;
  yield {
    problem: `${count(total, "dead letter")}: ${count(dead.messages, "message")} and ${count(dead.deliveries, "delivery", "deliveries")}`,
    hint: "`cortex dead list` lists them; retry or discard each with `cortex dead retry` or `cortex dead drop`.",
  };
}

function* unknownDeliveries({ deliveries }: Measures): Generator<HealthProblem> {
  const { oldestUnknownMs, unknown } = deliveries;
  if (oldestUnknownMs === null || oldestUnknownMs < LONG_UNKNOWN_MS) return;
  yield {
    problem: `${count(unknown, "delivery", "deliveries")} with unknown outcome; the oldest is from ${inWords(oldestUnknownMs)} ago`,
    hint: "GET /api/deliveries?state=unknown lists them with their errors.",
  };
}

function* brokenHooks({ hooks }: Measures): Generator<HealthProblem> {
  for (const { name, status, error } of hooks.broken) {
    const what = status === "errored" ? "failed to load" : "is paused after repeated failures";
    const [why = ""] = error.slice(0, MAX_ERROR_LENGTH).split("\n");
    yield {
      problem: `Hook ${name} ${what}: ${why}`,
      hint: `\`cortex hooks show ${name}\` shows details; fix or disable the hook.`,
    };
  }
  const more = hooks.errored + hooks.open - hooks.broken.length;
  if (more > 0) {
    yield {
      problem: `${count(more, "more hook", "more hooks")} failed to load or paused`,
      hint: "`cortex hooks` lists them.",
    };
  }
  if (hooks.oldestUnjudgedMs === null || hooks.oldestUnjudgedMs < LONG_WAIT_MS) return;
  yield {
    problem: `An event has been waiting for its hooks for ${inWords(hooks.oldestUnjudgedMs)}`,
    hint: "`cortex logs` shows the cause, `cortex hooks` the state of each hook.",
  };
}

function* usedUp({ usageReached }: Measures): Generator<HealthProblem> {
  for (const { what, setting, limit } of usageReached) {
    yield {
      problem: `Daily limit reached: ${what}`,
      hint: `Further model calls wait until midnight. To continue now, raise \`usage.${setting}\` (${limit}) in cortex.json. \`cortex costs\` shows the usage.`,
    };
  }
}

function* lowQuotas({ quotas }: Measures): Generator<HealthProblem> {
  for (const use of quotas.filter(({ state }) => state !== "ok")) {
    yield { problem: describeQuota(use), hint: hintFor(use) };
  }
}

/** What needs a person is named at once, what may mend by itself after a while. */
function* deadChannels({ channels }: Measures): Generator<HealthProblem> {
  for (const { name, account, state, downMs, error } of channels) {
    if (downMs === null || state === "off") continue;
    if (!NEEDS_A_PERSON.has(state) && downMs < CHANNEL_DOWN_MS) continue;
    const why = error === null ? "" : `: ${error.replace(/\.$/, "")}`;
    yield {
      problem: `Channel ${accountName(name, account)} is not connected (${state}, for ${inWords(downMs)})${why}`,
      hint: `\`cortex channels status ${name}\` shows details, \`cortex channels test ${name}\` asks the platform.`,
    };
  }
}

const NEEDS_A_PERSON: ReadonlySet<string> = new Set(["refused", "conflict"]);

function* slowLoop({ loop }: Measures): Generator<HealthProblem> {
  if (loop.p99Ms < SLOW_LOOP_P99_MS && loop.maxMs < LOOP_STALL_MS) return;
  yield {
    problem: `The main thread is delayed: p99 ${Math.round(loop.p99Ms)} ms, maximum ${Math.round(loop.maxMs)} ms`,
    hint: "The machine is overloaded, or a single task is too large. Check the CPU load first.",
  };
}

function* machine({ disk, memory }: Measures): Generator<HealthProblem> {
  if (disk.freeBytes < LOW_DISK_BYTES) {
    yield {
      problem: `Low disk space: ${mebibytes(disk.freeBytes)} free`,
      hint: "Free up space; on a full disk, Cortex rejects new work.",
    };
  }
  if (disk.walBytes > LARGE_WAL_BYTES) {
    yield {
      problem: `The write-ahead log of the database has grown to ${mebibytes(disk.walBytes)}`,
      hint: "A long-running reader keeps it from shrinking; `cortex doctor` lists the programs that have the database open.",
    };
  }
  if (memory.heapUsedBytes > memory.heapLimitBytes * FULL_HEAP) {
    yield {
      problem: `Low memory: ${mebibytes(memory.heapUsedBytes)} of ${mebibytes(memory.heapLimitBytes)} heap in use`,
      hint: "Lower `broker.maxConcurrentRuns`, or start node with a larger --max-old-space-size.",
    };
  }
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1_024 ** 2)} MiB`;
}

/** A long duration, without seconds. */
function inWords(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}
