/** How a running Cortex is doing: its measures, and in words what somebody should look at. */
import { count } from "../model/count.ts";
import { readMeasures, type MeasuredCortex, type Measures } from "./measure.ts";
import { describeUnset } from "../config/unset-variables.ts";

export interface Health extends Measures {
  /** degraded: there are problems. */
  readonly status: "ok" | "degraded";
  readonly problems: readonly HealthProblem[];
}

export interface HealthProblem {
  readonly problem: string;
  readonly hint: string;
}

/** No model and hardly a tool takes this long for one step. */
export const STILL_RUN_MS = 10 * 60_000;
export const LONG_WAIT_MS = 10 * 60_000;
/** By then, whoever could be asked has been asked. */
export const LONG_UNKNOWN_MS = 10 * 60_000;
export const SLOW_LOOP_P99_MS = 250;
export const LOOP_STALL_MS = 5_000;
/** Four times what the log is kept to while nobody holds it back. */
export const LARGE_WAL_BYTES = 256 * 1_024 ** 2;
export const LOW_DISK_BYTES = 512 * 1_024 ** 2;
export const FULL_HEAP = 0.9;
/** Of what went wrong with a hook. */
const MAX_ERROR_LENGTH = 200;
/** Of the runs that do not move, so many are named. */
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
    ...slowLoop(measures),
    ...machine(measures),
  ];
}

function* stillRuns({ runs }: Measures): Generator<HealthProblem> {
  const still = runs.stillest.filter(({ stillMs }) => stillMs >= STILL_RUN_MS);
  for (const { session, turnId, stillMs } of still.slice(0, MAX_RUNS_NAMED)) {
    yield {
      problem: `A run of ${session} has not moved for ${inWords(stillMs)}`,
      hint: `\`cortex why ${turnId}\` says what it has done; POST /api/sessions/${encodeURIComponent(session)}/abort ends it.`,
    };
  }
  if (still.length > MAX_RUNS_NAMED) {
    yield {
      problem: `${count(still.length - MAX_RUNS_NAMED, "more run has", "more runs have")} not moved for ${inWords(STILL_RUN_MS)} or longer`,
      hint: "`cortex runs --state running` lists the runs.",
    };
  }
}

function* longWait({ queue, runs }: Measures): Generator<HealthProblem> {
  const { oldestWaitingMs, sessionsWaiting } = queue;
  if (oldestWaitingMs === null || oldestWaitingMs < LONG_WAIT_MS) return;
  yield {
    problem: `A message has waited for ${inWords(oldestWaitingMs)}; ${count(sessionsWaiting, "session waits", "sessions wait")} while ${count(runs.running, "run is", "runs are")} at work`,
    hint: "`cortex queue` lists what waits. `broker.maxConcurrentRuns` in cortex.json says how many may run at once.",
  };
}

function* deadLetters({ dead }: Measures): Generator<HealthProblem> {
  const total = dead.messages + dead.deliveries;
  if (total === 0) return;
  yield {
    problem: `${count(total, "dead letter waits", "dead letters wait")} for a decision: ${count(dead.messages, "message")} and ${count(dead.deliveries, "delivery", "deliveries")}`,
    hint: "`cortex dead list` lists them; `cortex dead retry` and `cortex dead drop` decide.",
  };
}

function* unknownDeliveries({ deliveries }: Measures): Generator<HealthProblem> {
  const { oldestUnknownMs, unknown } = deliveries;
  if (oldestUnknownMs === null || oldestUnknownMs < LONG_UNKNOWN_MS) return;
  yield {
    problem: `Of ${count(unknown, "delivery", "deliveries")} nobody knows whether it arrived; the oldest is from ${inWords(oldestUnknownMs)} ago`,
    hint: "GET /api/deliveries?state=unknown lists them, with what went wrong.",
  };
}

function* brokenHooks({ hooks }: Measures): Generator<HealthProblem> {
  for (const { name, status, error } of hooks.broken) {
    const what = status === "errored" ? "cannot be loaded" : "is paused after repeated failures";
    yield {
      problem: `The hook ${name} ${what}: ${error.split("\n")[0]!.slice(0, MAX_ERROR_LENGTH)}`,
      hint: `\`cortex hooks show ${name}\` shows it; correct its file, or disable it.`,
    };
  }
  const more = hooks.errored + hooks.open - hooks.broken.length;
  if (more > 0) {
    yield {
      problem: `${count(more, "more hook", "more hooks")} cannot be loaded, or are paused`,
      hint: "`cortex hooks` lists them.",
    };
  }
  if (hooks.oldestUnjudgedMs === null || hooks.oldestUnjudgedMs < LONG_WAIT_MS) return;
  yield {
    problem: `An event has waited for ${inWords(hooks.oldestUnjudgedMs)} to be judged by hooks`,
    hint: "The log says why; `cortex hooks` says how each of them does.",
  };
}

function* usedUp({ usageReached }: Measures): Generator<HealthProblem> {
  for (const { what, setting, limit } of usageReached) {
    yield {
      problem: `A daily limit is reached: ${what}`,
      hint: `No model is asked beyond it until midnight. To go on now, raise \`usage.${setting}\` (${limit}) in cortex.json. \`cortex costs\` shows the count.`,
    };
  }
}

function* slowLoop({ loop }: Measures): Generator<HealthProblem> {
  if (loop.p99Ms < SLOW_LOOP_P99_MS && loop.maxMs < LOOP_STALL_MS) return;
  yield {
    problem: `The main thread is held up: by ${Math.round(loop.maxMs)} ms at worst, and by ${Math.round(loop.p99Ms)} ms one time in a hundred`,
    hint: "The machine is overloaded, or something large is worked on at once. Look at its processors first.",
  };
}

function* machine({ disk, memory }: Measures): Generator<HealthProblem> {
  if (disk.freeBytes < LOW_DISK_BYTES) {
    yield {
      problem: `Only ${mebibytes(disk.freeBytes)} are free on the disk`,
      hint: "Make room: when the disk is full, nothing new is accepted.",
    };
  }
  if (disk.walBytes > LARGE_WAL_BYTES) {
    yield {
      problem: `The write-ahead log of the database has grown to ${mebibytes(disk.walBytes)}`,
      hint: "A program that never stops reading keeps it from shrinking: `cortex doctor` names those that have the database open.",
    };
  }
  if (memory.heapUsedBytes > memory.heapLimitBytes * FULL_HEAP) {
    yield {
      problem: `${mebibytes(memory.heapUsedBytes)} of at most ${mebibytes(memory.heapLimitBytes)} of memory are in use`,
      hint: "Let fewer runs work at once (`broker.maxConcurrentRuns`), or start node with --max-old-space-size.",
    };
  }
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1_024 ** 2)} MiB`;
}

/** Nobody needs the seconds of what has lasted for minutes. */
function inWords(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}
