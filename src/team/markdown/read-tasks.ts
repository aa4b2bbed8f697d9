/** Reads a task file as people, other agents and Cortex write it. Nothing is rejected: deviations become problems. */
import { type Heading, isBlank, textLines, type TickMark } from "./outline.ts";
import { isStamp } from "./stamp.ts";
import {
  asStatus,
  externalPathOf,
  type FileProblem,
  type Task,
  type TaskFile,
  type TaskRef,
} from "./task.ts";
import {
  blocksOf,
  findByRef,
  metadataAt,
  type MetadataName,
  metadataOf,
  partOf,
  sectionOf,
  type TaskBlock,
  type TaskBlocks,
  TICK_PREFIX,
  trailStart,
} from "./task-blocks.ts";

export function readTasks(text: string): TaskFile {
  const blocks = blocksOf(text);
  const ticks = blocks.outline.ticks.filter(({ prefix, stamp }) => prefix === TICK_PREFIX && isStamp(stamp));
  const tick = ticks.at(-1);
  return {
    tasks: blocks.tasks.map((block) => taskOf(text, block)),
    tick: tick && { stamp: tick.stamp, line: tick.line },
    problems: problemsOf(text, blocks),
  };
}

export function findTask(file: Pick<TaskFile, "tasks">, task: TaskRef): Task | undefined {
  return findByRef(file.tasks, task);
}

function taskOf(text: string, block: TaskBlock): Task {
  const value = (wanted: MetadataName): string | undefined => metadataOf(block, wanted)?.value || undefined;
  const summary = sectionOf(block, "Summary");
  return {
    title: block.title,
    ordinal: block.ordinal,
    status: asStatus(block.status.value),
    statusText: block.status.value,
    started: value("Started"),
    completed: value("Completed"),
    template: value("Template"),
    external: value("External"),
    body: (summary === undefined
      ? partOf(text, block, block.bodyStart, block.end)
      : partOf(text, block, block.bodyStart, summary.start) + partOf(text, block, summary.end, block.end)
    ).trim(),
    summary: summary && partOf(text, block, summary.textStart, summary.end).trim(),
    line: block.heading.line,
    text: partOf(text, block, block.heading.start, block.end),
  };
}

/** Deviations from the protocol. Each is read anyway, as its message says. */
function problemsOf(text: string, { outline, tasks, prose }: TaskBlocks): FileProblem[] {
  const problems: FileProblem[] = [];
  for (const task of tasks) addTaskProblems(problems, task, text);
  addConcurrentTasks(problems, tasks);
  for (const heading of prose) addMalformedTask(problems, heading, text);
  for (const { line } of outline.unclosed) {
    const message = "this code fence or comment is never closed; it is read as plain text";
    problems.push({ line, rule: "fence-open", message, hint: "Close or remove it." });
  }
  addTickProblems(problems, outline.ticks, text);
  return problems.toSorted((a, b) => a.line - b.line);
}

const STAMP_HINT = "Write it as 2026-03-28T10:15.";

function addTaskProblems(problems: FileProblem[], task: TaskBlock, text: string): void {
  const { heading, status, metadata, doubled } = task;
  const title = JSON.stringify(task.title);
  const add = (line: number, rule: string, message: string, hint: string): void => {
    problems.push({ line, rule, message, hint });
  };
  if (task.title === "") add(heading.line, "title-empty", "the task has no title", "Add one.");
  if (task.ordinal > 1) {
    const message = `duplicate title ${title}; tasks with the same title are told apart by their order`;
    add(heading.line, "title-doubled", message, "Give it a unique title.");
  }
  const known = asStatus(status.value);
  if (known === undefined) {
    const message = `invalid status ${JSON.stringify(status.value)}, so ${title} is left alone`;
    add(status.line, "status-unknown", message, "Use ready, in-progress or done.");
  }
  if (metadata[0] !== status)
    add(
      status.line,
      "metadata-order",
      `the status of ${title} is not the first line`,
      "Move it directly below the heading.",
    );
  for (const { line, name } of doubled)
    add(line, "metadata-doubled", `duplicate ${name}; the first one counts`, "Remove one of them.");
  for (const { line, name, value, start } of metadata) {
    if (text[start] !== "*")
      add(line, "metadata-indented", `the line ${name} is indented`, "Remove the indentation.");
    if ((name === "Started" || name === "Completed") && !isStamp(value))
      add(line, "stamp-invalid", `invalid time ${JSON.stringify(value)} in ${name}`, STAMP_HINT);
  }
  if (known === "in-progress" && task.started === undefined)
    add(status.line, "started-missing", `${title} is in progress without Started`, STAMP_HINT);
  if (known === "done" && metadataOf(task, "Completed") === undefined) {
    const message = `${title} is done without Completed, so housekeeping keeps it`;
    add(status.line, "completed-missing", message, STAMP_HINT);
  }
}

/** Tasks that mirror an external file wait for other programs, so they do not count. */
function addConcurrentTasks(problems: FileProblem[], tasks: readonly TaskBlock[]): void {
  const own = tasks.filter(
    (task) =>
      externalPathOf({ title: task.title, external: metadataOf(task, "External")?.value }) === undefined,
  );
  const [, ...others] = own.filter(({ status }) => status.value === "in-progress");
  for (const { status, title } of others) {
    const message = `${JSON.stringify(title)} is in progress, and so is a task above it`;
    const hint = "Work on one task at a time.";
    problems.push({ line: status.line, rule: "in-progress-several", message, hint });
  }
}

/** `Status: ready`, `**Status**: ready`, `- status: ready`. */
const LIKE_STATUS = /^[\s*_-]*status[\s*_]*:/i;

/** A heading that was probably meant as a task. */
function addMalformedTask(problems: FileProblem[], heading: Heading, text: string): void {
  let isFirst = true;
  for (const line of textLines(text, heading.next, text.length, heading.line + 1)) {
    if (isBlank(text, line)) continue;
    const written = text.slice(line.start, line.end);
    if (/^ {0,3}(?:```|~~~|<!--|#)/.test(written)) return;
    const isStatus = metadataAt(text, line)?.name === "Status";
    if (isStatus || (isFirst && LIKE_STATUS.test(written))) {
      const [rule, why] = isStatus
        ? ["status-misplaced", "below other text"]
        : ["status-malformed", "malformed"];
      problems.push({
        line: line.line,
        rule,
        message: `the status of ${JSON.stringify(heading.title)} is ${why}, so it is not read as a task`,
        hint: "Write **Status:** ready on the first line below the heading.",
      });
      return;
    }
    isFirst = false;
  }
}

function addTickProblems(problems: FileProblem[], ticks: readonly TickMark[], text: string): void {
  const ours = ticks.filter(({ prefix }) => prefix === TICK_PREFIX);
  const last = ours.at(-1);
  for (const { line, stamp } of ours) {
    if (isStamp(stamp)) continue;
    const message = `invalid time ${JSON.stringify(stamp)} in the tick, so it is ignored`;
    problems.push({ line, rule: "tick-invalid", message, hint: STAMP_HINT });
  }
  for (const { line } of ours.slice(0, -1)) {
    const message = "duplicate tick; the last one counts";
    problems.push({ line, rule: "tick-doubled", message, hint: "Remove it, or wait: the next tick does." });
  }
  if (last !== undefined && last.start < trailStart(text, ticks)) {
    const message = "the tick is not at the end of the file";
    const hint = "The next tick moves it there.";
    problems.push({ line: last.line, rule: "tick-misplaced", message, hint });
  }
}
