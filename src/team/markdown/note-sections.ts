/** The sections of a note, which are headings of the second level, and the entries of its `## Session Log`. */
import { textLines, outlineOf } from "./outline.ts";

export interface NoteSection {
  readonly title: string;
  /** Of its heading, from 1. */
  readonly line: number;
  /** Offsets in the text: below the heading, and at the next one. */
  readonly start: number;
  readonly end: number;
  /** Without blank lines at either end. */
  readonly text: string;
}

/** Starts below the frontmatter, where comments look like headings. */
export function sectionsOf(text: string, bodyStart: number): NoteSection[] {
  const headings = outlineOf(text).headings.filter(({ level, start }) => level <= 2 && start >= bodyStart);
  return headings.flatMap(({ level, title, line, next }, at) => {
    if (level !== 2) return [];
    const end = headings[at + 1]?.start ?? text.length;
    return [{ title, line, start: next, end, text: text.slice(next, end).trim() }];
  });
}

export function findSection(sections: readonly NoteSection[], title: string): NoteSection | undefined {
  return sections.find((section) => section.title.toLowerCase() === title.toLowerCase());
}

/** The items of a list, or the lines if there is no list. */
export function itemsOf(section: NoteSection | undefined): string[] {
  if (section === undefined) return [];
  const { text } = section;
  const lines = Array.from(textLines(text, 0, text.length), ({ start, end }) =>
    text.slice(start, end).trim(),
  );
  const items = lines.flatMap((line) => /^(?:[-*+]|\d{1,9}[.)])(?:\s+(.*))?$/s.exec(line)?.[1] ?? []);
  return (items.length > 0 ? items : lines).filter((item) => item !== "");
}

interface LogEntry {
  /** A date or a stamp. Undefined: `--`, as in the note of a new member. */
  readonly last: string | undefined;
  readonly status: string | undefined;
  /** Offsets in the text. */
  readonly start: number;
  readonly end: number;
}

/** `Last session:`, or a date in a heading or a list item, as other agents write it. */
const ENTRY =
  /^(?:#{3,6}[ \t]+|[-*+][ \t]+)?(?:\*\*)?(Last session:(?:\*\*)?[ \t]*)?(\d{4}-\d\d-\d\d(?:T\d\d:\d\d)?)?/;
const STATUS = /^(?:[-*+][ \t]+)?(?:\*\*)?Status:(?:\*\*)?[ \t]*/;

export function logEntries(text: string, section: NoteSection | undefined): LogEntry[] {
  const entries: { -readonly [Key in keyof LogEntry]: LogEntry[Key] }[] = [];
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

/** The entry with the latest date; among equals the topmost, unless the log is written downwards. */
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
