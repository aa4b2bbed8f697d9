/**
 * Rich text as Discord's Markdown, with everything escaped that could be markup. A message also needs
 * `allowed_mentions: {parse: []}`, because Discord looks for mentions before it looks for escapes.
 *
 * Discord's clients parse Markdown with regular expressions that differ a little. So formatting ends and begins again with
 * every line, its signs hug words, and signs that could be read as one are kept apart.
 */
import type { MessageFormat } from "../../model/cut-rich-text.ts";
import {
  isAddress,
  MAX_URL_LENGTH,
  type RichText,
  type RichTextRange,
  type Run,
  runsOf,
} from "../../model/rich-text.ts";

/** Discord counts code points (discord/discord-api-docs#1315). */
const MAX_CODE_POINTS = 2_000;

export const discordFormat: MessageFormat = {
  maxLength: 2 * MAX_CODE_POINTS,
  render(piece) {
    const wire = render(piece);
    return { wire, fill: countCodePoints(wire) / MAX_CODE_POINTS };
  },
};

function countCodePoints(text: string): number {
  return text.length - (text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0);
}

function render(piece: RichText): string {
  let message = "";
  let line: Run[] = [];
  let isAfterCode = false;
  function endLine(): void {
    if (!isAfterCode) message += renderLine(line);
    isAfterCode = false;
    line = [];
  }
  for (const run of runsOf(piece)) {
    const pre = run.ranges.find((range) => range.kind === "pre");
    if (pre !== undefined) {
      message += renderCode(run.text, pre.language); // never in a quote, where not all clients expect it
      isAfterCode = true;
      continue;
    }
    const first = run.text.indexOf("\n");
    const last = run.text.lastIndexOf("\n");
    line.push(first < 0 ? run : { ...run, text: run.text.slice(0, first) });
    if (first < 0) continue;
    endLine();
    message += first === last ? "\n" : renderLines(run.text.slice(first, last + 1), run.ranges);
    line.push({ ...run, text: run.text.slice(last + 1) });
  }
  endLine();
  return message;
}

/** Zero-width space. */
const SEPARATOR = "\u200B";

function renderCode(code: string, language: string): string {
  const name = /^[\w+.-]+$/.test(language) ? language : "";
  return `\`\`\`${name}\n${code.replaceAll(/``(?=`)/g, `\`\`${SEPARATOR}`)}\n\`\`\``;
}

/** What opens and closes formatting. Two are the same if their keys are. */
interface Signs {
  readonly key: unknown;
  readonly open: string;
  readonly close: string;
  /** Between them, nothing is markup. */
  readonly isRaw?: true;
}

const BOLD: Signs = { key: "bold", open: "**", close: "**" };
const ITALIC: Signs = { key: "italic", open: "_", close: "_" };
const STRIKE: Signs = { key: "strike", open: "~~", close: "~~" };

/** Whole lines with the same formatting, between two line ends. */
function renderLines(text: string, ranges: readonly RichTextRange[]): string {
  if (ranges.length === 0) return escapeLines(text);
  const lines = text.split("\n").slice(1, -1);
  return ["", ...lines.map((line) => renderLine([{ text: line, ranges }])), ""].join("\n");
}

function renderLine(runs: readonly Run[]): string {
  const line = runs.filter(({ text }) => text !== "");
  const isQuote = runs.some(({ ranges }) => hasKind(ranges, "quote"));
  const heading = line[0]?.ranges.find((range) => range.kind === "heading");
  const isHeading = !isQuote && heading !== undefined && heading.level <= 3;
  const links = linksOf(line);
  const out = new LineWriter();
  for (const { text, ranges } of line) {
    const words = text.trim();
    const indent = words === "" ? text.length : text.indexOf(words);
    out.addSpace(text.slice(0, indent));
    if (words === "") continue;
    out.addWords(words, signsOf(words, { ranges, links, isHeading }));
    out.addSpace(text.slice(indent + words.length));
  }
  const prefix = isQuote ? "> " : isHeading ? `${"#".repeat(heading.level)} ` : "";
  return prefix + out.finish();
}

function hasKind(ranges: readonly RichTextRange[], kind: RichTextRange["kind"]): boolean {
  return ranges.some((range) => range.kind === kind);
}

interface Formats {
  readonly ranges: readonly RichTextRange[];
  readonly links: ReadonlyMap<RichTextRange, Signs>;
  readonly isHeading: boolean;
}

