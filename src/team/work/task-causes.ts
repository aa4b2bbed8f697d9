/**
 * The event that led to a task. The file does not record it, so the store does for tasks that agents dispatch: by the gist of
 * the task, from before the task is in the file until it is done. A task that a person wrote or rewrote has no cause: it
 * starts a chain.
 */
import { DAY_MS } from "../../model/durations.ts";
import { TEAM_ADAPTER } from "../../model/event.ts";
import { eventId } from "../../model/event-id.ts";
import type { EventId } from "../../model/ids.ts";
import type { StoredMember } from "../../store/store.ts";
import {
  isSameTask,
  type MemberState,
  readMemberState,
  type TaskCause,
  troubleWith,
  type CurrentTask,
} from "./member-state.ts";
import { gistOf } from "../markdown/task-gist.ts";
import { isActive, type Task, type TaskFile } from "../markdown/task.ts";

/** For one member. Older causes are dropped. */
export const MAX_TASK_CAUSES = 500;
/** How long a missing task may still come back: we add it again if others have overwritten it. */
export const MISSING_TASK_MS = DAY_MS;

export function causeOfTask(gist: string | undefined, { causes = [] }: MemberState): EventId | undefined {
  return causes.find((cause) => cause.gist === gist)?.event;
}

/** `tasks` are those of the member before the new one. */
export function withCause(
  state: MemberState,
  cause: TaskCause,
  { tasks }: Pick<TaskFile, "tasks">,
): MemberState {
  const active = new Set(tasks.filter(isActive).map(gistOf));
  const others = (state.causes ?? []).filter(
    ({ gist, atMs }) => active.has(gist) || cause.atMs - atMs < MISSING_TASK_MS,
  );
  return { ...state, causes: [...others, cause].slice(-MAX_TASK_CAUSES) };
}

/** Of several tasks with the same gist, the first is done first. */
export function withoutCause(state: MemberState, done: string): MemberState {
  const { causes = [] } = state;
  const at = causes.findIndex(({ gist }) => gist === done);
  return at === -1 ? state : { ...state, causes: causes.toSpliced(at, 1) };
}

/** The event that requested the turn of some work. */
export function eventOfWork({ id }: Pick<CurrentTask, "id">): EventId {
  return eventId(TEAM_ADAPTER, { kind: "id", sourceId: id });
}

/** The cause of a flag: the turn that flagged the task, else the cause of the task. */
export function causeOfFlag(task: Task, stored: StoredMember | undefined): EventId | undefined {
  const state = readMemberState(stored?.state);
  const { work } = state;
  // The flag is in the file a moment before the end of the work is stored.
  const isUnderWay = work !== undefined && isSameTask(work, task) && stored?.item !== undefined;
  return isUnderWay
    ? eventOfWork(work)
    : (troubleWith(task, state)?.event ?? causeOfTask(gistOf(task), state));
}
