/**
 * The end of the work on a task: read from the ledger, then written into the member's files. The same work always ends in the
 * same way, and recording its end is idempotent.
 */
import { dateOf } from "../../model/day.ts";
import type { ItemId, RelayId } from "../../model/ids.ts";
import { readRelayResult } from "../../relay/record/summary.ts";
import type { TeamFolder } from "../files/team-folder.ts";
import type { NoteEdit, TaskEdit } from "../markdown/edit.ts";
import { flagStatus, flagText } from "../markdown/flag.ts";
import { findTask, readTasks } from "../markdown/read-tasks.ts";
import { toStamp } from "../markdown/stamp.ts";
import { gistOf } from "../markdown/task-gist.ts";
import type { Task, TaskFile } from "../markdown/task.ts";
import type { MemberFiles } from "../members/member-files.ts";
import {
  type CurrentTask,
  digestOf,
  type DoneTask,
  MAX_TASK_FAILURES,
  refOf,
  type Trouble,
} from "./member-state.ts";
import { FLAG_TOOL } from "./tool-names.ts";
import type { Workplace } from "./workplace.ts";

export type WorkEnd = { readonly atMs: number } & (
  | { readonly kind: "done"; readonly summary: string }
  | { readonly kind: "flagged"; readonly reason: string }
  | { readonly kind: "failed"; readonly error: string }
);

/** Reads the end of a turn from the ledger. Undefined: it is not over. */
export async function readTurnEnd(
  item: ItemId,
  { queue, turns }: Pick<Workplace["store"], "queue" | "turns">,
): Promise<WorkEnd | undefined> {
  const outcome = await queue.outcome(item);
  const atMs = outcome?.settledAtMs;
  if (outcome === undefined || atMs === undefined) return undefined;
  if (outcome.state === "dead") return { kind: "failed", error: outcome.error ?? "unknown", atMs };
  const content = outcome.turn === undefined ? undefined : await turns.read(outcome.turn);
  if (content === undefined)
    return { kind: "failed", error: `its message was dropped (${outcome.policy ?? "unknown"})`, atMs };
  const { turn, messages, toolCalls } = content;
  const flag = toolCalls.findLast(({ tool, status }) => tool === FLAG_TOOL && status === "ok");
  if (flag !== undefined) return { kind: "flagged", reason: reasonIn(flag.params), atMs };
  if (turn.status !== "completed") return { kind: "failed", error: "its turn was stopped", atMs };
  const answer = messages.findLast(({ role, content: text }) => role === "assistant" && text.trim() !== "");
  return { kind: "done", summary: answer?.content ?? "", atMs };
}

function reasonIn(params: unknown): string {
  const reason = typeof params === "object" && params !== null && "reason" in params ? params.reason : "";
  return typeof reason === "string" && reason.trim() !== "" ? reason.trim() : "no reason given";
}

/** Waits for a relay to end. Undefined: the signal came first. */
export async function waitForRelay(
  relay: RelayId,
  signal: AbortSignal,
  place: Pick<Workplace, "apis" | "home" | "clock" | "store">,
): Promise<WorkEnd | undefined> {
  const record = await place.apis.relays.ended(relay, signal);
  if (record === undefined) return undefined;
  const text = (await readRelayResult(relay, place))?.text ?? "";
  const atMs = record.endedAt === null ? place.clock() : Date.parse(record.endedAt);
  return record.status === "completed"
    ? { kind: "done", summary: text, atMs }
    : { kind: "failed", error: text, atMs };
}

interface EndedWork {
  readonly work: CurrentTask;
  readonly end: WorkEnd;
  /** How often it had failed before. */
  readonly failures: number;
  readonly timezone: string;
}

