/**
 * The lines of a markdown file that mean something to a team: headings, and the comments of ticks. What stands in
 * code fences and in comments of several lines means nothing.
 *
 * A fence that nobody closes is none: by the book it would hide every task below it, and the work of a whole team
 * must not depend on three characters that somebody forgot. It is reported instead.
 */

export interface TextLine {
  /** Offsets of the text: where the line begins, where it ends without its line end, where the next one begins. */
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
  /** As written, which may be no stamp. */
  readonly stamp: string;
  /** Offsets of the comment within its line. */
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
/** Longer ones count as this long: the end of each length is looked for in vain at most once. */
const MAX_FENCE_LENGTH = 16;

/** The one that was made last: an edit looks at the same text several times, and that of ten thousand tasks is long. */
let latest: { readonly text: string; readonly outline: Outline } | undefined;

export function outlineOf(text: string): Outline {
  if (latest?.text !== text) latest = { text, outline: makeOutline(text) };
  return latest.outline;
}

function makeOutline(text: string): Outline {
  const headings: Heading[] = [];
  const ticks: TickMark[] = [];
  const unclosed: TextLine[] = [];
  /** By sign, the length from which on none is closed any more: each is looked for only once. */
  const neverClosed = new Map<number, number>();
  let opened: Opened | undefined;
  let nextTick = text.indexOf(TICK_WORD);
  let number = 1;
  let start = startOf(text);
  while (start < text.length || opened !== undefined) {
    if (start >= text.length) {
      // Nothing between was looked at: go on below what opened it, which is taken for plain text.
      unclosed.push(opened!.line);
      neverClosed.set(opened!.sign, opened!.length);
      ({ next: start, line: number } = opened!.line);
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

/** Below a byte order mark. */
export function startOf(text: string): number {
  return text.charCodeAt(0) === 0xfe_ff ? 1 : 0;
}

export function lineAt(text: string, start: number, line: number): TextLine {
  const newline = text.indexOf("\n", start);
  if (newline === -1) return { start, end: withoutReturn(text, start, text.length), next: text.length, line };
  return { start, end: withoutReturn(text, start, newline), next: newline + 1, line };
}

/** All lines of a part of the text that begins and ends with whole lines. */
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

/** What began, and what ends it: a fence of the same sign and at least the same length, or the end of a comment. */
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
  // What looks like a fence and has more backticks behind is code within a line.
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

/** A comment within one line, a tick say, ends only itself. */
function closesComment(line: string): boolean {
  const end = line.indexOf("-->");
  return end !== -1 && !line.slice(0, end).includes("<!--");
}

/** At most three spaces: more of them are code, or belong to a list. */
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
  return Array.from(text.slice(line.start, line.end).matchAll(TICK), (found) => ({
    ...line,
    prefix: found[1]!,
    stamp: found[2]!.trim(),
    from: line.start + found.index,
    to: line.start + found.index + found[0].length,
  }));
}
