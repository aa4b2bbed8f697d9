/**
 * Decides what becomes of edits of ours that are missing from a file that others have written.
 *
 * A program that does not know our lock reads a file, takes its time, and writes back what it read with a change of its own:
 * what we did in between is gone. A person, on the other hand, may take out what we wrote because they want it so. From
 * the text alone the two cannot always be told apart, so it counts what doing it again could do harm with.
 *
 * - What we wrote *inside a task* (a claim, a completion, a note) only ever keeps the task from being run once more. It is done
 *   again where it is gone within moments; later, once, if all that we did after it is gone as well and the task is
 *   again what it was before. A field of a note is for people to set, and never done again later.
 * - A *whole task* that we added is put back only if the text proves to be older: it also lacks what we wrote inside a task
 *   moments ago, which nobody takes back by hand that fast. Otherwise the deletion holds. If something that we did later is
 *   there, somebody has taken the task out; if not, it may have been lost, and a copy is kept beside the file, unless its
 *   words stand there below another title.
 * - A task that was done is never put back without its end.
 */
import { CortexError } from "../../model/errors.ts";
import { applyEdit, editsDoneIn } from "../markdown/apply-edit.ts";
import type { FileEdit } from "../markdown/edit.ts";
import type { EditRecord } from "./journal.ts";
import { readTasks } from "../markdown/read-tasks.ts";
import { blocksOf, findByRef, partOf } from "../markdown/task-blocks.ts";
import { gistOf, saysSame } from "../markdown/task-gist.ts";
import type { TaskRef } from "../markdown/task.ts";

/** What was done before is not looked at. */
export const RESTORE_MS = 15 * 60_000;
/** Nobody takes back by hand what was written so recently. */
export const RACE_MS = 2_000;

export interface Restored {
  readonly text: string;
  /** What was done again, as it is to be written down. */
  readonly edits: readonly RedoneEdit[];
  /** Edits of tasks that were taken out: they are not to be looked at again. See `placeOf`. */
  readonly gone: readonly string[];
  /** Tasks of which nobody can tell whether they were taken out or lost. */
  readonly aside: readonly AddedTask[];
}

export interface RedoneEdit {
  readonly edit: FileEdit;
  readonly block: string | undefined;
  readonly again?: number;
}

export type AddedTask = Extract<FileEdit, { readonly file: "tasks" }>["edit"] & { readonly kind: "add" };

/** `changedMs` is when others wrote the text. */
export function restoreLost(
  text: string,
  { entries, nowMs, changedMs }: { entries: readonly EditRecord[]; nowMs: number; changedMs: number },
): Restored {
  const recent = latestOfEach(entries, nowMs);
  const isYoung = ({ atMs }: Edited): boolean => changedMs - atMs < RACE_MS;
  let isDone = editsDoneIn(text);
  const isThere = recent.map(({ edit }) => isDone(edit));
  const lastThere = recent.findLastIndex(({ edit }, index) => isThere[index] && isTelling(edit));
  const isOlder = recent.some((each, index) => !isThere[index] && isYoung(each) && isTakenBack(text, each));

  const missing = recent.flatMap((each, index) => {
    const add = addOf(each.edit);
    return add === undefined || isThere[index] || (isOlder && isYoung(each)) ? [] : [{ add, index }];
  });
  const isGone = ({ edit }: Edited): boolean => missing.some(({ add }) => isAbout(edit, add));
  const edits: RedoneEdit[] = [];
  let restored = text;
  for (const [index, each] of recent.entries()) {
    const { edit, block, again = 0 } = each;
    if (isGone(each) || isDone(edit) || isOlderTick(restored, edit)) continue;
    const blockNow = blockOf(restored, edit);
    const isOnPurpose = index < lastThere || again > 0 || !saysSame(blockNow, block) || isForPeople(edit);
    if (isOnPurpose && !isYoung(each)) continue;
    const next = tryEdit(restored, edit);
    if (next === undefined) continue;
    restored = next;
    isDone = editsDoneIn(restored);
    edits.push({ edit, block: blockNow, again: isYoung(each) ? again : again + 1 });
  }
  return {
    text: restored,
    edits,
    gone: recent.filter(isGone).map(({ edit }) => placeOf(edit)),
    aside: missing.flatMap(({ add, index }) => {
      const isOver = index < lastThere || recent.some(({ edit }) => isEndOf(edit, add));
      return isOver || isRenamed(text, add) ? [] : [add];
    }),
  };
}

