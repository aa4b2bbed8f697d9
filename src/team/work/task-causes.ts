/**
 * Which event led to a task. The file does not say, so the store remembers it for tasks that agents have dispatched: by
 * what the task asks for, written before the task is in the file, and kept until the task is done. A task that a person
 * wrote or rewrote has no cause: it begins a chain.
 */
import { DAY_MS } from "../../model/durations.ts";
import { eventId, TEAM_ADAPTER } from "../../model/event.ts";
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

/** For one member. Older ones are forgotten. */
export const MAX_TASK_CAUSES = 500;
/** A task that is missing from its file may come back for so long: we add it again where others have overwritten it. */
export const MISSING_TASK_MS = DAY_MS;

export function causeOfTask(gist: string | undefined, { causes = [] }: MemberState): EventId | undefined {
  return causes.find((cause) => cause.gist === gist)?.event;
}

/** The file is the member's, before the task is in it. */
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

/** Of several tasks that ask for the same, the first is done first. */
export function withoutCause(state: MemberState, done: string): MemberState {
  const { causes = [] } = state;
  const at = causes.findIndex(({ gist }) => gist === done);
  return at === -1 ? state : { ...state, causes: causes.toSpliced(at, 1) };
}

/** The event that asked for work, where it was asked for as a turn. */
export function eventOfWork({ id }: Pick<CurrentTask, "id">): EventId {
  return eventId(TEAM_ADAPTER, { kind: "id", sourceId: id });
}

/** What led to the flag of a task: the turn that gave it back, else whatever led to the task. */
export function causeOfFlag(task: Task, stored: StoredMember | undefined): EventId | undefined {
  const state = readMemberState(stored?.state);
  const { work } = state;
  // The flag is in the file a moment before the end of the work is kept.
  const isUnderWay = work !== undefined && isSameTask(work, task) && stored?.item !== undefined;
  return isUnderWay
    ? eventOfWork(work)
    : (troubleWith(task, state)?.event ?? causeOfTask(gistOf(task), state));
}
