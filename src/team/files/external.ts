/**
 * A task can mirror a task file of another runner, such as Shuttle's `.shuttle.md` or a list of checkboxes: that runner does
 * the work, and Cortex only reports its progress. The file is never written.
 */
import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

import { expandPath } from "../../config/team-config.ts";
import { codeOf, hasCode } from "../../model/error-code.ts";
import { excessOf, MAX_TEAM_FILE_BYTES, tooManyBytes } from "./file-state.ts";
import { textLines, startOf } from "../markdown/outline.ts";

import { blocksOf } from "../markdown/task-blocks.ts";

type External =
  | {
      readonly kind: "read";
      readonly path: string;
      readonly done: number;
      readonly total: number;
      /** How many items have each other state: `blocked`, `open`. */
      readonly others: ReadonlyMap<string, number>;
      /** There are items, and all of them are done or dropped. */
      readonly isComplete: boolean;
    }
  | { readonly kind: "missing"; readonly path: string }
  | { readonly kind: "unreadable"; readonly path: string; readonly why: string };

interface ExternalLocation {
  /** As written in the task. */
  readonly path: string;
  /** Where the member works. May begin with `~`. */
  readonly project: string | undefined;
  readonly home: string;
}

/** A program that writes in place truncates the file for an instant, and it then looks complete. */
const SETTLE_MS = 50;

/** `1 of 3 done, 1 blocked`; open items and items in progress are left out. */
export function progressOf({ done, total, others }: Extract<External, { kind: "read" }>): string {
  const odd = [...others].filter(([state]) => !OPEN_STATES.has(state));
  return [`${done} of ${total} done`, ...odd.map(([state, count]) => `${count} ${state}`)].join(", ");
}

/** Why the file gives no progress. Undefined: it does. */
export function whyUseless(external: External): string | undefined {
  const { path } = external;
  if (external.kind === "missing") return `${path} is missing`;
  if (external.kind === "unreadable") return `cannot read ${path}: ${external.why}`;
  return external.total > 0 ? undefined : `${path} has no tasks or checkboxes`;
}

export async function readExternal(place: ExternalLocation): Promise<External> {
  const first = lookAtExternal(place);
  if (first.kind !== "read" || !first.isComplete) return first;
  await setTimeout(SETTLE_MS);
  const second = lookAtExternal(place);
  if (second.kind !== "read") return second;
  return { ...second, isComplete: second.isComplete && second.total === first.total };
}

/** The file as it is at this moment, perhaps half-written. */
export function lookAtExternal(place: ExternalLocation): External {
  const path = resolvePath(place);
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return { kind: "unreadable", path, why: "not a file" };
    if (stats.size > MAX_TEAM_FILE_BYTES)
      return { kind: "unreadable", path, why: `it has ${tooManyBytes(stats.size)}` };
    const bytes = readFileSync(path);
    if (!isUtf8(bytes)) return { kind: "unreadable", path, why: "not UTF-8" };
    const excess = excessOf(bytes);
    if (excess !== undefined) return { kind: "unreadable", path, why: `it has ${excess}` };
    return count(path, statesIn(bytes.toString("utf8")));
  } catch (cause) {
    if (hasCode(cause, "ENOENT", "ENOTDIR")) return { kind: "missing", path };
    return { kind: "unreadable", path, why: codeOf(cause) ?? String(cause) };
  }
}

/** Relative paths start at the member's project. */
function resolvePath({ path, project, home }: ExternalLocation): string {
  return expandPath(path, { user: home, from: expandPath(project ?? home, { user: home, from: home }) });
}

const OPEN_STATES: ReadonlySet<string> = new Set(["ready", "in-progress", "open"]);
/** Items in these states will not be done any more. */
const DROPPED_STATES: ReadonlySet<string> = new Set([
  "cancelled",
  "canceled",
  "dropped",
  "skipped",
  "obsolete",
  "wontfix",
]);
/** Of a state that another program wrote. */
const MAX_STATE_LENGTH = 30;

function count(path: string, states: readonly string[]): External {
  const others = new Map<string, number>();
  for (const state of states) if (state !== "done") others.set(state, (others.get(state) ?? 0) + 1);
  const done = states.filter((state) => state === "done").length;
  const isComplete = states.length > 0 && [...others.keys()].every((state) => DROPPED_STATES.has(state));
  return { kind: "read", path, done, total: states.length, others, isComplete };
}

/** The state of each task, and of each checkbox outside tasks: a checkbox inside a task is part of it. */
function statesIn(text: string): string[] {
  const { tasks } = blocksOf(text);
  const states = tasks.map(({ status }) => stateOf(status.value));
  let at = 0; // both are in the order of the text
  for (const { start, mark } of checkboxesIn(text)) {
    let task = tasks[at];
    while (task !== undefined && task.end <= start) task = tasks[++at];
    if (task === undefined || task.heading.start > start) states.push(stateOfMark(mark));
  }
  return states;
}

function stateOf(status: string): string {
  const word = status.trim().toLowerCase().slice(0, MAX_STATE_LENGTH).toWellFormed();
  return word === "" ? "without a status" : word;
}

/** `- [ ]`, `* [x]`, `1. [X]`; `[-]` is cancelled, as in Obsidian. Items with other marks are open. */
const CHECKBOX = /^\s*(?:[-*+]|\d{1,9}[.)])[ \t]+\[([^\]])\](?:\s|$)/u;
const FENCE = /^ {0,3}(```|~~~)/;

function stateOfMark(mark: string): string {
  if (mark === "x" || mark === "X") return "done";
  return mark === "-" ? "cancelled" : mark === "!" ? "blocked" : "open";
}

/** Checkboxes in code blocks are examples. */
function checkboxesIn(text: string): { readonly start: number; readonly mark: string }[] {
  const found: { start: number; mark: string }[] = [];
  let fence: string | undefined;
  for (const { start, end } of textLines(text, startOf(text), text.length)) {
    const line = text.slice(start, end);
    const [, sign] = FENCE.exec(line) ?? [];
    if (sign !== undefined && (fence === undefined || fence === sign))
      fence = fence === undefined ? sign : undefined;
    const mark = fence === undefined ? CHECKBOX.exec(line)?.[1] : undefined;
    if (mark !== undefined) found.push({ start, mark });
  }
  return found;
}
