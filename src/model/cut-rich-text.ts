/**
 * Cuts rich text into messages that a platform takes, by the platform's own counting of what it is sent. The texts of all
 * pieces, one after the other, are the text: whitespace at a cut belongs to the piece before it.
 */
import { findBreak, wholeGraphemes } from "./break-point.ts";
import { type RichText, type RichTextRange, sliceRichText, trimRichText } from "./rich-text.ts";

/** How a platform takes rich text. */
export interface MessageFormat {
  /** No message has a longer text, in UTF-16 units. */
  readonly maxLength: number;
  /** A longer text makes a fuller message, with few exceptions. Any character fits alone. */
  readonly render: (piece: RichText) => Message;
}

interface Message {
  /** What goes over the wire. */
  readonly wire: string;
  /** Up to 1, the platform takes it. */
  readonly fill: number;
}

/** The messages of a text. Platforms refuse blank ones: undefined is where one was. */
export function* renderRichText(rich: RichText, format: MessageFormat): Generator<string | undefined> {
  for (const { text, message } of cutRichText(rich, format)) yield isBlank(text) ? undefined : message.wire;
}

const VISIBLE = /[^\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

function isBlank(text: string): boolean {
  return !VISIBLE.test(text);
}

interface Piece extends RichText {
  readonly message: Message;
}

/** Each step looks at no more than about one piece. */
export function* cutRichText(rich: RichText, { maxLength, render }: MessageFormat): Generator<Piece> {
  const { text, ranges } = rich;
  let open: readonly RichTextRange[] = [];
  let next = 0;
  let length = maxLength;
  for (let from = 0; from < text.length;) {
    const furthest = Math.min(from + maxLength, text.length);
    let last = next;
    while (last < ranges.length && ranges[last]!.from < furthest) last++;
    const near = { text, ranges: [...open, ...ranges.slice(next, last)] };
    const pieceTo = (to: number): Piece => {
      const piece = sliceRichText(near, from, to);
      return { ...piece, message: render(trimRichText(piece)) };
    };
    const longest = longestPiece({ from, furthest, expected: Math.min(from + length, furthest) }, pieceTo);
    length = longest.text.length;
    const isLast = from + length === text.length;
    const piece = isLast ? longest : wellCutPiece(near, { from, limit: from + length, maxLength }, pieceTo);
    yield piece;
    from += piece.text.length;
    while (next < last && ranges[next]!.from < from) next++;
    open = near.ranges.filter((range) => range.from < from && range.to > from);
  }
}

interface Reach {
  readonly from: number;
  readonly furthest: number;
  /** Texts go on as they were: the piece may be as long as the last. */
  readonly expected: number;
}

/** A message need not be fuller: it is cut before its end anyway. */
const FULL = 0.95;
/** Then the range is halved. Some texts differ much from one line to the next. */
const MAX_GUESSES = 3;

function longestPiece({ from, furthest, expected }: Reach, pieceTo: (to: number) => Piece): Piece {
  let low = { at: from, fill: 0 };
  let high = { at: furthest + 1, fill: Infinity };
  let longest: Piece | undefined;
  let at = expected;
  for (let guesses = 1; ; guesses++) {
    const piece = pieceTo(at);
    const { fill } = piece.message;
    if (fill <= 1) [low, longest] = [{ at, fill }, piece];
    else high = { at, fill };
    if (low.fill >= FULL || high.at - low.at === 1) return longest ?? piece;
    const [first, second] = high.fill === Infinity ? [{ at: from, fill: 0 }, low] : [low, high];
    const perUnit = (second.fill - first.fill) / (second.at - first.at);
    const guess = guesses < MAX_GUESSES ? low.at + (1 - low.fill) / perUnit : (low.at + high.at) / 2;
    at = Math.max(low.at + 1, Math.min(Math.floor(guess), high.at - 1));
  }
}

interface Room {
  readonly from: number;
  readonly limit: number;
  readonly maxLength: number;
}

function wellCutPiece(
  near: RichText,
  { from, limit, maxLength }: Room,
  pieceTo: (to: number) => Piece,
): Piece {
  const wanted = keepTogether(near, { from, cut: findBreak(near.text, from, limit), maxLength });
  const end = wholeGraphemes(near.text, { from, wanted, limit });
  const piece = pieceTo(end);
  if (piece.message.fill <= 1 || end - from <= 2) return piece;
  return wellCutPiece(near, { from, limit: from + Math.ceil((limit - from) / 2), maxLength }, pieceTo);
}

interface Cut {
  readonly from: number;
  readonly cut: number;
  readonly maxLength: number;
}

/** Code that fits into a message of its own is not cut, and a heading stays with what it is about. */
function keepTogether({ text, ranges }: RichText, { from, cut, maxLength }: Cut): number {
  let kept = cut;
  for (const range of ranges.toReversed()) {
    if (range.from <= from || range.from >= kept) continue;
    const isCutCode = range.kind === "pre" && range.to > kept && range.to - range.from <= maxLength;
    const isAtEnd = range.kind === "heading" && text.slice(range.to, kept).trim() === "";
    if (isCutCode || (isAtEnd && range.from - from > (cut - from) / 2)) kept = range.from;
  }
  return kept;
}
