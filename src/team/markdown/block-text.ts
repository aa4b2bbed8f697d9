/**
 * Makes text safe to write into a task: it must never become a task of its own, end a section, hide what follows, or pass
 * for a tick.
 */
import { CortexError } from "../../model/errors.ts";
import { type TextLine, type Outline, outlineOf } from "./outline.ts";
import { MAX_BODY_LENGTH, MAX_TITLE_LENGTH } from "./task.ts";
import { metadataAt } from "./task-blocks.ts";

export const MAX_SUMMARY_LENGTH = 20_000;
/** Of a line of progress. */
export const MAX_PROGRESS_LENGTH = 1_000;

/** Sections with a meaning to Cortex. */
const RESERVED = new Set(["Summary", "Progress"]);

/** The body of a new task, as lines. Throws `request_invalid` if it is too long. */
export function bodyLines(body: string, file: Outline): string[] {
  if (body.length > MAX_BODY_LENGTH)
    throw invalid(
      `The body is too long: ${body.length} characters`,
      `The limit is ${MAX_BODY_LENGTH} characters.`,
    );
  const lines = blockLines(inert(withoutControls(body), file), 3);
  for (const [at, line] of lines.entries()) {
    const isMetadata = metadataAt(line, wholeLine(line)) !== undefined;
    if (isMetadata) lines[at] = line.replace("**", "\\*\\*");
    else if (line.trim() !== "" && !line.trimStart().startsWith("**")) break;
  }
  return lines;
}

/** The summary of a completed task, as lines; shortened if too long. */
export function summaryLines(summary: string, file: Outline): string[] {
  const text = cut(withoutControls(summary).trim(), MAX_SUMMARY_LENGTH);
  const lines = blockLines(inert(text, file), 4);
  return lines.length === 0 ? ["(no summary)"] : lines;
}

/** The text as a single line; shortened if too long. */
export function oneLine(text: string): string {
  const line = withoutControls(text).replaceAll(/\s+/g, " ").trim();
  return withoutComments(cut(line, MAX_PROGRESS_LENGTH));
}

/** Checks a title or a metadata value, which must be a single line. Throws `request_invalid`. */
export function checkedLine(what: string, text: string): string {
  const line = text.trim();
  const shown = JSON.stringify(line.slice(0, MAX_TITLE_LENGTH));
  if (line === "") throw invalid(`The ${what} is empty`, `Give the task a ${what}.`);
  if (line.length > MAX_TITLE_LENGTH)
    throw invalid(
      `The ${what} ${shown}… has ${line.length} characters`,
      `The limit is ${MAX_TITLE_LENGTH} characters; put the rest into the body.`,
    );
  if (/[\p{Cc}\u2028\u2029]/u.test(line) || !line.isWellFormed() || line.includes("<!--"))
    throw invalid(`The ${what} ${shown} is not a single line of text`, "Put everything else into the body.");
  return line;
}

/**
 * If the file has an unclosed fence or comment, a new one in the text would close it and hide everything in between. Control
 * characters must be removed first: `--\0>` would otherwise become a comment end.
 */
function inert(text: string, { unclosed }: Outline): string {
  if (unclosed.length === 0) return text;
  return withoutComments(text).replaceAll(/^ {0,3}(?=```|~~~)/gm, "    ");
}

function withoutComments(text: string): string {
  return text.replaceAll("<!--", "&lt;!--").replaceAll("-->", "--&gt;");
}

/** The lines, without blank ones at either end; headings have at least the given level. */
function blockLines(text: string, level: number): string[] {
  const clean = text
    .replaceAll(/\r\n?/g, "\n")
    .replace(/^(?:[ \t\uFEFF]*\n)*\uFEFF*/, "") // a byte order mark counts only at the start of a file
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
  // Tick comments, and comments that are never closed.
  for (const { line } of [...outline.ticks, ...outline.unclosed].filter(isFree))
    lines[line - 1] = (lines[line - 1] ?? "").replaceAll("<!--", "&lt;!--");
  const [, fence] = /^ *(`+|~+)/.exec(lines[(open?.line ?? 0) - 1] ?? "") ?? [];
  if (fence !== undefined) lines.push(fence);
  return lines;
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

/** Line breaks and tabs stay. Other controls could steer a terminal, and a NUL makes git treat the file as binary. */
function withoutControls(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.toWellFormed().replaceAll(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g, "");
}

function invalid(message: string, hint: string): CortexError {
  return new CortexError("request_invalid", message, { hint });
}