/** Whether another task asks for the very same below its title. */
function isRenamed(text: string, add: AddedTask): boolean {
  if ((add.body ?? "").trim() === "") return false;
  const [added] = readTasks(applyEdit("", { file: "tasks", edit: { ...add, ordinal: 1 } })).tasks;
  const asked = gistOf({ ...added!, title: "" });
  return readTasks(text).tasks.some((task) => gistOf({ ...task, title: "" }) === asked);
}

/** Whether the text shows a task, or a tick, as it was before the edit. */
function isTakenBack(text: string, { edit }: Edited): boolean {
  if (edit.file !== "tasks") return false;
  if (edit.edit.kind === "tick") return !isOlderTick(text, edit);
  return "task" in edit.edit && blockOf(text, edit) !== undefined;
}

function addOf({ file, edit }: FileEdit): AddedTask | undefined {
  return file === "tasks" && edit.kind === "add" ? edit : undefined;
}

function isAbout({ file, edit }: FileEdit, add: AddedTask): boolean {
  if (file !== "tasks") return false;
  return edit.kind === "add" ? isSameTask(edit, add) : "task" in edit && isSameTask(edit.task, add);
}

function isEndOf(edit: FileEdit, add: AddedTask): boolean {
  return edit.edit.kind === "complete" && isAbout(edit, add);
}

function isSameTask(one: Partial<TaskRef>, add: AddedTask): boolean {
  return one.title?.trim() === add.title.trim() && one.ordinal === add.ordinal;
}

/** Whoever has left is taken back with `status: active`, and we say so: that is what somebody has done who wrote it. */
function isForPeople({ edit }: FileEdit): boolean {
  return edit.kind === "field";
}

/** Another session of the member has ticked since: that is no loss. */
function isOlderTick(text: string, { edit }: FileEdit): boolean {
  if (edit.kind !== "tick") return false;
  const { tick } = readTasks(text);
  return tick !== undefined && tick.stamp >= edit.stamp;
}

/** The block of the task that an edit is about. */
export function blockOf(text: string, { file, edit }: FileEdit): string | undefined {
  if (file !== "tasks" || !("task" in edit)) return undefined;
  const block = findByRef(blocksOf(text, new Set([edit.task.title])).tasks, edit.task);
  return block && partOf(text, block, block.heading.start, block.end);
}

interface Edited extends EditRecord {
  readonly edit: FileEdit;
}

/** Of edits that replace each other only the last one counts. */
function latestOfEach(entries: readonly EditRecord[], nowMs: number): Edited[] {
  const undone = entries.findLastIndex((entry) => entry.undone !== undefined);
  const latest = new Map<string, Edited>();
  for (const entry of entries.slice(undone + 1)) {
    for (const key of entry.gone ?? []) latest.delete(key);
    if (entry.edit === undefined || nowMs - entry.atMs > RESTORE_MS) continue;
    const key = placeOf(entry.edit);
    latest.delete(key); // the order is that of the last ones
    latest.set(key, { ...entry, edit: entry.edit });
  }
  return [...latest.values()];
}

/** Whether it says something of when a text was read that the edit is in it: what is repeated may be from before. */
function isTelling({ edit }: FileEdit): boolean {
  return !["tick", "progress", "field", "trim-log", "remove"].includes(edit.kind);
}

/** What is written over by the next edit of its kind. */
function placeOf({ file, edit }: FileEdit): string {
  switch (edit.kind) {
    case "tick":
    case "trim-log":
      return `${file} ${edit.kind}`;
    case "field":
      return `${file} field ${edit.name}`;
    case "progress":
      return `${file} progress ${JSON.stringify(edit.task)}`;
    case "add":
    case "claim":
    case "complete":
    case "note":
    case "remove":
    case "session":
      return JSON.stringify(edit);
  }
}

/** Undefined: it cannot be done any more, since others have changed or removed the task. */
function tryEdit(text: string, edit: FileEdit): string | undefined {
  try {
    return applyEdit(text, edit);
  } catch (error) {
    if (error instanceof CortexError) return undefined;
    throw error;
  }
}
