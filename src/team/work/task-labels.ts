/**
 * The labels of tasks that agents dispatched: by the gist of the task, from before the task is in the file until it is done.
 *
 * A person may rewrite a task that an agent dispatched. The result keeps the label as long as it has the title or a line of
 * what the agent wrote.
 */
import { hash } from "node:crypto";

import type { Json } from "../../model/json.ts";
import { OWNER_PRINCIPAL, type Principal } from "../../model/principal.ts";
import {
  isWithin,
  joinLabels,
  type Label,
  labelJson,
  NO_LABEL,
  OWNERS,
  parseTrust,
} from "../../model/trust.ts";
import { type MemberState, readMemberState, type TaskLabel } from "./member-state.ts";
import type { Task } from "../markdown/task.ts";
import { gistOf } from "../markdown/task-gist.ts";
import type { Workplace } from "./workplace.ts";

/** Whose words a task is made of, and on whose authority it is done. */
export interface TaskWords {
  readonly label: Label;
  readonly principal: Principal;
  /** The narrowing of its author. Undefined: it is the owner's. */
  readonly permissions: Json | undefined;
}

const OWN_WORDS: TaskWords = { label: NO_LABEL, principal: OWNER_PRINCIPAL, permissions: undefined };

/** For one member. More are counted as one, which every task of the member has. */
const MAX_TASK_LABELS = 200;
const ANY = "*";
/** Longer texts count as rewritten wherever the title or nothing at all is left of them. */
const MAX_LINES = 200;
/** A shorter line is in many texts by chance. */
const MIN_LINE_LENGTH = 12;

type Request = Pick<Task, "title" | "body" | "template" | "external">;

function isLabelled({ label, principal, permissions }: TaskWords): boolean {
  return !isWithin(label, OWNERS) || principal !== OWNER_PRINCIPAL || permissions !== undefined;
}

/** Adds what a task holds from now on. */
export function withTaskLabel(state: MemberState, task: Request, words: TaskWords): MemberState {
  if (!isLabelled(words)) return state;
  const gist = gistOf(task);
  const { labels = [] } = state;
  const all = joinWords([...labels.filter((each) => each.gist === gist).map(toWords), words]);
  const others = labels.filter((each) => each.gist !== gist);
  return { ...state, labels: bounded([...others, { gist, lines: linesOf(task), ...toKept(all) }]) };
}

/** Of several tasks with the same gist, all are of the same words. */
export function withoutTaskLabel(state: MemberState, tasks: readonly Task[], done: string): MemberState {
  const { labels } = state;
  if (labels === undefined || tasks.some((task) => task.status !== "done" && gistOf(task) === done))
    return state;
  return { ...state, labels: labels.filter(({ gist }) => gist !== done) };
}

/** Also by what is known of other members: people move tasks between files, and rename members. */
export async function wordsOfTask(
  task: Task,
  { labels = [] }: MemberState,
  { store, team: { root } }: Pick<Workplace, "store" | "team">,
): Promise<TaskWords> {
  const gist = gistOf(task);
  const lines = new Set(linesOf(task));
  const members = await store.team.list(root);
  const known = members.flatMap(({ state }) => readMemberState(state).labels ?? []);
  const found = [...labels, ...known].filter(
    (each) => each.gist === gist || each.lines.some((line) => lines.has(line)),
  );
  return joinWords([...labels.filter((each) => each.gist === ANY), ...found].map(toWords));
}

/** On the authority of the first who is not the owner; narrowed as the first narrowing says. */
export function joinWords(words: readonly TaskWords[]): TaskWords {
  const others = words.filter(({ principal }) => principal !== OWNER_PRINCIPAL);
  const narrowed = [...others, ...words].find(({ permissions }) => permissions !== undefined);
  return {
    label: joinLabels(OWN_WORDS.label, ...words.map(({ label }) => label)),
    principal: others[0]?.principal ?? OWN_WORDS.principal,
    permissions: narrowed?.permissions,
  };
}

function linesOf({ title, body }: Pick<Request, "title" | "body">): string[] {
  const lines = body.split(/\r\n?|\n/).map((line) => line.trim());
  const long = lines.filter((line) => line.length >= MIN_LINE_LENGTH).slice(0, MAX_LINES);
  return [...new Set([title.trim(), ...long])].map((line) => hash("sha256", line).slice(0, 12));
}

function bounded(labels: readonly TaskLabel[]): readonly TaskLabel[] {
  if (labels.length <= MAX_TASK_LABELS) return labels;
  const older = labels.slice(0, labels.length - MAX_TASK_LABELS + 1);
  const rest = { gist: ANY, lines: [], ...toKept(joinWords(older.map(toWords))) };
  return [rest, ...labels.slice(older.length)];
}

function toWords({ label, principal, permissions }: TaskLabel): TaskWords {
  const { outward: _, ...sets } = parseTrust(label);
  return { label: sets, principal: principal as Principal, permissions };
}

function toKept({ label, principal, permissions }: TaskWords): Omit<TaskLabel, "gist" | "lines"> {
  return { label: labelJson(label), principal, ...(permissions === undefined ? {} : { permissions }) };
}
