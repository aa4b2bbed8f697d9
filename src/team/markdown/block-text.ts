/**
 * Texts as they can stand in a task. What somebody writes into one must never become a task of its own, end a
 * section, hide what comes below it, or pass for a tick.
 */
import { CortexError } from "../../model/errors.ts";
import { type TextLine, type Outline, outlineOf } from "./outline.ts";
import { metadataAt } from "./task-blocks.ts";

export const MAX_TITLE_LENGTH = 200;
export const MAX_BODY_LENGTH = 100_000;
export const MAX_SUMMARY_LENGTH = 20_000;
/** Of a line of progress. */
export const MAX_LINE_LENGTH = 1_000;

/** Sections that mean something to us. */
const RESERVED = new Set(["Summary", "Progress"]);

/** The body of a new task, as lines. Throws `request_invalid` where it is too long. */
export function bodyLines(body: string, file: Outline): string[] {
  if (body.length > MAX_BODY_LENGTH)
    throw invalid(`A body of ${body.length} characters is too long`, `At most ${MAX_BODY_LENGTH} are taken.`);
  const lines = blockLines(inert(withoutControls(body), file), 3);
  for (const [at, line] of lines.entries()) {
    const isMetadata = metadataAt(line, wholeLine(line)) !== undefined;
    if (isMetadata) lines[at] = line.replace("**", "\\*\\*");
    else if (line.trim() !== "" && !line.trimStart().startsWith("**")) break;
  }
  return lines;
}

/** The summary of a task that is done, as lines. What is too long is cut. */
export function summaryLines(summary: string, file: Outline): string[] {
  const text = cut(withoutControls(summary).trim(), MAX_SUMMARY_LENGTH);
  const lines = blockLines(inert(text, file), 4);
  return lines.length === 0 ? ["(no summary)"] : lines;
}

/** All in one line. What is too long is cut. */
export function oneLine(text: string): string {
  const line = withoutControls(text).replaceAll(/\s+/g, " ").trim();
  return cut(line, MAX_LINE_LENGTH).replaceAll("<!--", "&lt;!--").replaceAll("-->", "--&gt;");
}

/** A title, or a value of metadata, which must be a line as it is. Throws `request_invalid`. */
export function checkedLine(what: string, text: string): string {
  const line = text.trim();
  const shown = JSON.stringify(line.slice(0, MAX_TITLE_LENGTH));
  if (line === "") throw invalid(`The ${what} is empty`, `Give the task a ${what}.`);
  if (line.length > MAX_TITLE_LENGTH)
    throw invalid(
      `The ${what} ${shown}… has ${line.length} characters`,
      `At most ${MAX_TITLE_LENGTH} are taken: put the rest into the body.`,
    );
  if (/[\p{Cc}\u2028\u2029]/u.test(line) || !line.isWellFormed() || line.includes("<!--"))
    throw invalid(`The ${what} ${shown} is not one line of text`, "Put everything else into the body.");
  return line;
}

/**
 * Where the file has something open, a text that has such a thing too would close it, and hide all between. Controls
 * are out by then: without the one in it, `--\0>` would be such a thing.
 */
function inert(text: string, { unclosed }: Outline): string {
  if (unclosed.length === 0) return text;
  const withoutComments = text.replaceAll("<!--", "&lt;!--").replaceAll("-->", "--&gt;");
  return withoutComments.replaceAll(/^ {0,3}(?=```|~~~)/gm, "    ");
}

/** The lines, without empty ones at both ends; headings have at least the given level. */
function blockLines(text: string, level: number): string[] {
  const clean = text
    .replaceAll(/\r\n?/g, "\n")
    .replace(/^(?:[ \t]*\n)+/, "")
    .trimEnd();
  if (clean === "") return [];
  const outline = outlineOf(clean);
  const lines = clean.split("\n");
  const open = outline.unclosed.find(({ start }) => !isComment(clean, start));
  const isFree = ({ line }: TextLine): boolean => open === undefined || line < open.line;
  for (const heading of outline.headings.filter(isFree)) {
    const least = RESERVED.has(heading.title) ? 4 : level;
    if (heading.level < least) lines[heading.line - 1] = `${"#".repeat(least)} ${heading.title}`;
  }
  neutralise(lines, outline, isFree);
  if (open !== undefined) lines.push(/^ *(`+|~+)/.exec(lines[open.line - 1]!)![1]!);
  return lines;
}

/** Comments of ticks, and comments that are never closed. */
function neutralise(
  lines: string[],
  { ticks, unclosed }: Outline,
  isFree: (line: TextLine) => boolean,
): void {
  for (const { line } of [...ticks, ...unclosed].filter(isFree))
    lines[line - 1] = lines[line - 1]!.replaceAll("<!--", "&lt;!--");
}

function isComment(text: string, start: number): boolean {
  return text
    .slice(start, start + 7)
    .trimStart()
    .startsWith("<");
}

function wholeLine(text: string): TextLine {
  return { start: 0, end: text.length, next: text.length, line: 1 };
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).trimEnd()}…`.toWellFormed();
}

/** TextLine breaks and tabs stay. What terminals are told by is no text, and a NUL makes git take a file for a binary. */
function withoutControls(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.toWellFormed().replaceAll(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g, "");
}

function invalid(message: string, hint: string): CortexError {
  return new CortexError("request_invalid", message, { hint });
}
