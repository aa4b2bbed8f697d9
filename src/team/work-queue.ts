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
  const [, ...entries] = `\n${text.replaceAll("\r\n", "\n")}`.split(/\n###[ \t]+/);
  return entries.map((entry) => {
    const [time = "", ...lines] = entry.split("\n");
    const rest = lines.join("\n");
    return {
      time: time.trim(),
      title: valueOf(rest, "Task").replaceAll(/\s+/g, " "),
      scope: valueOf(rest, "Scope"),
      status: valueOf(rest, "Status").split("\n", 1)[0]!.trim().toLowerCase(),
    };
  });
}

/** From its name to the next one. */
function valueOf(text: string, name: string): string {
  const start = new RegExp(String.raw`^\*\*${name}:\*\*`, "m").exec(text);
  if (start === null) return "";
  const value = text.slice(start.index + start[0].length);
  return value.slice(0, /^\*\*\w+:\*\*/m.exec(value)?.index).trim();
}
