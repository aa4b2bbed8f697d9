/**
 * A task may stand for somebody else's task file, such as Shuttle's `.shuttle.md` or a list of checkboxes: its own runner
 * does the work, and we only tell how far it is. The file is never written.
 */
import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

import { expandPath } from "../../config/team-config.ts";
import { excessOf, MAX_TEAM_FILE_BYTES } from "./file-state.ts";
import { textLines, startOf } from "../markdown/outline.ts";
import { codeOf } from "./read-cache.ts";
import { blocksOf } from "../markdown/task-blocks.ts";

export type External =
  | {
      readonly kind: "read";
      readonly path: string;
      readonly done: number;
      readonly total: number;
      /** What else its items say of themselves, and how many of each: `blocked`, `open`. */
      readonly others: ReadonlyMap<string, number>;
      /** There were items, and all of them are over. */
      readonly isComplete: boolean;
    }
  | { readonly kind: "missing"; readonly path: string }
  | { readonly kind: "unreadable"; readonly path: string; readonly why: string };

export interface ExternalLocation {
  /** As the task says it. */
  readonly path: string;
  /** Where the member works: it may begin with `~`, or be missing. */
  readonly project: string | undefined;
  readonly home: string;
}

/** Whoever writes in place has cut off the file for an instant, and then it looks complete. */
const SETTLE_MS = 50;

/** `1 of 3 done, 1 blocked`: what is open or under way goes without saying. */
export function progressOf({ done, total, others }: Extract<External, { kind: "read" }>): string {
  const odd = [...others].filter(([state]) => !OPEN_STATES.has(state));
  return [`${done} of ${total} done`, ...odd.map(([state, count]) => `${count} ${state}`)].join(", ");
}

/** Undefined: it can be read, and says something. */
export function whyUseless(external: External): string | undefined {
  const { path } = external;
  if (external.kind === "missing") return `${path} is missing`;
  if (external.kind === "unreadable") return `${path} cannot be read: ${external.why}`;
  return external.total > 0 ? undefined : `${path} has neither tasks nor checkboxes`;
}

export async function readExternal(place: ExternalLocation): Promise<External> {
  const first = lookAtExternal(place);
  if (first.kind !== "read" || !first.isComplete) return first;
  await setTimeout(SETTLE_MS);
  const second = lookAtExternal(place);
  if (second.kind !== "read") return second;
  return { ...second, isComplete: second.isComplete && second.total === first.total };
}

/** As it is at this moment, perhaps in the midst of being written. */
export function lookAtExternal(place: ExternalLocation): External {
  const path = resolvePath(place);
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return { kind: "unreadable", path, why: "it is not a file" };
    if (stats.size > MAX_TEAM_FILE_BYTES)
      return {
        kind: "unreadable",
        path,
        why: `it has ${stats.size} bytes, and at most ${MAX_TEAM_FILE_BYTES} are read`,
      };
    const bytes = readFileSync(path);
    if (!isUtf8(bytes)) return { kind: "unreadable", path, why: "it is not in UTF-8" };
    const excess = excessOf(bytes);
    if (excess !== undefined) return { kind: "unreadable", path, why: `it has ${excess}` };
    return count(path, statesIn(bytes.toString("utf8")));
  } catch (cause) {
    const code = codeOf(cause);
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "missing", path };
    return { kind: "unreadable", path, why: code };
  }
}

/** Relative paths begin in the member's project. */
function resolvePath({ path, project, home }: ExternalLocation): string {
  return expandPath(path, { user: home, from: expandPath(project ?? home, { user: home, from: home }) });
}

const OPEN_STATES: ReadonlySet<string> = new Set(["ready", "in-progress", "open"]);
/** Nobody will do these any more. */
const DROPPED_STATES: ReadonlySet<string> = new Set([
  "cancelled",
  "canceled",
  "dropped",
  "skipped",
  "obsolete",
  "wontfix",
]);
/** A word of somebody else's, as it is shown. */
const MAX_STATE_LENGTH = 30;

function count(path: string, states: readonly string[]): External {
  const others = new Map<string, number>();
  for (const state of states) if (state !== "done") others.set(state, (others.get(state) ?? 0) + 1);
  const done = states.filter((state) => state === "done").length;
  const isComplete = states.length > 0 && [...others.keys()].every((state) => DROPPED_STATES.has(state));
  return { kind: "read", path, done, total: states.length, others, isComplete };
}

/** Of each task of Shuttle's grammar, and of each checkbox outside of those: one within a task is part of it. */
function statesIn(text: string): string[] {
  const { tasks } = blocksOf(text);
  const states = tasks.map(({ status }) => stateOf(status.value));
  let at = 0; // both are in the order of the text
  for (const { start, mark } of checkboxesIn(text)) {
    while (at < tasks.length && tasks[at]!.end <= start) at++;
    const isWithin = at < tasks.length && tasks[at]!.heading.start <= start;
    if (!isWithin) states.push(stateOfMark(mark));
  }
  return states;
}

function stateOf(status: string): string {
  const word = status.trim().toLowerCase().slice(0, MAX_STATE_LENGTH).toWellFormed();
  return word === "" ? "without a status" : word;
}

/** `- [ ]`, `* [x]`, `1. [X]`; `[-]` is dropped, as Obsidian has it. Other marks are somebody's own, and not done. */
const CHECKBOX = /^\s*(?:[-*+]|\d{1,9}[.)])[ \t]+\[([^\]])\](?:\s|$)/u;
const FENCE = /^ {0,3}(```|~~~)/;

function stateOfMark(mark: string): string {
  if (mark === "x" || mark === "X") return "done";
  return mark === "-" ? "cancelled" : mark === "!" ? "blocked" : "open";
}

/** Those in code are examples. */
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
