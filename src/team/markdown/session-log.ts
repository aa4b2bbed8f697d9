/**
 * `## Session Log` of a note. An entry begins with `Last session:`, or with a date as other agents write it: in a
 * heading, or as an item of a list.
 */
import type { NoteSection } from "./note-sections.ts";
import { textLines } from "./outline.ts";

export interface LogEntry {
  /** A date, or a stamp. Undefined: `--`, which is how a member begins. */
  readonly last: string | undefined;
  readonly status: string | undefined;
  /** Offsets of the text. */
  readonly start: number;
  readonly end: number;
}

const ENTRY =
  /^(?:#{3,6}[ \t]+|[-*+][ \t]+)?(?:\*\*)?(Last session:(?:\*\*)?[ \t]*)?(\d{4}-\d\d-\d\d(?:T\d\d:\d\d)?)?/;
const STATUS = /^(?:[-*+][ \t]+)?(?:\*\*)?Status:(?:\*\*)?[ \t]*/;

export function logEntries(text: string, section: NoteSection | undefined): LogEntry[] {
  const entries: { last: string | undefined; status: string | undefined; start: number; end: number }[] = [];
  if (section === undefined) return entries;
  for (const { start, end } of textLines(text, section.start, section.end)) {
    const line = text.slice(start, end);
    const [, label, last] = ENTRY.exec(line) ?? [];
    const current = entries.at(-1);
    if (label !== undefined || last !== undefined) {
      if (current !== undefined) current.end = start;
      entries.push({ last, status: undefined, start, end: section.end });
    } else if (current !== undefined && current.status === undefined) {
      const found = STATUS.exec(line);
      if (found !== null) current.status = line.slice(found[0].length).trim();
    }
  }
  return entries;
}

/** The one with the latest date. Of two it is the upper one, unless the log goes on downwards. */
export function latestOf(entries: readonly LogEntry[]): LogEntry | undefined {
  const first = entries[0]?.last ?? "";
  const isDownwards = first < (entries.at(-1)?.last ?? "");
  let latest = entries[0];
  for (const entry of entries) {
    const [last, best] = [entry.last ?? "", latest?.last ?? ""];
    if (last > best || (isDownwards && last === best)) latest = entry;
  }
  return latest;
}
