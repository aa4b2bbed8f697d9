/**
 * Our section of a text file, between two comments; the rest of the file is not ours.
 *
 * Removing a section restores the file byte for byte. An appended section comes after one extra line end, which is removed
 * with it. Only a file that we created starts with the section, and that file is removed.
 */
import assert from "node:assert/strict";

export const SECTION_BEGIN = "<!-- cortex:begin -->";
export const SECTION_END = "<!-- cortex:end -->";

interface Section {
  readonly start: number;
  /** After the line end of its last line. */
  readonly end: number;
  readonly content: string;
  readonly lineEnd: string;
}

type FoundSection =
  | ({ readonly kind: "found" } & Section)
  | { readonly kind: "none" }
  /** An unpaired comment, or several pairs: which part is ours is unclear. */
  | { readonly kind: "broken"; readonly line: number };

export function findMarkedSection(text: string): FoundSection {
  const begins = linesWith(text, SECTION_BEGIN);
  const ends = linesWith(text, SECTION_END);
  const [begin] = begins;
  const [end] = ends;
  const odd = begins[1] ?? begin ?? end;
  if (odd === undefined) return { kind: "none" };
  if (begin === undefined || end === undefined || begins.length + ends.length > 2 || end.start < begin.start)
    return { kind: "broken", line: lineAt(text, odd.start) };
  const content = text.slice(begin.end, end.start).replaceAll("\r\n", "\n");
  return { kind: "found", start: begin.start, end: end.end, content, lineEnd: begin.lineEnd };
}

/** The file with the section added or replaced. `text` is undefined if there is no file. */
export function putSection(text: string | undefined, content: string): string {
  if (text === undefined) return format(content, "\n");
  const found = findMarkedSection(text);
  assert(found.kind !== "broken", "a section is put only where it can be found");
  if (found.kind === "found") {
    const { start, end, lineEnd } = found;
    return text.slice(0, start) + format(content, lineEnd) + text.slice(end);
  }
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  return text + lineEnd + format(content, lineEnd);
}

/** The file without the section. Undefined: the file was ours and has nothing else in it. */
export function takeSection(text: string, { start, end, lineEnd }: Section): string | undefined {
  const before = text.slice(0, start);
  const isAppended = before.endsWith(lineEnd);
  const rest = (isAppended ? before.slice(0, -lineEnd.length) : before) + text.slice(end);
  return rest === "" && !isAppended ? undefined : rest;
}

function format(content: string, lineEnd: string): string {
  const text = `${SECTION_BEGIN}\n${content.trim()}\n${SECTION_END}\n`;
  return text.replaceAll("\n", lineEnd);
}

interface Line {
  readonly start: number;
  readonly end: number;
  readonly lineEnd: string;
}

function linesWith(text: string, comment: string): Line[] {
  const lines = text.matchAll(new RegExp(`^${comment}[ \\t]*(\\r?\\n|$)`, "gm"));
  return Array.from(lines, ({ index, 0: line, 1: lineEnd }) => ({
    start: index,
    end: index + line.length,
    lineEnd: lineEnd || "\n",
  }));
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
