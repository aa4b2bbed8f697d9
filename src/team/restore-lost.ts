/**
 * Does again what others have overwritten.
 *
 * A program that does not know our lock reads a file, takes its time, and writes back what it read with a change of its own:
 * what we did in between is gone. A person, on the other hand, may take out what we wrote because they want it so. The
 * two are told apart by what else happened: what is gone within moments was overwritten, always. Later, it was if all
 * that we did after it is gone as well and the task is again what it was before; and then it is done again only once. A
 * field of a note is for people to set, and never done again later.
 */
import { CortexError } from "../model/errors.ts";
import { applyEdit, editsDoneIn } from "./apply-edit.ts";
import type { FileEdit } from "./edit.ts";
import type { JournalEntry } from "./journal.ts";
import { readTasks } from "./read-tasks.ts";
import { blocksOf, findByRef, partOf } from "./task-blocks.ts";

/** What was done before is not looked at. */
export const RESTORE_MS = 15 * 60_000;
/** Gone within this time after it was written, it was overwritten. */
export const RACE_MS = 2_000;

export interface Restored {
  readonly text: string;
  /** What was done again, as it is to be written down. */
  readonly edits: readonly Done[];
}

export interface Done {
  readonly edit: FileEdit;
  readonly block: string | undefined;
  readonly again?: number;
}

/** `changedMs` is when others wrote the text. */
export function restoreLost(
  text: string,
  { entries, nowMs, changedMs }: { entries: readonly JournalEntry[]; nowMs: number; changedMs: number },
): Restored {
  const recent = latestOfEach(entries, nowMs);
  let isDone = editsDoneIn(text);
  const isThere = recent.map(({ edit }) => isDone(edit));
  const lastThere = recent.findLastIndex(({ edit }, index) => isThere[index] && isTelling(edit));
  const edits: Done[] = [];
  let restored = text;
  for (const [index, { edit, block, again = 0, atMs }] of recent.entries()) {
    if (isDone(edit)) continue;
    if (isOlderTick(restored, edit)) continue;
    const blockNow = blockOf(restored, edit);
    const isRace = changedMs - atMs < RACE_MS;
    const isOnPurpose = index < lastThere || again > 0 || !isSameBlock(blockNow, block) || isForPeople(edit);
    if (isOnPurpose && !isRace) continue;
    const next = tryEdit(restored, edit);
    if (next === undefined) continue;
    restored = next;
    isDone = editsDoneIn(restored);
    edits.push({ edit, block: blockNow, again: isRace ? again : again + 1 });
  }
  return { text: restored, edits };
}

/** A task below it that has come or gone since changes the empty lines at its end. */
function isSameBlock(one: string | undefined, other: string | undefined): boolean {
  return one?.trimEnd() === other?.trimEnd();
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
  const block = findByRef(blocksOf(text, { title: (title) => title === edit.task.title }).tasks, edit.task);
  return block && partOf(text, block, block.heading.start, block.end);
}

interface Edited extends JournalEntry {
  readonly edit: FileEdit;
}

/** Of edits that replace each other only the last one counts. */
function latestOfEach(entries: readonly JournalEntry[], nowMs: number): Edited[] {
  const undone = entries.findLastIndex((entry) => entry.undone !== undefined);
  const latest = new Map<string, Edited>();
  for (const entry of entries.slice(undone + 1)) {
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
