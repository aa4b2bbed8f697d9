/** What a member does next, according to its file and its state. */
import { MINUTE_MS } from "../../model/durations.ts";
import { flagOf } from "../markdown/flag.ts";
import { staleAfterMs } from "../files/liveness.ts";
import { isKnown, type MemberState, troubleWith } from "./member-state.ts";
import { stampMs } from "../markdown/stamp.ts";
import { externalPathOf, type Task, type TaskFile } from "../markdown/task.ts";

type TaskChoice =
  /** Continues a task in progress. */
  | { readonly kind: "resume"; readonly task: Task }
  | { readonly kind: "claim"; readonly task: Task }
  /** No active tasks. */
  | { readonly kind: "idle" }
  | { readonly kind: "waiting"; readonly why: string };

export interface ChoiceContext {
  readonly nowMs: number;
  readonly timezone: string;
  readonly heartbeatMinutes: number;
  /** A heartbeat retries failed tasks. */
  readonly isBeat: boolean;
  /** Keys of tasks to skip this time; see `keyOfTask`. */
  readonly passed?: ReadonlySet<string>;
}

/** Tasks in progress first, then the first ready task in file order. */
export function chooseWork(file: TaskFile, state: MemberState, now: ChoiceContext): TaskChoice {
  const reasons: string[] = [];
  const isPassed = (task: Task): boolean => now.passed?.has(keyOfTask(task)) === true;
  for (const task of file.tasks.filter(({ status }) => status === "in-progress")) {
    if (isPassed(task)) continue;
    const isExternal = externalPathOf(task) !== undefined; // its own runner does the work; we only report
    const isFlagged = flagOf(task) !== undefined && !isEditedSince(task, state);
    if (isFlagged && !(now.isBeat && isExternal)) {
      reasons.push(`"${task.title}" is flagged`);
    } else if (!isExternal && !isKnown(task, state) && isForeign(task, file, state, now)) {
      reasons.push(`another session is working on "${task.title}"`);
    } else if (troubleWith(task, state) !== undefined && !now.isBeat) {
      return { kind: "waiting", why: `"${task.title}" is retried at the next tick` };
    } else return { kind: "resume", task };
  }
  const ready = file.tasks.find((task) => task.status === "ready" && !isPassed(task));
  if (ready !== undefined) return { kind: "claim", task: ready };
  return reasons.length === 0 ? { kind: "idle" } : { kind: "waiting", why: reasons.join("; ") };
}

/** Identifies a task even if lines above it change. */
export function keyOfTask({ title, ordinal }: Task): string {
  return `${ordinal} ${title}`;
}

/** The flag is in the file, but only the state tells whether the task was edited afterwards. */
function isEditedSince(task: Task, state: MemberState): boolean {
  return isKnown(task, state) && troubleWith(task, state) === undefined;
}

/**
 * A task in progress that we did not start may belong to another session of this member, started by hand. That session is
 * at work if the task was started recently or the tick is fresh. Otherwise we continue the task.
 */
function isForeign(task: Task, file: TaskFile, state: MemberState, now: ChoiceContext): boolean {
  const { nowMs, timezone, heartbeatMinutes } = now;
  const startedMs = task.started === undefined ? undefined : stampMs(task.started, timezone);
  const isNew = startedMs !== undefined && nowMs - startedMs < heartbeatMinutes * MINUTE_MS;
  const tickedMs = foreignTickMs(file, state, now);
  return isNew || (tickedMs !== undefined && nowMs - tickedMs < staleAfterMs(heartbeatMinutes));
}

/** The newest tick that we did not write. A tick in the future counts as now, or it would stay fresh forever. */
export function foreignTickMs(
  { tick }: TaskFile,
  state: MemberState,
  { nowMs, timezone }: Pick<ChoiceContext, "nowMs" | "timezone">,
): number | undefined {
  if (tick === undefined || tick.stamp === state.tick) return state.foreignTickMs;
  const tickedMs = stampMs(tick.stamp, timezone);
  if (tickedMs === undefined) return state.foreignTickMs;
  return Math.max(Math.min(tickedMs, nowMs), state.foreignTickMs ?? 0);
}
