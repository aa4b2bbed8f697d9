/** What stands within a line of Markdown: emphasis, code, links. What is not closed is shown as it was written. */
import type { Format, Span } from "./spans.ts";

/**
 * Every part has a length: for each character that may begin something, no more than that is looked at, and of two parts
 * in a row the first one's end is certain. So the time grows with the length of a line.
 */
const TOKEN = new RegExp(
  [
    /\\(?<escaped>[!-/:-@[-`{-~])/,
    /(?<!`)(?<ticks>`{1,8})(?!`)(?<code>.{1,300}?)(?<!`)\k<ticks>(?!`)/,
    /\*\*(?=\S)(?<bold>.{1,300}?)(?<=\S)\*\*(?!\*)/,
    /(?<!\w)__(?=\S)(?<strong>.{1,300}?)(?<=\S)__(?!\w)/,
    /(?<![*\w])\*(?=[^\s*])(?<italic>.{1,300}?)(?<=[^\s*])\*(?!\*)/,
    /(?<!\w)_(?=[^\s_])(?<slanted>.{1,300}?)(?<=[^\s_])_(?!\w)/,
    /~~(?=\S)(?<struck>.{1,300}?)(?<=\S)~~/,
    /!?\[(?<label>[^\]]{0,300})\]\((?<address>[^)\s]{1,1000})(?:\s[^)]{0,300})?\)/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gu",
);

type Formats = readonly Extract<Format, string>[];

export function parseInline(text: string, formats: Formats = []): Span[] {
  const spans: Span[] = [];
  let read = 0;
  for (const match of text.matchAll(TOKEN)) {
    spans.push(...plain(text.slice(read, match.index), formats), ...spansOf(match.groups!, formats));
    read = match.index + match[0].length;
  }
  return [...spans, ...plain(text.slice(read), formats)];
}

function spansOf(found: Readonly<Record<string, string | undefined>>, formats: Formats): Span[] {
  const { escaped, code, bold, strong, italic, slanted, struck, label, address = "" } = found;
  if (escaped !== undefined) return plain(escaped, formats);
  if (code !== undefined) return plain(code.replace(/^ (.*\S.*) $/, "$1"), [...formats, "cyan"]);
  const heavy = bold ?? strong;
  if (heavy !== undefined) return parseInline(heavy, [...formats, "bold"]);
  const light = italic ?? slanted;
  if (light !== undefined) return parseInline(light, [...formats, "italic"]);
  if (struck !== undefined) return parseInline(struck, [...formats, "strikethrough"]);
  const name = parseInline(label!, [...formats, "underline"]);
  return label === address || label === ""
    ? plain(address, [...formats, "underline"])
    : [...name, ...where(address)];
}

/** Where a link leads is said: nobody should follow one blindly, and not every terminal can be clicked on. */
function where(address: string): Span[] {
  return plain(` (${address})`, ["dim"]);
}

function plain(text: string, formats: Formats): Span[] {
  if (text === "") return [];
  return [formats.length === 0 ? { text } : { text, format: [...formats] }];
}
