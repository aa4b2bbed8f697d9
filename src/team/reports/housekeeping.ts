/**
 * Prunes the files of a team: tasks that were done more than a week ago, and all but the latest entry of session logs.
 *
 * If the team directory is in a git repository, the pruning is committed first. If git refuses, nothing is pruned and the
 * next housekeeping tries again, so pruned text is always in the history. Without a repository the files are pruned anyway.
 */
import { DAY_MS } from "../../model/durations.ts";
import { CortexError } from "../../model/errors.ts";
import type { Variables } from "../../programs/environment.ts";
import { GitRefused } from "../../programs/git.ts";
import { applyEdit } from "../markdown/apply-edit.ts";
import { commitPrune, type PrunedFile } from "./commit-prune.ts";
import type { FileEdit } from "../markdown/edit.ts";
import { readTasks } from "../markdown/read-tasks.ts";
import { findRepository } from "./repository.ts";
import { isStamp, toStamp } from "../markdown/stamp.ts";
import type { Task } from "../markdown/task.ts";
import type { Team } from "../files/team.ts";
import type { TeamFolder } from "../files/team-folder.ts";
import { count } from "../../model/count.ts";

export interface HousekeepingReport {
  readonly removed: readonly { readonly slug: string; readonly title: string; readonly completed: string }[];
  /** Members whose session logs were trimmed. */
  readonly trimmed: readonly string[];
  /** The id of the commit. */
  readonly committed: string | undefined;
  /** Why there is no commit although something was pruned. */
  readonly uncommitted: string | undefined;
  /** Nothing was pruned, because git refused to commit. */
  readonly isPostponed: boolean;
  /** Files that could not be written. */
  readonly failed: readonly { readonly file: string; readonly message: string; readonly hint: string }[];
}

interface HousekeepingOptions {
  readonly nowMs: number;
  readonly timezone: string;
  /** Git gets some of these. */
  readonly environment: Variables;
  readonly gitTimeoutMs?: number;
}

/** In local time: a task completed at 10:15 is removed a week later at 10:16. */
export const KEEP_DONE_DAYS = 7;

export async function housekeep(
  folder: TeamFolder,
  team: Team,
  options: HousekeepingOptions,
): Promise<HousekeepingReport> {
  const plans = await planAll(folder, team, options);
  if (plans.length === 0) return { ...NOTHING_DONE, isPostponed: false };
  const commit = await commitPlans(folder.root, plans, options);
  if (commit.isRefused) return { ...NOTHING_DONE, uncommitted: commit.why, isPostponed: true };
  const done: CarriedOut[] = [];
  for (const plan of plans) done.push(await carryOut(folder, plan));
  return {
    removed: done.flatMap(removedBy),
    trimmed: done.flatMap(({ plan, text }) =>
      text !== undefined && plan.edit.file === "note" ? [plan.slug] : [],
    ),
    committed: commit.id,
    uncommitted: commit.why,
    isPostponed: false,
    failed: done.flatMap(({ failure }) => failure ?? []),
  };
}

const NOTHING_DONE = { removed: [], trimmed: [], committed: undefined, uncommitted: undefined, failed: [] };

interface Plan extends PrunedFile {
  readonly slug: string;
  readonly edit: FileEdit;
  readonly removed: readonly (Task & { readonly completed: string })[];
}

/** Reads the files again, so that the commit matches what is about to be pruned. */
async function planAll(folder: TeamFolder, { members }: Team, options: HousekeepingOptions): Promise<Plan[]> {
  const oldest = oldestKept(options);
  const plans: Plan[] = [];
  for (const { slug, tasksPath, notePath, tasks } of members) {
    if (tasks.tasks.some((task) => isOld(task, oldest)))
      plans.push(...planTasks(slug, tasksPath, await readText(folder, tasksPath), oldest));
    plans.push(...planNote(slug, notePath, await readText(folder, notePath)));
  }
  return plans;
}

/** Unreadable files are not pruned; `lint` reports them. */
async function readText(folder: TeamFolder, path: string): Promise<string> {
  try {
    return (await folder.read(path)) ?? "";
  } catch (error) {
    if (error instanceof CortexError) return "";
    throw error;
  }
}

function planTasks(slug: string, path: string, text: string, oldest: string): Plan[] {
  const removed = readTasks(text).tasks.filter((task) => isOld(task, oldest));
  if (removed.length === 0) return [];
  const edit = removal(removed);
  const prune = (version: string): string => applyEdit(version, removal(withLineEndsOf(version, removed)));
  return [{ slug, path, text: prune(text), edit, removed, pruned: removed.map((task) => task.text), prune }];
}

