/**
 * Edits of a task file. Each changes as little text as possible and is idempotent. A status only moves forward: ready,
 * in-progress, done.
 */
import { CortexError } from "../../model/errors.ts";
import { bodyLines, checkedLine, oneLine, summaryLines } from "./block-text.ts";
import type { RemovedTask, TaskEdit } from "./edit.ts";
import { isBlank, type TextLine, textLines, startOf } from "./outline.ts";
import { type Splice, spliced } from "./splice.ts";
import type { TaskRef, TaskStatus } from "./task.ts";
import {
  blocksOf,
  findByRef,
  isAlone,
  type MetadataLine,
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

type Edit<Kind extends TaskEdit["kind"]> = Extract<TaskEdit, { readonly kind: Kind }>;

/** The changes of an edit that is not done yet, in text order. */
function splicesOf(text: string, blocks: TaskBlocks, edit: TaskEdit): Splice[] {
  switch (edit.kind) {
    case "add":
      return addTask(text, blocks, edit);
    case "claim": {
      // By ordinal alone: a ready task has not been started.
      const task = taskOf(blocks, { ...edit.task, started: undefined });
      return moveOn(task, { from: "ready", to: "in-progress", name: "Started", stamp: edit.stamp });
    }
    case "complete": {
      const task = taskOf(blocks, edit.task);
      const lines = ["", "### Summary", ...summaryLines(edit.summary, blocks.outline)];
      return [
        ...moveOn(task, { from: "in-progress", to: "done", name: "Completed", stamp: edit.stamp }),
        { from: contentEnd(text, task, task.bodyStart, task.end), lines },
      ];
    }
    case "note":
      return addNote(text, taskOf(blocks, edit.task), noteLine(edit));
    case "progress":
      return setProgress(text, taskOf(blocks, edit.task), progressText(edit));
    case "tick":
      return setTick(text, blocks, edit.stamp);
    case "remove":
      return removedBlocks(text, blocks.tasks, edit).flatMap((task) => removeTask(text, task));
  }
}

function noteLine({ stamp, text }: Edit<"note">): string {
  return `- ${stamp} ${oneLine(text)}`.trimEnd();
}

function progressText({ text }: Edit<"progress">): string {
  return `Progress: ${oneLine(text)}`.trimEnd();
}

/** The tasks of the edit that are still in the file, in text order. */
function removedBlocks(
  text: string,
  tasks: readonly TaskBlock[],
  edit: Edit<"remove">,
): readonly TaskBlock[] {
  const find = refFinder(tasks);
  const ofTask = (task: TaskBlock): string => wordsOf(task, partOf(text, task, task.heading.start, task.end));
  const left = new Map<string, Set<TaskBlock>>();
  for (const task of tasks) {
    const words = ofTask(task);
    left.set(words, (left.get(words) ?? new Set()).add(task));
  }
  const found = new Set<TaskBlock>();
  for (const { text: wanted, twins = 0, ...ref } of edit.tasks) {
    const same = wanted === undefined ? undefined : left.get(wordsOf(ref, wanted));
    const [first] = same ?? [];
    const task = wanted === undefined ? find(ref) : (same?.size ?? 0) > twins ? first : undefined;
    if (task === undefined) continue;
    found.add(task);
    left.get(ofTask(task))?.delete(task);
  }
  return tasks.filter((task) => found.has(task));
}

function addTask(text: string, { outline }: TaskBlocks, edit: Edit<"add">): Splice[] {
  const from = trailStart(text, outline.ticks);
  const lines = [`## ${checkedLine("title", edit.title)}`, "**Status:** ready"];
  if (edit.template !== undefined) lines.push(`**Template:** ${checkedLine("template", edit.template)}`);
  if (edit.external !== undefined) lines.push(`**External:** ${checkedLine("path", edit.external)}`);
  const body = bodyLines(edit.body ?? "", outline);
  if (body.length > 0) lines.push("", ...body);
  if (from < text.length) lines.push("");
  if (!isAfterBlank(text, from)) lines.unshift("");
  return [{ from, lines }];
}

interface Move {
  readonly from: TaskStatus;
  readonly to: TaskStatus;
  readonly name: "Started" | "Completed";
  readonly stamp: string;
}

function moveOn(task: TaskBlock, { from, to, name, stamp }: Move): Splice[] {
  const { status } = task;
  if (status.value !== from) throw notInState(task, from);
  const splices: Splice[] = [replaceValue(status, to)];
  const existing = metadataOf(task, name);
  const before = (name === "Completed" ? metadataOf(task, "Started") : undefined) ?? status;
  const last = before.start > status.start ? before : status;
  splices.push(
    existing === undefined
      ? { from: last.next, lines: [`**${name}:** ${stamp}`] }
      : { from: existing.start, to: existing.end, text: `**${name}:** ${stamp}` },
  );
  return splices.toSorted((a, b) => a.from - b.from);
}

function replaceValue({ valueStart, value }: MetadataLine, text: string): Splice {
  return { from: valueStart, to: valueStart + value.length, text };
}

function addNote(text: string, task: TaskBlock, line: string): Splice[] {
  const section = sectionOf(task, "Progress");
  if (section !== undefined)
    return [{ from: contentEnd(text, task, section.textStart, section.end), lines: [line] }];
  const end = sectionOf(task, "Summary")?.start ?? task.end;
  return [{ from: contentEnd(text, task, task.bodyStart, end), lines: ["", "### Progress", line] }];
}

function setProgress(text: string, task: TaskBlock, written: string): Splice[] {
  const line = progressLineOf(text, task);
  if (line !== undefined) return [{ from: line.start, to: line.end, text: written }];
  const end = task.sections[0]?.start ?? task.end;
  return [{ from: contentEnd(text, task, task.bodyStart, end), lines: ["", written] }];
}

/** The line must be above the sections. */
function progressLineOf(text: string, task: TaskBlock): TextLine | undefined {
  for (const line of textLines(text, task.bodyStart, task.sections[0]?.start ?? task.end))
    if (text.startsWith("Progress:", line.start)) return line;
  return undefined;
}

function setTick(text: string, { outline }: TaskBlocks, stamp: string): Splice[] {
  const ours = outline.ticks.filter(({ prefix }) => prefix === TICK_PREFIX);
  const trail = trailStart(text, outline.ticks);
  const comment = `<!-- ${TICK_PREFIX}:last-tick ${stamp} -->`;
  const kept = ours.findLast((tick) => tick.start >= trail);
  const splices: Splice[] = ours.map((tick) => {
    if (tick === kept) return { from: tick.from, to: tick.to, text: comment };
    const [from, to] = isAlone(text, tick) ? [tick.start, tick.next] : [tick.from, tick.to];
    return { from, to, text: "" };
  });
  if (kept === undefined) {
    const isApart = isAfterBlank(text, text.length) || trail < text.length;
    splices.push({ from: text.length, lines: isApart ? [comment] : ["", comment] });
  }
  return splices;
}

/** Tick comments in it stay. */
function removeTask(text: string, task: TaskBlock): Splice[] {
  if (task.status.value !== "done") throw notInState(task, "done");
  const splices: Splice[] = [];
  let from = task.heading.start;
  for (const tick of task.ticks) {
    splices.push({ from, to: isAlone(text, tick) ? tick.start : tick.from, text: "" });
    from = tick.next;
  }
  return [...splices, { from, to: task.end, text: "" }];
}

/** The end of the last line between two offsets that is neither blank nor a tick comment. */
function contentEnd(text: string, { ticks }: TaskBlock, from: number, to: number): number {
  const passed = new Set(ticks.filter((tick) => isAlone(text, tick)).map(({ start }) => start));
  let end = from;
  for (const line of textLines(text, from, to))
    if (!isBlank(text, line) && !passed.has(line.start)) end = line.next;
  return end;
}

/** Whether a blank line, or nothing at all, precedes it. */
function isAfterBlank(text: string, at: number): boolean {
  const before = text.slice(startOf(text), at);
  return before === "" || /(?:^|\n)[ \t]*\r?\n$/.test(before.slice(-MAX_LOOK_BACK));
}

const MAX_LOOK_BACK = 200;

function taskOf({ tasks }: TaskBlocks, ref: TaskRef): TaskBlock {
  const task = findByRef(tasks, ref);
  if (task !== undefined) return task;
  const which = ref.ordinal === 1 ? "" : ` (number ${ref.ordinal} with this title)`;
  throw new CortexError("task_unknown", `Unknown task ${JSON.stringify(ref.title)}${which}`, {
    hint: "Run `cortex team status` to list the tasks; it may have been renamed or removed.",
  });
}

function notInState({ title, status }: TaskBlock, wanted: TaskStatus): CortexError {
  const message = `The task ${JSON.stringify(title)} is ${JSON.stringify(status.value)}, not ${wanted}`;
  return new CortexError("state_conflict", message, {
    hint: "A task goes from ready to in-progress to done, and only done tasks can be removed.",
  });
}
