/**
 * The lines of a Markdown file that matter to a team: headings and tick comments, outside code fences and multi-line
 * comments.
 *
 * An unclosed fence is plain text. By the Markdown specification it would hide every task below it, but three forgotten
 * characters must not stop a team's work. It is reported instead.
 */

export interface TextLine {
  /** Offsets in the text: start of the line, its end without the line end, start of the next line. */
  readonly start: number;
  readonly end: number;
  readonly next: number;
  /** From 1. */
  readonly line: number;
}

export interface Heading extends TextLine {
  readonly level: number;
  readonly title: string;
}

/** A comment `<!-- cortex:last-tick 2026-03-28T10:15 -->`. */
export interface TickMark extends TextLine {
  readonly prefix: string;
  /** As written; may be invalid. */
  readonly stamp: string;
  /** Offsets of the comment itself. */
  readonly from: number;
  readonly to: number;
}

export interface Outline {
  readonly headings: readonly Heading[];
  readonly ticks: readonly TickMark[];
  /** Fences and comments that are never closed. */
  readonly unclosed: readonly TextLine[];
}

const TICK_WORD = ":last-tick";
const TICK = /<!--[ \t]*([a-z][a-z0-9-]*):last-tick(?![a-z0-9-])([^<>]*?)-->/g;
const MAX_LEVEL = 6;
/** Longer fences count as this long, which bounds the searches for a closing fence. */
const MAX_FENCE_LENGTH = 16;

/** A cache of one: an edit needs the outline of the same text several times, and ten thousand tasks are long. */
let latest: { readonly text: string; readonly outline: Outline } | undefined;

export function outlineOf(text: string): Outline {
  if (latest?.text !== text) latest = { text, outline: scan(text) };
  return latest.outline;
}

function scan(text: string): Outline {
  const headings: Heading[] = [];
  const ticks: TickMark[] = [];
  const unclosed: TextLine[] = [];
  /** By character, the length from which on a fence is known to be unclosed, so that each is searched only once. */
  const neverClosed = new Map<number, number>();
  let opened: Opened | undefined;
  let nextTick = text.indexOf(TICK_WORD);
  let number = 1;
  let start = startOf(text);
  for (;;) {
    if (start >= text.length) {
      if (opened === undefined) break;
      // It is unclosed, so plain text: continue on the line below it.
      unclosed.push(opened.line);
      neverClosed.set(opened.sign, opened.length);
      ({ next: start, line: number } = opened.line);
      number++;
      opened = undefined;
      nextTick = text.indexOf(TICK_WORD, start);
      continue;
    }
    const line = lineAt(text, start, number);
    const first = text.charCodeAt(start);
    if (opened !== undefined) {
      if (closes(text, line, opened)) opened = undefined;
    } else if (first === HASH) {
      const heading = headingAt(text, line);
      if (heading !== undefined) headings.push(heading);
    } else {
      if (mayOpen(first)) opened = openedBy(text, line);
      if (opened !== undefined && opened.length >= (neverClosed.get(opened.sign) ?? Infinity)) {
        unclosed.push(line);
        opened = undefined;
      }
      if (opened === undefined && nextTick !== -1 && nextTick < line.end)
        for (const tick of ticksIn(text, line)) ticks.push(tick);
    }
    if (nextTick !== -1 && nextTick < line.next) nextTick = text.indexOf(TICK_WORD, line.next);
    start = line.next;
    number++;
  }
  return { headings, ticks, unclosed };
}

/** The offset after a byte order mark. */
export function startOf(text: string): number {
  return text.charCodeAt(0) === 0xfe_ff ? 1 : 0;
}

export function lineAt(text: string, start: number, line: number): TextLine {
  const newline = text.indexOf("\n", start);
  if (newline === -1) return { start, end: withoutReturn(text, start, text.length), next: text.length, line };
  return { start, end: withoutReturn(text, start, newline), next: newline + 1, line };
}

/** The lines of a part of the text that starts and ends at line boundaries. */
export function* textLines(text: string, from: number, to: number, line = 1): Generator<TextLine> {
  for (let start = from; start < to; line++) {
    const found = lineAt(text, start, line);
    yield found;
    start = found.next;
  }
}

export function isBlank(text: string, { start, end }: TextLine): boolean {
  for (let at = start; at < end; at++) if (!isSpace(text.charCodeAt(at))) return false;
  return true;
}

const HASH = 35;
const TAB = 9;
const SPACE = 32;
const RETURN = 13;
const BACKTICK = 96;
const TILDE = 126;
const LESS = 60;

function isSpace(code: number): boolean {
  return code === SPACE || code === TAB || code === RETURN;
}

function withoutReturn(text: string, start: number, end: number): number {
  return end > start && text.charCodeAt(end - 1) === RETURN ? end - 1 : end;
}

function headingAt(text: string, line: TextLine): Heading | undefined {
  let at = line.start;
  while (at < line.end && text.charCodeAt(at) === HASH) at++;
  const level = at - line.start;
  if (level > MAX_LEVEL || (at < line.end && !isSpace(text.charCodeAt(at)))) return undefined;
  const { start, end, next } = line;
  return { start, end, next, line: line.line, level, title: text.slice(at, end).trim() };
}

/** An open fence or comment. A fence ends at one of the same character and at least the same length. */
interface Opened {
  readonly line: TextLine;
  readonly sign: number;
  readonly length: number;
}

function mayOpen(first: number): boolean {
  return first === BACKTICK || first === TILDE || first === LESS || first === SPACE;
}

function openedBy(text: string, line: TextLine): Opened | undefined {
  const at = indented(text, line);
  const sign = text.charCodeAt(at);
  if (sign === LESS) {
    const isOpen = text.startsWith("<!--", at) && !text.slice(at + 4, line.end).includes("-->");
    return isOpen ? { line, sign, length: 0 } : undefined;
  }
  if (sign !== BACKTICK && sign !== TILDE) return undefined;
  const run = runLength(text, at, line.end);
  if (run < 3) return undefined;
  // Three backticks with more on the same line are inline code.
  if (sign === BACKTICK && text.slice(at + run, line.end).includes("`")) return undefined;
  return { line, sign, length: Math.min(run, MAX_FENCE_LENGTH) };
}

function closes(text: string, line: TextLine, { sign, length }: Opened): boolean {
  if (sign === LESS) return closesComment(text.slice(line.start, line.end));
  const at = indented(text, line);
  if (text.charCodeAt(at) !== sign) return false;
  const run = runLength(text, at, line.end);
  return run >= length && isBlank(text, { ...line, start: at + run });
}

/** A single-line comment, such as a tick, closes only itself. */
function closesComment(line: string): boolean {
  const end = line.indexOf("-->");
  return end !== -1 && !line.slice(0, end).includes("<!--");
}

/** Skips up to three spaces; more mean a code block or a list. */
function indented(text: string, { start, end }: TextLine): number {
  let at = start;
  while (at < end && at - start < 3 && text.charCodeAt(at) === SPACE) at++;
  return at;
}

function runLength(text: string, at: number, end: number): number {
  const sign = text.charCodeAt(at);
  let stop = at;
  while (stop < end && text.charCodeAt(stop) === sign) stop++;
  return stop - at;
}

function ticksIn(text: string, line: TextLine): TickMark[] {
  return Array.from(
    text.slice(line.start, line.end).matchAll(TICK),
    ({ index, 0: comment, 1: prefix = "", 2: stamp = "" }) => ({
      ...line,
      prefix,
      stamp: stamp.trim(),
      from: line.start + index,
      to: line.start + index + comment.length,
    }),
  );
}