/** From the outside in. Code and addresses are not emphasized: signs in them could end that. */
function signsOf(words: string, { ranges, links, isHeading }: Formats): readonly Signs[] {
  const link = ranges.map((range) => links.get(range)).find((signs) => signs !== undefined);
  const signs = link === undefined ? [] : [link];
  if (link?.isRaw === true) return signs;
  const code = hasKind(ranges, "code") ? codeSigns(words) : undefined;
  if (code !== undefined) return [...signs, code];
  if (hasKind(ranges, "bold") || (hasKind(ranges, "heading") && !isHeading)) signs.push(BOLD);
  if (hasKind(ranges, "italic")) signs.push(ITALIC);
  if (hasKind(ranges, "strike")) signs.push(STRIKE);
  return signs;
}

/** Undefined: Discord has none for this code. Three backticks would open a block. */
function codeSigns(code: string): Signs | undefined {
  if (!code.includes("`")) return { key: code, open: "`", close: "`", isRaw: true };
  return code.includes("``") ? undefined : { key: code, open: "`` ", close: " ``", isRaw: true };
}

const NO_LINKS: ReadonlyMap<RichTextRange, Signs> = new Map();

function linksOf(line: readonly Run[]): ReadonlyMap<RichTextRange, Signs> {
  if (!line.some(({ ranges }) => hasKind(ranges, "link"))) return NO_LINKS;
  const links = new Map<RichTextRange, { readonly url: string; readonly label: string[]; next: string }>();
  for (const [at, { text, ranges }] of line.entries()) {
    const range = ranges.find(({ kind }) => kind === "link");
    if (range?.kind !== "link") continue;
    const link = links.get(range) ?? { url: range.url, label: [], next: "" };
    link.label.push(text);
    link.next = line[at + 1]?.text ?? "";
    links.set(range, link);
  }
  return new Map(
    Array.from(links, ([key, { url, label, next }]) => [key, { key, ...linkSigns(url, label, next) }]),
  );
}

/** Discord takes no label with an address, or with a bracket that nothing opens or closes. */
function linkSigns(url: string, label: readonly string[], next: string): Omit<Signs, "key"> {
  if (isAddress(label.join(""), url)) {
    const isEnd = /^\s|^$/.test(next);
    return { open: isEnd ? "" : "<", close: isEnd ? "" : ">", isRaw: true };
  }
  const escaped = url.replaceAll(
    /[()*_~|\\]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const isLabel = label.every((part) => !/[[\]]|:\/\//.test(part.replaceAll(/\[[^[\]]*\]/g, "")));
  return isLabel && escaped.length <= MAX_URL_LENGTH
    ? { open: "[", close: `](${escaped})` }
    : { open: "", close: ` (<${url}>)` };
}

/** Writes a line: what ends is closed before the space behind it, and what begins is opened after the space before it. */
class LineWriter {
  #text = "";
  #space = "";
  #open: readonly Signs[] = [];

  addSpace(space: string): void {
    this.#space += space;
  }

  addWords(words: string, signs: readonly Signs[]): void {
    const isStart = this.#text === "";
    const other = signs.findIndex(({ key }, at) => this.#open[at]?.key !== key);
    const kept = other === -1 ? signs.length : other;
    const endsItalic = this.#open[kept] === ITALIC;
    this.#close(kept);
    const closed = this.#text.length;
    this.#flushSpace();
    for (const sign of signs.slice(kept)) {
      if (sign === ITALIC && /[\w~]$/.test(this.#text)) this.#text += SEPARATOR;
      this.#addSign(sign.open);
    }
    this.#open = signs;
    if (endsItalic && this.#text.length === closed && /^\w/.test(words)) this.#text += SEPARATOR;
    if (signs.at(-1)?.isRaw === true) this.#text += words;
    else this.#text += isStart ? escapeLines(words) : escapeWords(words);
  }

  finish(): string {
    this.#close(0);
    this.#flushSpace();
    return this.#text;
  }

  #close(kept: number): void {
    for (const { close } of this.#open.slice(kept).toReversed()) this.#addSign(close);
    this.#open = this.#open.slice(0, kept);
  }

  #flushSpace(): void {
    this.#text += this.#space;
    this.#space = "";
  }

  #addSign(sign: string): void {
    const last = this.#text.at(-1) ?? "";
    this.#text += sign[0] === last && /[*_~`]/.test(last) ? SEPARATOR + sign : sign;
  }
}

/** Signs, addresses, mentions of everyone, and names of emoji. */
const MARKUP = /[\\*_~`|<[\]]|:(?=\/\/|[\w+-]+:)|@(?=everyone|here)/g;
/** Lists, quotes, headings and small text. */
const LINE_START = /^([^\S\n]*(?:\d+(?=\.))?)(#{1,3}|-#|[-+>]|>>>|\.)(?=\s|$)/gm;

function escapeWords(words: string): string {
  return words.replaceAll(MARKUP, String.raw`\$&`);
}

function escapeLines(text: string): string {
  return escapeWords(text).replaceAll(LINE_START, String.raw`$1\$2`);
}
