/**
 * A task that its worker cannot do stays in progress, and its last line of progress says so. The line is in the task
 * and not only in the session log, of which housekeeping keeps no more than the latest entry.
 */
import type { Task } from "./task.ts";

export interface Flag {
  /** Of the line, as written. */
  readonly stamp: string;
  readonly reason: string;
}

const WORD = "flagged: ";

/** The text of the line of progress (an edit of the kind `note`). */
export function flagText(reason: string): string {
  return WORD + oneLine(reason);
}

/** The status of the session log. */
export function flagStatus(title: string, reason: string): string {
  return `blocked — ${oneLine(title)}: ${oneLine(reason)}`;
}

/** Undefined: it is not flagged, or somebody has gone on with it since. */
export function flagOf({ status, text }: Task): Flag | undefined {
  if (status !== "in-progress") return undefined;
  const [, stamp, said] = LAST_PROGRESS.exec(lastProgressLine(text) ?? "") ?? [];
  if (stamp === undefined || said === undefined || !said.startsWith(WORD)) return undefined;
  return { stamp, reason: said.slice(WORD.length).trim() };
}

/** What is in the way of a member, where the latest status of its session log says that something is. */
export function blockerOf(status: string | undefined): string | undefined {
  const [, blocker] = BLOCKED.exec(status?.trim() ?? "") ?? [];
  if (blocker === "") return status;
  return blocker === undefined || NOTHING.test(blocker) ? undefined : blocker.trim();
}

const LAST_PROGRESS = /^- (\S+) (.*)$/;
/**
 * As agents write it: `blocked — no access to the mailbox`, `Blocked: …`, `active, blocked on …`. Further on in the line
 * the word may belong to the title of a task.
 */
const BLOCKED = /^(?:active[,;] (?:but )?)?(?:blocked|flagged|stuck)\b(?: by| on)?[\s:—–-]*(.*)$/is;
/** `Blocked: no`. */
const NOTHING = /^(?:no|none|nothing|n\/a)?[.\s-]*$/i;

function lastProgressLine(text: string): string | undefined {
  const lines = text.split(/\r?\n/);
  const start = lines.findLastIndex((line) => line.trimEnd() === "### Progress");
  if (start === -1) return undefined;
  const length = lines.slice(start + 1).findIndex((line) => /^#{1,3} /.test(line));
  const section = lines.slice(start + 1, length === -1 ? undefined : start + 1 + length);
  return section.findLast((line) => line.startsWith("- "))?.trimEnd();
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
