/** The sections of a note, which begin with headings of the second level. */
import { textLines, outlineOf } from "./outline.ts";

export interface NoteSection {
  readonly title: string;
  /** Of its heading, from 1. */
  readonly line: number;
  /** Offsets of the text: below the heading, and at the next one. */
  readonly start: number;
  readonly end: number;
  /** Without empty lines at both ends. */
  readonly text: string;
}

/** Below the frontmatter, where comments look like headings. */
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

/** The items of a list, or the lines where there is no list. */
export function itemsOf(section: NoteSection | undefined): string[] {
  if (section === undefined) return [];
  const { text } = section;
  const lines = Array.from(textLines(text, 0, text.length), ({ start, end }) =>
    text.slice(start, end).trim(),
  );
  const items = lines.flatMap((line) => /^(?:[-*+]|\d{1,9}[.)])(?:\s+(.*))?$/s.exec(line)?.[1] ?? []);
  return (items.length > 0 ? items : lines).filter((item) => item !== "");
}
