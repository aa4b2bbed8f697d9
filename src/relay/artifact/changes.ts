/** Changed files as texts for a prompt: their names, or their names with what changed. */
import { count } from "../../model/count.ts";
import type { FileChange } from "./file-changes.ts";

/** More files than these are counted. */
export const MAX_SHOWN_FILES = 200;
/** Of a longer diff the beginning is shown. */
export const MAX_DIFF_CHARACTERS = 20_000;
/** All diffs together. The files after that are named. */
export const MAX_DIFFS_CHARACTERS = 200_000;

/** `- path`, a line for each. Empty where nothing changed. */
export function renderFiles(changes: readonly Pick<FileChange, "path">[]): string {
  const paths = [...new Set(changes.map(({ path }) => path))];
  const lines = paths.slice(0, MAX_SHOWN_FILES).map((path) => `- ${oneLine(path)}`);
  if (paths.length > MAX_SHOWN_FILES) lines.push(`- and ${paths.length - MAX_SHOWN_FILES} more`);
  return lines.join("\n");
}

/** A heading for each file and what changed in it, with blank lines between them. Empty where nothing changed. */
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
    shown.kind === "diff" ? "" : "_(the edits by themselves: they do not fit what is known of the file)_\n";
  return `${heading}\n${note}${fenced(cut(text))}`;
}

/** At the end of a line, with a count of what is left out. */
function cut(text: string): string {
  const whole = text.replace(/\n$/, "");
  if (whole.length <= MAX_DIFF_CHARACTERS) return whole;
  const end = whole.lastIndexOf("\n", MAX_DIFF_CHARACTERS);
  const kept = end === -1 ? whole.slice(0, MAX_DIFF_CHARACTERS).toWellFormed() : whole.slice(0, end);
  const left = whole.slice(kept.length).split("\n").length - 1;
  return `${kept}\n… ${count(left, "more line")}`;
}

/** With a fence that is longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`{3,}/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}diff\n${text}\n${fence}`;
}

/** A name may hold anything but NUL, also what would look like a line of the prompt. */
function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "\uFFFD");
}
