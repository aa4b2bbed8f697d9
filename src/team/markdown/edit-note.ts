/** Edits of the note of a member, each the smallest change that does it. */
import { CortexError } from "../../model/errors.ts";
import { oneLine } from "./block-text.ts";
import type { NoteEdit } from "./edit.ts";
import { fieldAt, type Frontmatter, plainValue, readFrontmatter } from "./frontmatter.ts";
import { findSection, type NoteSection, sectionsOf } from "./note-sections.ts";
import { type TextLine, lineAt, textLines, startOf } from "./outline.ts";
import { latestOf, logEntries } from "./session-log.ts";
import { type Splice, spliced } from "./splice.ts";

const LOG = "Session Log";

/** Throws `state_conflict` where the frontmatter has no end, and so no place for a field. */
export function applyNoteEdit(text: string, edit: NoteEdit): string {
  return isNoteEditDone(text, edit) ? text : spliced(text, splicesOf(text, edit));
}

export function isNoteEditDone(text: string, edit: NoteEdit): boolean {
  switch (edit.kind) {
    case "field":
      return readFrontmatter(text).fields.get(edit.name) === edit.value;
    case "session":
      return entriesOf(text).some(
        ({ last, status }) => last === edit.date && status === oneLine(edit.status),
      );
    case "trim-log":
      return entriesOf(text).length <= 1;
  }
}

function splicesOf(text: string, edit: NoteEdit): Splice[] {
  switch (edit.kind) {
    case "field":
      return setField(text, readFrontmatter(text), edit.name, edit.value);
    case "session":
      return addEntry(text, edit.date, oneLine(edit.status));
    case "trim-log": {
      const entries = entriesOf(text);
      const latest = latestOf(entries);
      return entries.flatMap((entry) =>
        entry === latest ? [] : [{ from: entry.start, to: entry.end, text: "" }],
      );
    }
  }
}

function entriesOf(text: string): ReturnType<typeof logEntries> {
  return logEntries(text, logOf(text));
}

function logOf(text: string): NoteSection | undefined {
  return findSection(sectionsOf(text, readFrontmatter(text).bodyStart), LOG);
}

function addEntry(text: string, date: string, status: string): Splice[] {
  const section = logOf(text);
  const entry = [`Last session: ${date}`, `Status: ${status}`];
  if (section === undefined) {
    const isApart = text.length === startOf(text) || /\n[ \t]*\r?\n$/.test(text.slice(-200));
    return [{ from: text.length, lines: [...(isApart ? [] : [""]), `## ${LOG}`, ...entry] }];
  }
  // An empty line below the heading stays where it is, and one sets the entries apart.
  let from = section.start;
  for (const line of textLines(text, section.start, section.end)) {
    if (text.slice(line.start, line.end).trim() !== "") return [{ from, lines: [...entry, ""] }];
    from = line.next;
  }
  return [{ from: section.start, lines: entry }];
}

function setField(text: string, frontmatter: Frontmatter, name: string, value: string): Splice[] {
  const { lines, problems } = frontmatter;
  // An empty one is quoted: without, a list further below would become the value.
  const isPlain = value !== "" && plainValue(value) === value && value.trim() === value;
  const written = `${name}: ${isPlain ? value : JSON.stringify(value)}`;
  if (lines === undefined) {
    if (problems.length > 0) throw unclosed();
    return [{ from: startOf(text), lines: ["---", written, "---"] }];
  }
  const at = lines.findIndex(({ start, end }) => fieldAt(text.slice(start, end))?.name === name);
  if (at === -1)
    return [{ from: lines.at(-1)?.next ?? lineAt(text, startOf(text), 1).next, lines: [written] }];
  const { start, end } = lines[at]!;
  const last = lastLineOf(text, lines, at);
  const remark = last.end === end ? (REMARK.exec(text.slice(start, end))?.[1] ?? "") : "";
  return [{ from: start, to: last.end - remark.length, text: written }];
}

/** What a person says behind a value, which the next value does not change. */
const REMARK = /^[\w-]+:[ \t]+(?:[^\s"'|>#][^#]*|"[^"\\]*"|'[^']*')?(?<=\S)([ \t]+#.*)$/;

/** A value of several lines goes on as long as they are indented; empty ones at its end are no part of it. */
function lastLineOf(text: string, lines: readonly TextLine[], at: number): TextLine {
  let last = lines[at]!;
  for (const line of lines.slice(at + 1)) {
    const written = text.slice(line.start, line.end);
    if (/^(?:[ \t]+\S|-[ \t])/.test(written)) last = line;
    else if (written.trim() !== "") break;
  }
  return last;
}

function unclosed(): CortexError {
  return new CortexError("state_conflict", "The frontmatter of the note has no end", {
    hint: "Write a line --- below its last field.",
  });
}
