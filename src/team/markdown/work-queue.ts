/** The tasks of before: entries below `## Work Queue` of a project note, each with its time as heading. */
import { findSection, type NoteSection } from "./note-sections.ts";

export interface QueueEntry {
  /** Its heading: a time, as written. */
  readonly time: string;
  readonly title: string;
  readonly scope: string;
  readonly status: string;
}

export function readWorkQueue(sections: readonly NoteSection[]): QueueEntry[] {
  const text = findSection(sections, "Work Queue")?.text ?? "";
  const [, ...parts] = `\n${text.replaceAll("\r\n", "\n")}`.split(/\n(?=###[ \t])/);
  return withOwnHeadings(parts).map((entry) => {
    const [time = "", ...lines] = entry.split("\n");
    const rest = lines.join("\n");
    return {
      time: time.slice(3).trim(),
      title: valueOf(rest, "Task").replaceAll(/\s+/g, " "),
      scope: valueOf(rest, "Scope"),
      status: valueOf(rest, "Status").split("\n", 1)[0]!.trim().toLowerCase(),
    };
  });
}

/** A heading that is no time, and has no task below it, belongs to what the entry above says. */
function withOwnHeadings(parts: readonly string[]): string[] {
  const entries: string[] = [];
  for (const part of parts) {
    const isEntry = /^###[ \t]+\d{4}-\d\d-\d\d/.test(part) || /^\*\*Task:\*\*/m.test(part);
    if (isEntry || entries.length === 0) entries.push(part);
    else entries.push(`${entries.pop()}\n${part}`);
  }
  return entries;
}

/** From its name to the next one. */
function valueOf(text: string, name: string): string {
  const start = new RegExp(String.raw`^\*\*${name}:\*\*`, "m").exec(text);
  if (start === null) return "";
  const value = text.slice(start.index + start[0].length);
  return value.slice(0, /^\*\*\w+:\*\*/m.exec(value)?.index).trim();
}
