/**
 * Edits of a task file. Each changes as little text as possible and is idempotent. A status only moves forward: ready,
 * in-progress, done.
 */
import type { RemovedTask, TaskEdit } from "./edit.ts";
import { spliced } from "./splice.ts";
import {
  blocksOf,
  findByRef,
  metadataOf,
  partOf,
  refFinder,
  sectionOf,
  type TaskBlock,
  type TaskBlocks,
  TICK_PREFIX,
  trailStart,
  wordsOf,
} from "./task-blocks.ts";
import { noteLine, progressLineOf, progressText, removedBlocks, splicesOf } from "./task-splices.ts";

/**
 * The text with the edit applied. Throws `task_unknown`, `state_conflict` if the task is not in the state that the edit
 * requires, and `request_invalid` for text that cannot be written to the file.
 */
export function applyTaskEdit(text: string, edit: TaskEdit): string {
  const blocks = blocksOf(text, titlesOf(edit));
  if (isDone(text, blocks, edit)) return text;
  return spliced(text, splicesOf(text, blocks, edit));
}

/** Whether the edit would change nothing. */
export function isTaskEditDone(text: string, edit: TaskEdit): boolean {
  return isDone(text, blocksOf(text, titlesOf(edit)), edit);
}

/** `isTaskEditDone` for many edits of one file, which is parsed once. */
export function taskEditsDoneIn(text: string): (edit: TaskEdit) => boolean {
  const blocks = blocksOf(text);
  return (edit) => isDone(text, blocks, edit);
}

/** Completes the edit with what depends on the current file, so that it can be redone on any later text. */
export function settleTaskEdit(text: string, edit: TaskEdit): TaskEdit {
  if (edit.kind === "add" && edit.ordinal === undefined) {
    return { ...edit, ordinal: blocksOf(text, titlesOf(edit)).tasks.length + 1 };
  }
  if (edit.kind === "remove" && edit.tasks.some((task) => task.text === undefined)) {
    return { kind: "remove", tasks: withTexts(text, blocksOf(text, titlesOf(edit)).tasks, edit.tasks) };
  }
  return edit;
}

function withTexts(
  text: string,
  blocks: readonly TaskBlock[],
  removed: readonly RemovedTask[],
): RemovedTask[] {
  const textOf = (block: TaskBlock): string => partOf(text, block, block.heading.start, block.end);
  const find = refFinder(blocks);
  const found = new Set(removed.map(find));
  const staying = new Map<string, number>();
  for (const block of blocks) {
    if (found.has(block)) continue;
    const words = wordsOf(block, textOf(block));
    staying.set(words, (staying.get(words) ?? 0) + 1);
  }
  return removed.flatMap((ref) => {
    if (ref.text !== undefined) return [ref];
    const block = find(ref);
    if (block === undefined) return [];
    const twins = staying.get(wordsOf(block, textOf(block))) ?? 0;
    return [{ ...ref, text: textOf(block), ...(twins > 0 ? { twins } : {}) }];
  });
}

/** Titles of the tasks that the edit can concern. */
function titlesOf(edit: TaskEdit): ReadonlySet<string> {
  switch (edit.kind) {
    case "add":
      return new Set([edit.title.trim()]);
    case "tick":
      return new Set();
    case "remove":
      return new Set(edit.tasks.map(({ title }) => title));
    case "claim":
    case "complete":
    case "note":
    case "progress":
      return new Set([edit.task.title]);
  }
}

function isDone(text: string, { tasks, outline }: TaskBlocks, edit: TaskEdit): boolean {
  switch (edit.kind) {
    case "add": {
      const { title, ordinal } = edit;
      return ordinal !== undefined && findByRef(tasks, { title: title.trim(), ordinal }) !== undefined;
    }
    case "claim": {
      // Another task with the same title may have been started in the same minute.
      if (findByRef(tasks, { ...edit.task, started: undefined })?.status.value === "ready") return false;
      const task = findByRef(tasks, { ...edit.task, started: edit.stamp });
      return task?.started === edit.stamp && ["in-progress", "done"].includes(task.status.value);
    }
    case "complete": {
      const task = findByRef(tasks, edit.task);
      return task?.status.value === "done" && metadataOf(task, "Completed")?.value === edit.stamp;
    }
    case "note": {
      const task = findByRef(tasks, edit.task);
      const section = task && sectionOf(task, "Progress");
      if (section === undefined) return false;
      const lines = text.slice(section.textStart, section.end).split("\n");
      return lines.some((line) => line.trimEnd() === noteLine(edit));
    }
    case "progress": {
      const task = findByRef(tasks, edit.task);
      const line = task && progressLineOf(text, task);
      return line !== undefined && text.slice(line.start, line.end) === progressText(edit);
    }
    case "tick": {
      const [tick, ...others] = outline.ticks.filter(({ prefix }) => prefix === TICK_PREFIX);
      if (tick === undefined || others.length > 0 || tick.stamp !== edit.stamp) return false;
      return tick.start >= trailStart(text, outline.ticks);
    }
    case "remove":
      return removedBlocks(text, tasks, edit).length === 0;
  }
}