function planNote(slug: string, path: string, text: string): Plan[] {
  const edit: FileEdit = { file: "note", edit: { kind: "trim-log" } };
  const prune = (version: string): string => applyEdit(version, edit);
  const trimmed = prune(text);
  if (trimmed === text) return [];
  return [{ slug, path, text: trimmed, edit, removed: [], pruned: [takenOut(text, trimmed)], prune }];
}

/** Tasks completed before this stamp are removed. */
function oldestKept({ nowMs, timezone }: HousekeepingOptions): string {
  const wallMs = Date.parse(`${toStamp(nowMs, timezone)}Z`);
  return toStamp(wallMs - KEEP_DONE_DAYS * DAY_MS, "UTC");
}

/** A done task without Completed stays: its age is unknown. */
function isOld(task: Task, oldest: string): task is Task & { readonly completed: string } {
  const { status, completed } = task;
  return status === "done" && completed !== undefined && completed < oldest && isStamp(completed);
}

/** Identifies tasks by their text, so that a task edited meanwhile stays. */
function removal(tasks: readonly Task[]): FileEdit {
  const refs = tasks.map(({ title, ordinal, started, text }) => ({ title, ordinal, started, text }));
  return { file: "tasks", edit: { kind: "remove", tasks: refs } };
}

/** Line ends may differ between git and the disk. */
function withLineEndsOf(version: string, tasks: readonly Task[]): Task[] {
  const end = version.includes("\r\n") ? "\r\n" : "\n";
  return tasks.map((task) => ({ ...task, text: task.text.replaceAll(/\r?\n/g, end) }));
}

/** The text between their common start and their common end. */
function takenOut(before: string, after: string): string {
  let start = 0;
  while (start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return before.slice(start, before.length - end);
}

type Committed =
  | { readonly isRefused: false; readonly id: string | undefined; readonly why: string | undefined }
  | { readonly isRefused: true; readonly why: string };

async function commitPlans(
  root: string,
  plans: readonly Plan[],
  { environment, gitTimeoutMs: timeoutMs }: HousekeepingOptions,
): Promise<Committed> {
  const place = { folder: root, environment, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  const state = await findRepository(place);
  if (state.kind === "none") return { isRefused: false, id: undefined, why: state.why };
  if (state.kind === "blocked") return { isRefused: true, why: state.why };
  try {
    const id = await commitPrune(state.repository, plans);
    return { isRefused: false, id, why: id === undefined ? "git ignores these files" : undefined };
  } catch (error) {
    if (!(error instanceof GitRefused) && !isOfSystem(error)) throw error;
    return { isRefused: true, why: error.message };
  }
}

/** For example, the git folder is read-only. */
function isOfSystem(error: unknown): error is Error {
  return error instanceof Error && "syscall" in error;
}

interface CarriedOut {
  readonly plan: Plan;
  /** Of the file after pruning. */
  readonly text?: string;
  readonly failure?: HousekeepingReport["failed"][number];
}

async function carryOut(folder: TeamFolder, plan: Plan): Promise<CarriedOut> {
  try {
    const { text } = await folder.edit(plan.path, plan.edit);
    return { plan, text };
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    const { message, hint } = error;
    return { plan, failure: { file: plan.path, message, hint } };
  }
}

/** Without tasks that were edited meanwhile, which are still there. */
function removedBy({ plan, text }: CarriedOut): HousekeepingReport["removed"] {
  if (text === undefined) return [];
  const left = readTasks(text).tasks;
  return plan.removed
    .filter((task) => !left.some((other) => isSame(task, other)))
    .map(({ title, completed }) => ({ slug: plan.slug, title, completed }));
}

function isSame(a: Task, b: Task): boolean {
  return a.title === b.title && a.started === b.started && a.completed === b.completed;
}

export function formatHousekeeping(done: HousekeepingReport): string {
  const { removed, trimmed, committed, uncommitted, isPostponed, failed } = done;
  if (isPostponed) return `Nothing was pruned: ${uncommitted ?? "git refused"}.`;
  const failures = failed.map(({ file, message }) => ` Skipped ${file}: ${message}.`).join("");
  if (removed.length + trimmed.length === 0) return `Nothing to prune.${failures}`;
  const what = [
    ...(removed.length === 0 ? [] : [`${count(removed.length, "old task")} removed`]),
    ...(trimmed.length === 0 ? [] : [`${count(trimmed.length, "session log")} trimmed`]),
  ].join(", ");
  const reason = uncommitted === undefined ? "" : ` (not committed: ${uncommitted})`;
  return `${what}${committed === undefined ? reason : ` (commit ${committed.slice(0, 8)})`}.${failures}`;
}
