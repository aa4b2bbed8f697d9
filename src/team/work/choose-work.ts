/** What a member does next, by its file and by what we know of it. */
import { MINUTE_MS } from "../../model/durations.ts";
import { flagOf } from "../markdown/flag.ts";
import { staleAfterMs } from "../files/liveness.ts";
import { isKnown, type MemberState, troubleWith } from "./member-state.ts";
import { stampMs } from "../markdown/stamp.ts";
import { externalPathOf, type Task, type TaskFile } from "../markdown/task.ts";

export type TaskChoice =
  /** Goes on with a task that is in progress. */
  | { readonly kind: "resume"; readonly task: Task }
  | { readonly kind: "claim"; readonly task: Task }
  /** Nothing is ready, and nothing in progress. */
  | { readonly kind: "idle" }
  | { readonly kind: "waiting"; readonly why: string };

export interface ChoiceContext {
  readonly nowMs: number;
  readonly timezone: string;
  readonly heartbeatMinutes: number;
  /** It is a heartbeat, in which what has failed is tried again. */
  readonly isBeat: boolean;
  /** Tasks that are not to be looked at again now; see `keyOfTask`. */
  readonly passed?: ReadonlySet<string>;
}

/** What is in progress comes first; then the first one that is ready, in the order of the file. */
export function chooseWork(file: TaskFile, state: MemberState, now: ChoiceContext): TaskChoice {
  const reasons: string[] = [];
  const isPassed = (task: Task): boolean => now.passed?.has(keyOfTask(task)) === true;
  for (const task of file.tasks.filter(({ status }) => status === "in-progress")) {
    if (isPassed(task)) continue;
    const isExternal = externalPathOf(task) !== undefined; // whoever works on it, we only report
    const isFlagged = flagOf(task) !== undefined && !isEditedSince(task, state);
    if (isFlagged && !(now.isBeat && isExternal)) {
      reasons.push(`"${task.title}" is flagged`);
    } else if (!isExternal && !isKnown(task, state) && isSomebodyElses(task, file, state, now)) {
      reasons.push(`somebody else is at work on "${task.title}"`);
    } else if (troubleWith(task, state) !== undefined && !now.isBeat) {
      return { kind: "waiting", why: `"${task.title}" is tried again at the next tick` };
    } else return { kind: "resume", task };
  }
  const ready = file.tasks.find((task) => task.status === "ready" && !isPassed(task));
  if (ready !== undefined) return { kind: "claim", task: ready };
  return reasons.length === 0 ? { kind: "idle" } : { kind: "waiting", why: reasons.join("; ") };
}

/** The same for one task, also when lines above it have come or gone. */
export function keyOfTask({ title, ordinal }: Task): string {
  return `${ordinal} ${title}`;
}

/** Whether it has something to do, flagged or not. */
export function hasActive({ tasks }: TaskFile): boolean {
  return tasks.some(({ status }) => status === "ready" || status === "in-progress");
}

/** The flag is in the file; that its task was edited afterwards only we can know. */
function isEditedSince(task: Task, state: MemberState): boolean {
  return isKnown(task, state) && troubleWith(task, state) === undefined;
}

/**
 * What is in progress without our doing may be somebody else's, who is at it: another session of this member, started by
 * hand. Then it was started just now, or its tick is fresh. Otherwise nobody is at it any more, and we go on with it.
 */
function isSomebodyElses(task: Task, file: TaskFile, state: MemberState, now: ChoiceContext): boolean {
  const { nowMs, timezone, heartbeatMinutes } = now;
  const startedMs = task.started === undefined ? undefined : stampMs(task.started, timezone);
  const isNew = startedMs !== undefined && nowMs - startedMs < heartbeatMinutes * MINUTE_MS;
  const tickedMs = foreignTickMs(file, state, now);
  return isNew || (tickedMs !== undefined && nowMs - tickedMs < staleAfterMs(heartbeatMinutes));
}

/** The newest tick that we did not write. One in the future is from now: it would be fresh for ever. */
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
