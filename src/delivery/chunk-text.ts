/**
 * Splits a text into messages that a platform takes.
 *
 * Nothing is lost: the bodies of the pieces, one after the other, are the text. A fence of code that would be
 * cut begins a piece of its own; one that is longer than a piece is closed where it is cut and opened again,
 * with the same info string, in the next. Graphemes stay whole, unless one alone is too long.
 *
 * The work grows with the length of the text: every step looks at no more than about one piece of it.
 */
import { findBreak, wholeGraphemes } from "../model/break-point.ts";
import { CortexError } from "../model/errors.ts";
import { afterLine, type Fence, isFenceLine } from "./fences.ts";

export interface ChunkOptions {
  /** The longest piece. */
  readonly maxLength: number;
  /** How a text is counted; in UTF-16 units unless told. A longer text never counts less. */
  readonly measure?: (text: string) => number;
}

/** What was added so that a piece can stand alone, and the part of the text in between. */
interface Piece {
  readonly before: string;
  readonly body: string;
  readonly after: string;
}

/** Below this no cut makes sense: a single character may count for several. */
export const MIN_CHUNK_LENGTH = 16;
/** A line that opens or closes code may take this part of a piece; a longer one is text like any other. */
const FENCE_LINE_SHARE = 1 / 8;

/** The messages, one after the other: a text of megabytes is split in slices. */
export function* chunkText(text: string, options: ChunkOptions): Generator<string> {
  for (const { before, body, after } of splitText(text, options)) yield before + body + after;
}

export function* splitText(text: string, options: ChunkOptions): Generator<Piece> {
  const { maxLength, measure = (part) => part.length } = options;
  if (!(maxLength >= MIN_CHUNK_LENGTH)) throw tooShort(maxLength);
  if (maxLength === Infinity && text !== "") return yield { before: "", body: text, after: "" };
  const rules: Rules = { text, maxLength, measure, maxFenceLine: Math.floor(maxLength * FENCE_LINE_SHARE) };
  let from = 0;
  let open: Fence | undefined;
  while (from < text.length) {
    const { end, fence } = endOfPiece(from, open, rules);
    const body = text.slice(from, end);
    yield { before: reopening(open), body, after: closing(body, fence) };
    from = end;
    open = fence;
  }
}

interface Rules {
  readonly text: string;
  readonly maxLength: number;
  readonly measure: (text: string) => number;
  readonly maxFenceLine: number;
}

/** A place to cut, and the fence that is open there: the end of the piece closes it. */
interface Cut {
  readonly end: number;
  readonly fence: Fence | undefined;
}

function endOfPiece(from: number, open: Fence | undefined, rules: Rules): Cut {
  const { text, maxLength, measure } = rules;
  const opener = open === undefined ? fenceLineAt(from, rules) : undefined;
  const guard = open ?? (opener === undefined ? undefined : afterLine(undefined, opener));
  const reserve = guard === undefined ? "" : `\n${guard.marker}`;
  const before = reopening(open);
  const fits = (end: number, after: string): boolean =>
    measure(before + text.slice(from, end) + after) <= maxLength;

  const limit = longestFit(from, rules, (end) => fits(end, reserve));
  if (text.length - limit <= reserve.length) {
    const { fence, start } = fenceAt(from, text.length, open, rules);
    if (fits(text.length, closing(text.slice(from), fence))) return { end: text.length, fence };
    if (fence !== undefined && start > from && start <= limit) return { end: start, fence: undefined };
  }
  const least = guard === undefined || opener === undefined ? from : from + opener.length + 1;
  const whole = wholeGraphemes(text, { from, wanted: findBreak(text, least, limit), limit });
  const end = beforeFenceLine(from, whole, rules);
  const { fence, start } = fenceAt(from, end, open, rules);
  if (fence === undefined) return { end, fence };
  if (start > from) return { end: start, fence: undefined }; // it may fit whole into the next piece
  const closed = afterClosingLine(end, fence, rules);
  if (closed !== undefined && fits(closed, "")) return { end: closed, fence: undefined };
  return { end, fence };
}

function reopening(fence: Fence | undefined): string {
  return fence === undefined ? "" : `${fence.opener}\n`;
}

function closing(body: string, fence: Fence | undefined): string {
  if (fence === undefined) return "";
  return body.endsWith("\n") ? fence.marker : `\n${fence.marker}`;
}

/** The last end that fits, found by doubling and then by halves, so that nothing far behind it is looked at. */
function longestFit(from: number, { text, maxLength }: Rules, fits: (end: number) => boolean): number {
  let low = from;
  let high = text.length;
  for (let step = maxLength; ; step *= 2) {
    const end = Math.min(text.length, low + step);
    if (!fits(end)) {
      high = end;
      break;
    }
    if (end === text.length) return end;
    low = end;
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return Math.max(low, from + 1);
}

/** Half a fence line is none, or a longer one. */
function beforeFenceLine(from: number, cut: number, rules: Rules): number {
  const lineStart = from + rules.text.slice(from, cut).lastIndexOf("\n") + 1;
  if (lineStart === from || lineStart === cut) return cut;
  return fenceLineAt(lineStart, rules) === undefined ? cut : lineStart;
}

/** The fence that is open at a place, and where in this piece it began; before all of it, where it was open already. */
function fenceAt(
  from: number,
  end: number,
  open: Fence | undefined,
  rules: Rules,
): { readonly fence: Fence | undefined; readonly start: number } {
  let fence = open;
  let start = from;
  const body = rules.text.slice(from, end);
  for (let at = 0; at < body.length;) {
    const newline = body.indexOf("\n", at);
    const next = newline < 0 ? body.length : newline + 1;
    const line = fenceLineAt(from + at, rules);
    if (line !== undefined) {
      const after = afterLine(fence, line);
      if (after !== undefined && fence === undefined) start = from + at;
      fence = after;
    }
    at = next;
  }
  return { fence, start };
}

/** Where the line ends that closes the fence right here, if it does. */
function afterClosingLine(at: number, fence: Fence, rules: Rules): number | undefined {
  const line = fenceLineAt(at, rules);
  if (line === undefined || afterLine(fence, line) !== undefined) return undefined;
  return Math.min(at + line.length + 1, rules.text.length);
}

/** The line that begins here, if it opens or closes code. It is looked at no further than such a line may go. */
function fenceLineAt(at: number, { text, measure, maxFenceLine }: Rules): string | undefined {
  if (at > 0 && text[at - 1] !== "\n") return undefined;
  const start = text.slice(at, at + maxFenceLine + 1);
  const newline = start.indexOf("\n");
  const line = newline < 0 ? start : start.slice(0, newline);
  if (line.length > maxFenceLine || !isFenceLine(line)) return undefined;
  return measure(line) <= maxFenceLine ? line : undefined;
}

function tooShort(maxLength: number): CortexError {
  return new CortexError("limit_invalid", `Cannot split a text into pieces of ${maxLength} characters`, {
    hint: `A channel's limit must be at least ${MIN_CHUNK_LENGTH}.`,
  });
}
