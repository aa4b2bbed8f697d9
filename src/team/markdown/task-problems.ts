/** What a task file says in another way than the protocol has it. Each is read all the same, as its message says. */
import { type Heading, isBlank, textLines, type TickMark } from "./outline.ts";
import { isStamp } from "./stamp.ts";
import { asStatus, externalPathOf, type FileProblem } from "./task.ts";
import {
  metadataAt,
  metadataOf,
  type TaskBlock,
  type TaskBlocks,
  TICK_PREFIX,
  trailStart,
} from "./task-blocks.ts";

export function problemsOf(text: string, { outline, tasks, prose }: TaskBlocks): FileProblem[] {
  const problems: FileProblem[] = [];
  for (const task of tasks) addOfTask(problems, task, text);
  addOfSeveral(problems, tasks);
  for (const heading of prose) addOfProse(problems, heading, text);
  for (const { line } of outline.unclosed) {
    const message = "a code fence or comment begins here and is never closed; it is taken for plain text";
    problems.push({ line, rule: "fence-open", message, hint: "Close it, or take it out." });
  }
  addOfTicks(problems, outline.ticks, text);
  return problems.toSorted((a, b) => a.line - b.line);
}

const STAMP_HINT = "Write it as 2026-03-28T10:15.";

function addOfTask(problems: FileProblem[], task: TaskBlock, text: string): void {
  const { heading, status, metadata, doubled } = task;
  const add = (line: number, rule: string, message: string, hint: string): void => {
    problems.push({ line, rule, message, hint });
  };
  if (task.title === "") add(heading.line, "title-empty", "the task has no title", "Give it one.");
  if (task.ordinal > 1) {
    const message = `there is a task ${JSON.stringify(task.title)} above; they are told apart by their order`;
    add(heading.line, "title-doubled", message, "Give it a title of its own.");
  }
  const known = asStatus(status.value);
  if (known === undefined) {
    const message = `${JSON.stringify(status.value)} is no status, so ${JSON.stringify(task.title)} is left alone`;
    add(status.line, "status-unknown", message, "Write ready, in-progress or done.");
  }
  if (metadata[0] !== status)
    add(
      status.line,
      "metadata-order",
      `the status of ${JSON.stringify(task.title)} is not the first line`,
      "Move it below the heading.",
    );
  for (const { line, name } of doubled)
    add(line, "metadata-doubled", `${name} is there already; the first one counts`, "Take out one of them.");
  for (const { line, name, value, start } of metadata) {
    if (text[start] !== "*")
      add(line, "metadata-indented", `the line of ${name} is indented`, "Begin it at the margin.");
    if ((name === "Started" || name === "Completed") && !isStamp(value))
      add(line, "stamp-invalid", `${JSON.stringify(value)} of ${name} is no stamp`, STAMP_HINT);
  }
  if (known === "in-progress" && task.started === undefined)
    add(
      status.line,
      "started-missing",
      `${JSON.stringify(task.title)} is in progress without Started`,
      STAMP_HINT,
    );
  if (known === "done" && metadataOf(task, "Completed") === undefined) {
    const message = `${JSON.stringify(task.title)} is done without Completed, so housekeeping keeps it`;
    add(status.line, "completed-missing", message, STAMP_HINT);
  }
}

function addOfSeveral(problems: FileProblem[], tasks: readonly TaskBlock[]): void {
  const own = tasks.filter((task) => !isWrapper(task)); // those wait for others, beside what is worked on
  const [, ...others] = own.filter(({ status }) => status.value === "in-progress");
  for (const { status, title } of others) {
    const message = `${JSON.stringify(title)} is in progress, and so is one above it`;
    problems.push({
      line: status.line,
      rule: "in-progress-several",
      message,
      hint: "Work on one task at a time.",
    });
  }
}

function isWrapper(task: TaskBlock): boolean {
  const external = metadataOf(task, "External")?.value;
  return externalPathOf({ title: task.title, external }) !== undefined;
}

/** `Status: ready`, `**Status**: ready`, `- status: ready`. */
const LIKE_STATUS = /^[\s*_-]*status[\s*_]*:/i;

/** A heading that was meant to be a task, and is none. */
function addOfProse(problems: FileProblem[], heading: Heading, text: string): void {
  let isFirst = true;
  for (const line of textLines(text, heading.next, text.length, heading.line + 1)) {
    if (isBlank(text, line)) continue;
    const written = text.slice(line.start, line.end);
    if (/^ {0,3}(?:```|~~~|<!--|#)/.test(written)) return;
    const isStatus = metadataAt(text, line)?.name === "Status";
    if (isStatus || (isFirst && LIKE_STATUS.test(written))) {
      const [rule, why] = isStatus
        ? ["status-misplaced", "below text"]
        : ["status-malformed", "written otherwise"];
      problems.push({
        line: line.line,
        rule,
        message: `the status of ${JSON.stringify(heading.title)} is ${why}, so it is not taken for a task`,
        hint: "Write **Status:** ready in the first line below the heading.",
      });
      return;
    }
    isFirst = false;
  }
}

function addOfTicks(problems: FileProblem[], ticks: readonly TickMark[], text: string): void {
  const ours = ticks.filter(({ prefix }) => prefix === TICK_PREFIX);
  const last = ours.at(-1);
  for (const { line, stamp } of ours) {
    if (isStamp(stamp)) continue;
    const message = `${JSON.stringify(stamp)} of the tick is no stamp, so it is not read`;
    problems.push({ line, rule: "tick-invalid", message, hint: STAMP_HINT });
  }
  for (const { line } of ours.slice(0, -1)) {
    const message = "there is a tick below this one, and the last one counts";
    problems.push({ line, rule: "tick-doubled", message, hint: "Take it out; the next tick does that." });
  }
  if (last !== undefined && last.start < trailStart(text, ticks)) {
    const message = "the tick is not at the end of the file";
    problems.push({
      line: last.line,
      rule: "tick-misplaced",
      message,
      hint: "The next tick moves it there.",
    });
  }
}
