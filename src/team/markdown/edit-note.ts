/** Edits of a member's note. Each changes as little text as possible. */
import { CortexError } from "../../model/errors.ts";
import { oneLine } from "./block-text.ts";
import type { NoteEdit } from "./edit.ts";
import { fieldAt, type NoteFrontmatter, plainValue, readNoteFrontmatter } from "./note-frontmatter.ts";
import { findSection, type NoteSection, sectionsOf, latestOf, logEntries } from "./note-sections.ts";
import { type TextLine, lineAt, textLines, startOf } from "./outline.ts";
import { type Splice, spliced } from "./splice.ts";

const LOG = "Session Log";

/** Throws `state_conflict` if the frontmatter is not closed, so that a field cannot be added. */
export function applyNoteEdit(text: string, edit: NoteEdit): string {
  return isNoteEditDone(text, edit) ? text : spliced(text, splicesOf(text, edit));
}

export function isNoteEditDone(text: string, edit: NoteEdit): boolean {
  switch (edit.kind) {
    case "field":
      return readNoteFrontmatter(text).fields.get(edit.name) === edit.value;
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
      return setField(text, readNoteFrontmatter(text), edit.name, edit.value);
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
  return findSection(sectionsOf(text, readNoteFrontmatter(text).bodyStart), LOG);
}

function addEntry(text: string, date: string, status: string): Splice[] {
  const section = logOf(text);
  const entry = [`Last session: ${date}`, `Status: ${status}`];
  if (section === undefined) {
    const isApart = text.length === startOf(text) || /\n[ \t]*\r?\n$/.test(text.slice(-200));
    return [{ from: text.length, lines: [...(isApart ? [] : [""]), `## ${LOG}`, ...entry] }];
  }
  // A blank line below the heading stays, and one separates the entries.
  let from = section.start;
  for (const line of textLines(text, section.start, section.end)) {
    if (text.slice(line.start, line.end).trim() !== "") return [{ from, lines: [...entry, ""] }];
    from = line.next;
  }
  return [{ from: section.start, lines: entry }];
}

function setField(text: string, frontmatter: NoteFrontmatter, name: string, value: string): Splice[] {
  const { lines, problems } = frontmatter;
  // An empty value is quoted; otherwise a list below it would become the value.
  const isPlain = value !== "" && plainValue(value) === value && value.trim() === value;
  const written = `${name}: ${isPlain ? value : JSON.stringify(value)}`;
  if (lines === undefined) {
    if (problems.length > 0) throw unclosed();
    return [{ from: startOf(text), lines: ["---", written, "---"] }];
  }
  const at = lines.findIndex(({ start, end }) => fieldAt(text.slice(start, end))?.name === name);
  const [line, ...below] = at === -1 ? [] : lines.slice(at);
  if (line === undefined)
    return [{ from: lines.at(-1)?.next ?? lineAt(text, startOf(text), 1).next, lines: [written] }];
  const { start, end } = line;
  const last = lastLineOf(text, line, below);
  const remark = last.end === end ? (REMARK.exec(text.slice(start, end))?.[1] ?? "") : "";
  return [{ from: start, to: last.end - remark.length, text: written }];
}

/** A comment after a value, which a new value does not change. */
const REMARK = /^[\w-]+:[ \t]+(?:[^\s"'|>#][^#]*|"[^"\\]*"|'[^']*')?(?<=\S)([ \t]+#.*)$/;

/** A multi-line value continues while lines are indented; blank lines at its end are not part of it. */
function lastLineOf(text: string, first: TextLine, below: readonly TextLine[]): TextLine {
  let last = first;
  for (const line of below) {
    const written = text.slice(line.start, line.end);
    if (/^(?:[ \t]+\S|-[ \t])/.test(written)) last = line;
    else if (written.trim() !== "") break;
  }
  return last;
}

function unclosed(): CortexError {
  return new CortexError("state_conflict", "The frontmatter of the note is not closed", {
    hint: "Add a line --- below its last field.",
  });
}
