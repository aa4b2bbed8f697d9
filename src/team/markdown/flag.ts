/**
 * A worker flags a task that it cannot do: the task stays in progress, and its last line of progress gives the reason. The
 * line is in the task, because housekeeping keeps only the latest entry of the session log.
 */
import type { Task } from "./task.ts";

interface Flag {
  /** As written. */
  readonly stamp: string;
  readonly reason: string;
}

const WORD = "flagged: ";

/** The line of progress, for an edit of the kind `note`. */
export function flagText(reason: string): string {
  return WORD + oneLine(reason);
}

/** The status for the session log. */
export function flagStatus(title: string, reason: string): string {
  return `blocked — ${oneLine(title)}: ${oneLine(reason)}`;
}

/** Undefined: not flagged, or work on the task has continued since. */
export function flagOf({ status, text }: Task): Flag | undefined {
  if (status !== "in-progress") return undefined;
  const [, stamp, note] = LAST_PROGRESS.exec(lastProgressLine(text) ?? "") ?? [];
  if (stamp === undefined || note === undefined || !note.startsWith(WORD)) return undefined;
  return { stamp, reason: note.slice(WORD.length).trim() };
}

/** What blocks a member, according to the latest status of its session log. */
export function blockerOf(status: string | undefined): string | undefined {
  const [, blocker] = BLOCKED.exec(status?.trim() ?? "") ?? [];
  if (blocker === "") return status;
  return blocker === undefined || NOTHING.test(blocker) ? undefined : blocker.trim();
}

const LAST_PROGRESS = /^- (\S+) (.*)$/;
/**
 * As agents write it: `blocked — no access to the mailbox`, `Blocked: …`, `active, blocked on …`. Later in the line the word
 * may be part of a task's title.
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
