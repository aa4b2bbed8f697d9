/** Where a text that is too long is best cut: after a paragraph, else a line, a sentence, a word. */

const WHITESPACE = /\s/u;
const SENTENCE_END = new Set(".!?…");
/** These end a sentence with no blank after them. */
const FULL_WIDTH_END = new Set("。！？");
const CLOSING = new Set("\"')]*_”’»");
/** How many closing characters may stand between the end of a sentence and the blank: `(like this!")`. */
const MAX_CLOSING = 4;

/**
 * The best place to cut in (from, end]. The second half is searched first, so that no cut leaves a crumb; only
 * a word that is longer than that half sends the search further up, and only a text without any blank is cut
 * at `end`.
 */
export function findBreak(text: string, from: number, end: number): number {
  const half = from + Math.floor((end - from) / 2);
  return bestBreak(text, half, end) ?? lastBlank(text, from, half) ?? end;
}

function bestBreak(text: string, from: number, end: number): number | undefined {
  let line: number | undefined;
  let sentence: number | undefined;
  let word: number | undefined;
  for (let cut = end; cut > from; cut--) {
    if (isPlain(text.charCodeAt(cut - 1))) continue;
    const last = text[cut - 1]!;
    if (last === "\n") {
      if (followsBlankLine(text, from, cut - 1)) return cut;
      line ??= cut;
    } else if (FULL_WIDTH_END.has(last)) {
      sentence ??= cut;
    } else if (WHITESPACE.test(last)) {
      word ??= cut;
      if (sentence === undefined && endsSentence(text, cut - 1)) sentence = cut;
    }
  }
  return line ?? sentence ?? word;
}

/** ASCII that is no blank: nearly every character, told apart fast. */
function isPlain(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}

/** Whether only blanks lie between this line end and the one before it. */
function followsBlankLine(text: string, from: number, lineEnd: number): boolean {
  let at = lineEnd - 1;
  while (at >= from && (text[at] === " " || text[at] === "\t" || text[at] === "\r")) at--;
  return at >= from && text[at] === "\n";
}

function endsSentence(text: string, blank: number): boolean {
  let at = blank - 1;
  for (let skipped = 0; skipped < MAX_CLOSING && CLOSING.has(text[at] ?? ""); skipped++) at--;
  return SENTENCE_END.has(text[at] ?? "");
}

function lastBlank(text: string, from: number, end: number): number | undefined {
  for (let cut = end; cut > from; cut--)
    if (!isPlain(text.charCodeAt(cut - 1)) && WHITESPACE.test(text[cut - 1]!)) return cut;
  return undefined;
}

let graphemes: Intl.Segmenter | undefined;

/**
 * Moves a cut in (from, limit] up to where a grapheme begins. One that is longer than that alone is cut at the limit,
 * between code points.
 */
export function wholeGraphemes(text: string, cut: { from: number; wanted: number; limit: number }): number {
  const { from, limit } = cut;
  graphemes ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  for (const wanted of [cut.wanted, limit]) {
    // Whether a grapheme begins somewhere depends on what is before it and on one code point after it.
    const segments = graphemes.segment(text.slice(from, wanted + 2));
    const start = from + (segments.containing(wanted - from)?.index ?? wanted - from);
    if (start > from) return start;
  }
  if (!isInsidePair(text, limit)) return limit;
  return limit - 1 > from ? limit - 1 : limit + 1;
}

function isInsidePair(text: string, at: number): boolean {
  return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
