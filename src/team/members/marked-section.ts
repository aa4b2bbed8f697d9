/**
 * A part of a text file that is ours, between two comments, in a file that may be somebody else's.
 *
 * What is added can be taken out again to the byte. A section that is appended comes after one line end of its own,
 * which goes with it; only a file that we have made begins with the section, and it goes altogether.
 */
export const SECTION_BEGIN = "<!-- cortex:begin -->";
export const SECTION_END = "<!-- cortex:end -->";

interface Section {
  readonly start: number;
  /** After the line end of its last line. */
  readonly end: number;
  readonly content: string;
  readonly lineEnd: string;
}

export type FoundSection =
  | ({ readonly kind: "found" } & Section)
  | { readonly kind: "none" }
  /** A comment without the other, or several: which part is ours cannot be said. */
  | { readonly kind: "broken"; readonly line: number };

export function findMarkedSection(text: string): FoundSection {
  const begins = linesWith(text, SECTION_BEGIN);
  const ends = linesWith(text, SECTION_END);
  const [begin] = begins;
  const [end] = ends;
  if (begin === undefined && end === undefined) return { kind: "none" };
  if (begin === undefined || end === undefined || begins.length + ends.length > 2 || end.start < begin.start)
    return { kind: "broken", line: lineAt(text, (begins[1] ?? begin ?? end)!.start) };
  const content = text.slice(begin.end, end.start).replaceAll("\r\n", "\n");
  return { kind: "found", start: begin.start, end: end.end, content, lineEnd: begin.lineEnd };
}

/** The file with the section, which replaces the one that is there. Undefined: there is no file. */
export function putSection(text: string | undefined, content: string): string {
  const found = findMarkedSection(text ?? "");
  if (found.kind === "broken") throw new Error("whoever puts a section has looked whether that can be done");
  if (found.kind === "found") {
    const { start, end, lineEnd } = found;
    return text!.slice(0, start) + format(content, lineEnd) + text!.slice(end);
  }
  const lineEnd = text?.includes("\r\n") === true ? "\r\n" : "\n";
  return (text === undefined ? "" : text + lineEnd) + format(content, lineEnd);
}

/** The file without the section. Undefined: nothing else is in it, and it was ours. */
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
