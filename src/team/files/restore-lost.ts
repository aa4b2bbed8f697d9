/**
 * Decides what to do about our edits that are missing from a file that others have written.
 *
 * A program that ignores our lock reads a file, takes its time, and writes back what it read with its own change: our edits
 * in between are lost. A person, on the other hand, may remove our edits on purpose. The text alone does not always tell
 * the two apart, so we weigh the harm that redoing an edit could do.
 *
 * - An edit *inside a task* (claim, completion, note) can only keep the task from running again. It is redone if it is lost
 *   within moments; later, it is redone once, and only if all our later edits are lost too and the task is back in its
 *   earlier state. Fields of a note are for people to set, and are not redone later.
 * - A *whole task* that we added is put back only if the text is provably older: it also lacks an edit that we made inside a
 *   task moments ago, which nobody reverts by hand that fast. Otherwise the deletion holds. If a later edit of ours is in the
 *   file, the task was removed on purpose; if not, it may have been lost, and a copy is set aside, unless another
 *   task in the file asks for the same under a different title.
 * - A completed task is never put back without its completion.
 */
import assert from "node:assert/strict";

import { CortexError } from "../../model/errors.ts";
import { applyEdit, editsDoneIn } from "../markdown/apply-edit.ts";
import type { FileEdit, TaskEdit } from "../markdown/edit.ts";
import type { EditRecord } from "./journal.ts";
import { readTasks } from "../markdown/read-tasks.ts";
import { blocksOf, findByRef, partOf } from "../markdown/task-blocks.ts";
import { gistOf, saysSame } from "../markdown/task-gist.ts";
import type { Task, TaskRef } from "../markdown/task.ts";

/** Edits older than this are not redone. */
export const RESTORE_MS = 15 * 60_000;
/** Nobody reverts an edit by hand this fast. */
export const RACE_MS = 2_000;

export interface Restored {
  readonly text: string;
  /** The redone edits, for the journal. */
  readonly edits: readonly RedoneEdit[];
  /** Keys of edits of removed tasks, which are not considered again. See `placeOf`. */
  readonly gone: readonly string[];
  /** Tasks that were either removed on purpose or lost. */
  readonly aside: readonly AddedTask[];
}

export interface RedoneEdit {
  readonly edit: FileEdit;
  readonly block: string | undefined;
  readonly again?: number;
}

export type AddedTask = Extract<TaskEdit, { readonly kind: "add" }>;

/** `changedMs` is the time at which others wrote the text. */
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

/** Whether another task has the same content under a different title. */
function isRenamed(text: string, add: AddedTask): boolean {
  if ((add.body ?? "").trim() === "") return false;
  const gist = gistOf({ ...taskOfEdit(add), title: "" });
  return readTasks(text).tasks.some((task) => gistOf({ ...task, title: "" }) === gist);
}

/** The task that an edit adds, as it reads in a file of its own. */
export function taskOfEdit(add: AddedTask): Task {
  const [task] = readTasks(applyEdit("", { file: "tasks", edit: { ...add, ordinal: 1 } })).tasks;
  assert(task !== undefined, "an added task can be read");
  return task;
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

/** People set fields too: our own hints ask them to set `status: active` to bring a member back. */
function isForPeople({ edit }: FileEdit): boolean {
  return edit.kind === "field";
}

/** Whether the text has the same or a newer tick, from another session of the member. */
function isOlderTick(text: string, { edit }: FileEdit): boolean {
  if (edit.kind !== "tick") return false;
  const { tick } = readTasks(text);
  return tick !== undefined && tick.stamp >= edit.stamp;
}

/** The text of the task that an edit is about. */
export function blockOf(text: string, { file, edit }: FileEdit): string | undefined {
  if (file !== "tasks" || !("task" in edit)) return undefined;
  const block = findByRef(blocksOf(text, new Set([edit.task.title])).tasks, edit.task);
  return block && partOf(text, block, block.heading.start, block.end);
}

interface Edited extends EditRecord {
  readonly edit: FileEdit;
}

/** Of edits that replace each other, only the last. */
function latestOfEach(entries: readonly EditRecord[], nowMs: number): Edited[] {
  const undone = entries.findLastIndex((entry) => entry.undone !== undefined);
  const latest = new Map<string, Edited>();
  for (const entry of entries.slice(undone + 1)) {
    for (const key of entry.gone ?? []) latest.delete(key);
    if (entry.edit === undefined || nowMs - entry.atMs > RESTORE_MS) continue;
    const key = placeOf(entry.edit);
    latest.delete(key); // keeps the order of the last edits
    latest.set(key, { ...entry, edit: entry.edit });
  }
  return [...latest.values()];
}

/** Whether its presence shows that the text was read after it. Repeated edits may have been there before. */
function isTelling({ edit }: FileEdit): boolean {
  return !["tick", "progress", "field", "trim-log", "remove"].includes(edit.kind);
}

/** A key shared by edits that replace each other. */
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

/** Undefined: the edit no longer applies, because others have changed or removed the task. */
function tryEdit(text: string, edit: FileEdit): string | undefined {
  try {
    return applyEdit(text, edit);
  } catch (error) {
    if (error instanceof CortexError) return undefined;
    throw error;
  }
}
