/** Changed files as text for a prompt: their names, with or without diffs. */
import { count } from "../../model/count.ts";
import type { FileChange } from "./file-changes.ts";

/** Files beyond this number are only counted. */
export const MAX_SHOWN_FILES = 200;
/** A longer diff is cut. */
export const MAX_DIFF_CHARACTERS = 20_000;
/** For all diffs together. Files beyond it are listed without a diff. */
export const MAX_DIFFS_CHARACTERS = 200_000;

/** One line `- path` per file. Empty if nothing changed. */
export function renderFiles(changes: readonly Pick<FileChange, "path">[]): string {
  const paths = [...new Set(changes.map(({ path }) => path))];
  const lines = paths.slice(0, MAX_SHOWN_FILES).map((path) => `- ${oneLine(path)}`);
  if (paths.length > MAX_SHOWN_FILES) lines.push(`- and ${paths.length - MAX_SHOWN_FILES} more`);
  return lines.join("\n");
}

/** A heading and a diff per file, separated by blank lines. Empty if nothing changed. */
export function renderDiffs(changes: readonly FileChange[]): string {
  const parts: string[] = [];
  let room = MAX_DIFFS_CHARACTERS;
  for (const change of changes.slice(0, MAX_SHOWN_FILES)) {
    const part = renderChange(change, room);
    room -= part.length;
    parts.push(part);
  }
  if (changes.length > MAX_SHOWN_FILES)
    parts.push(`_(and ${count(changes.length - MAX_SHOWN_FILES, "more file")})_`);
  return parts.join("\n\n");
}

function renderChange({ path, device, shown }: FileChange, room: number): string {
  const heading = `### ${oneLine(path)}${device === undefined ? "" : ` (device: ${oneLine(device)})`}`;
  if (shown.kind === "unavailable") return `${heading} [diff unavailable: ${shown.why}]`;
  const text = shown.kind === "diff" ? shown.diff : shown.hunks;
  if (text === "") return `${heading}\n_(no textual change)_`;
  if (Math.min(text.length, MAX_DIFF_CHARACTERS) > room)
    return `${heading} [diff unavailable: too many changes]`;
  const note =
    shown.kind === "diff" ? "" : "_(individual edits: they do not apply to the known content of the file)_\n";
  return `${heading}\n${note}${fenced(cut(text))}`;
}

/** Cuts at the end of a line and counts the omitted ones. */
function cut(text: string): string {
  const whole = text.replace(/\n$/, "");
  if (whole.length <= MAX_DIFF_CHARACTERS) return whole;
  const end = whole.lastIndexOf("\n", MAX_DIFF_CHARACTERS);
  const kept = end === -1 ? whole.slice(0, MAX_DIFF_CHARACTERS).toWellFormed() : whole.slice(0, end);
  const left = whole.slice(kept.length).split("\n").length - 1;
  return `${kept}\n… ${count(left, "more line")}`;
}

/** Uses a fence longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`{3,}/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}diff\n${text}\n${fence}`;
}

/** A file name can contain anything but NUL, even a line break that would forge a line of the prompt. */
function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "\uFFFD");
}