/** Writes the end into the member's files. Returns the task file and what to remember about the task. */
export async function recordEnd(
  { tasksPath, notePath }: Pick<MemberFiles, "tasksPath" | "notePath">,
  ended: EndedWork,
  folder: TeamFolder,
): Promise<{
  readonly file: TaskFile;
  readonly trouble: Trouble | undefined;
  readonly isFlagged: boolean;
  readonly done: DoneTask | undefined;
}> {
  const { work, end, timezone } = ended;
  const stamp = toStamp(end.atMs, timezone);
  const failures = ended.failures + (end.kind === "failed" ? 1 : 0);
  const reason = flagReason(end, failures);
  let text = "";
  if (end.kind === "done") await claimAgain(tasksPath, work, folder);
  for (const edit of editsFor({ ...ended, stamp, failures, reason })) {
    ({ text } = await folder.editFrom(tasksPath, (now) => {
      const task = findTask(readTasks(now), work);
      return task?.status === "in-progress" ? { file: "tasks", edit } : undefined; // otherwise another program was faster
    }));
  }
  const log: NoteEdit = {
    kind: "session",
    date: dateOf(end.atMs, timezone),
    status: logStatus(work, end, reason),
  };
  await folder.edit(notePath, { file: "note", edit: log });
  const file = readTasks(text);
  const task = findTask(file, work);
  return {
    file,
    trouble: troubleOf(task, { work, failures, reason }),
    isFlagged: reason !== undefined,
    done: doneOf(work, end, stamp),
  };
}

/** The task may be ready again, if an older copy of the file was saved while the turn ran. It is done anyway. */
async function claimAgain(
  tasksPath: string,
  { title, ordinal, started, gist }: CurrentTask,
  folder: TeamFolder,
): Promise<void> {
  if (started === undefined) return;
  await folder.editFrom(tasksPath, (now) => {
    const task = findTask(readTasks(now), { title, ordinal, started });
    if (task?.status !== "ready" || gistOf(task) !== gist) return undefined;
    return {
      file: "tasks",
      edit: { kind: "claim", task: refOf({ title, ordinal: task.ordinal }), stamp: started },
    };
  });
}

function doneOf({ gist, started }: CurrentTask, end: WorkEnd, completed: string): DoneTask | undefined {
  if (end.kind !== "done" || gist === undefined) return undefined;
  return { gist, ...(started === undefined ? {} : { started }), completed, atMs: end.atMs };
}

/** Undefined: the task is not flagged. */
function flagReason(end: WorkEnd, failures: number): string | undefined {
  if (end.kind === "flagged") return end.reason;
  return end.kind === "failed" && failures >= MAX_TASK_FAILURES
    ? `failed ${failures} times; last error: ${end.error}`
    : undefined;
}

function editsFor({
  work,
  end,
  stamp,
  failures,
  reason,
}: EndedWork & { readonly stamp: string; readonly reason: string | undefined }): TaskEdit[] {
  const task = refOf(work);
  const note = (text: string): TaskEdit => ({ kind: "note", task, stamp, text });
  const flag = reason === undefined ? [] : [note(flagText(reason))];
  switch (end.kind) {
    case "done":
      return [{ kind: "complete", task, stamp, summary: end.summary }];
    case "flagged":
      return flag;
    case "failed":
      return [note(`attempt ${failures} failed: ${end.error}`), ...flag];
  }
}

function logStatus({ title }: CurrentTask, end: WorkEnd, reason: string | undefined): string {
  if (reason !== undefined) return flagStatus(title, reason);
  if (end.kind === "done") return `active — done: ${title}`;
  return `active — ${title} failed and will be retried: ${end.kind === "failed" ? end.error : end.reason}`;
}

function troubleOf(
  task: Task | undefined,
  known: { readonly work: CurrentTask; readonly failures: number; readonly reason: string | undefined },
): Trouble | undefined {
  if (task?.status !== "in-progress") return undefined;
  const { work, failures, reason } = known;
  return { ...refOf(work), failures, ...(reason === undefined ? {} : { flagged: digestOf(task) }) };
}
