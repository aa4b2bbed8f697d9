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
  type LinkRange,
  MAX_LINK_LENGTH,
  type RichText,
  type RichTextRange,
  type TextRun,
  runsOf,
} from "../../model/rich-text.ts";

/** Discord counts code points (discord/discord-api-docs#1315). */
const MAX_CODE_POINTS = 2_000;

export const discordFormat: MessageFormat = {
  maxLength: 2 * MAX_CODE_POINTS,
  render: (piece) => {
    const wire = render(piece);
    const pairs = wire.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0;
    return { wire, fill: (wire.length - pairs) / MAX_CODE_POINTS };
  },
};

function render(piece: RichText): string {
  let message = "";
  let line: TextRun[] = [];
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

/** A zero-width space. */
const SEPARATOR = "\u200B";

/** Without what would end it, or would end the label of a link before it. */
function renderCode(code: string, language: string): string {
  const name = /^[\w+.-]+$/.test(language) ? language : "";
  const safe = code
    .replaceAll(/``(?=`)/g, `\`\`${SEPARATOR}`)
    .replace(ENDS_LABEL, (head) => head.replaceAll("](", `]${SEPARATOR}(`));
  return `\`\`\`${name}\n${safe}\n\`\`\``;
}

const ENDS_LABEL = /^[^[]*\]\(/;

/** Whole lines with the same formatting, between two line ends. */
function renderLines(text: string, ranges: readonly RichTextRange[]): string {
  if (ranges.length === 0) return escapeLines(text);
  const lines = text.split("\n").slice(1, -1);
  return ["", ...lines.map((line) => renderLine([{ text: line, ranges }])), ""].join("\n");
}

function renderLine(runs: readonly TextRun[]): string {
  const line = runs.filter(({ text }) => text !== "");
  const isQuote = runs.some(({ ranges }) => hasKind(ranges, "quote"));
  const heading = line[0]?.ranges.find((range) => range.kind === "heading");
  const isHeading = !isQuote && heading !== undefined && heading.level <= 3;
  const writer = new LineWriter();
  let link: Signs | undefined;
  for (const [at, { text, ranges }] of line.entries()) {
    const range = ranges.find((each) => each.kind === "link");
    if (link?.key !== range) link = range === undefined ? undefined : linkSigns(range, line, at);
    const signs = link === undefined ? [] : [link];
    // Code and addresses are not emphasized: signs in them could end that.
    const code = hasKind(ranges, "code") && link?.isRaw !== true ? codeSigns(text) : undefined;
    if (code !== undefined) signs.push(code);
    if (signs.at(-1)?.isRaw !== true) {
      if (hasKind(ranges, "bold") || (hasKind(ranges, "heading") && !isHeading)) signs.push(BOLD);
      if (hasKind(ranges, "italic")) signs.push(ITALIC);
      if (hasKind(ranges, "strike")) signs.push(STRIKE);
    }
    writer.add(text, signs);
  }
  const prefix = isQuote ? "> " : isHeading ? `${"#".repeat(heading.level)} ` : "";
  return prefix + writer.finish();
}

function hasKind(ranges: readonly RichTextRange[], kind: RichTextRange["kind"]): boolean {
  return ranges.some((range) => range.kind === kind);
}

/** What opens and closes formatting. Two are the same if their keys are. */
interface Signs {
  readonly key: unknown;
  readonly open: string;
  readonly close: string;
  /** Nothing in between is markup. */
  readonly isRaw?: true;
}

const BOLD: Signs = { key: "bold", open: "**", close: "**" };
const ITALIC: Signs = { key: "italic", open: "_", close: "_" };
const STRIKE: Signs = { key: "strike", open: "~~", close: "~~" };

/** Undefined: it is shown as text. Three backticks would open a block. */
function codeSigns(code: string): Signs | undefined {
  if (code.includes("``") || ENDS_LABEL.test(code)) return undefined;
  const [open, close] = code.includes("`") ? ["`` ", " ``"] : ["`", "`"];
  return { key: code, open, close, isRaw: true };
}

/** Of the link that begins with this run. Discord takes no label with an address or a bracket without its counterpart. */
function linkSigns(link: LinkRange, line: readonly TextRun[], at: number): Signs {
  const end = line.findIndex(({ ranges }, other) => other > at && !ranges.includes(link));
  const label = line.slice(at, end < 0 ? line.length : end).map(({ text }) => text);
  if (isAddress(label.join(""), link.url)) {
    const around = (line[at - 1]?.text.at(-1) ?? "") + (line[at + label.length]?.text[0] ?? "");
    const [open, close] = around.trim() === "" ? ["", ""] : ["<", ">"];
    return { key: link, open, close, isRaw: true };
  }
  const url = link.url.replaceAll(
    /[()*_~|\\]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const isLabel = label.every((part) => !/[[\]]|:\/\//.test(part.replaceAll(/\[[^[\]]*\]/g, "")));
  if (isLabel && url.length <= MAX_LINK_LENGTH) return { key: link, open: "[", close: `](${url})` };
  return { key: link, open: "", close: ` (<${link.url}>)` };
}

/** Writes a line: what ends is closed before the space behind it, and what begins is opened after the space before it. */
class LineWriter {
  #text = "";
  #last = "";
  #space = "";
  #open: readonly Signs[] = [];

  add(text: string, signs: readonly Signs[]): void {
    const words = text.trim();
    const indent = words === "" ? text.length : text.indexOf(words);
    this.#space += text.slice(0, indent);
    if (words === "") return;
    const isStart = this.#text === "";
    const other = signs.findIndex(({ key }, at) => this.#open[at]?.key !== key);
    const kept = other < 0 ? signs.length : other;
    const endsItalic = this.#open[kept] === ITALIC;
    this.#close(kept);
    const { length } = this.#text;
    this.#write(this.#space);
    for (const sign of signs.slice(kept)) {
      if (sign === ITALIC && /[\w~]/.test(this.#last)) this.#write(SEPARATOR);
      this.#writeSign(sign.open);
    }
    this.#open = signs;
    const isInWord = endsItalic && this.#text.length === length && /^\w/.test(words);
    if (isInWord || (this.#last === "]" && words.startsWith("("))) this.#write(SEPARATOR);
    if (signs.at(-1)?.isRaw === true) this.#write(words);
    else this.#write(isStart ? escapeLines(words) : escapeWords(words));
    this.#space = text.slice(indent + words.length);
  }

  finish(): string {
    this.#close(0);
    return this.#text + this.#space;
  }

  #close(kept: number): void {
    for (const { close } of this.#open.slice(kept).toReversed()) this.#writeSign(close);
    this.#open = this.#open.slice(0, kept);
  }

  #writeSign(sign: string): void {
    if (sign[0] === this.#last && "*_~`".includes(this.#last)) this.#write(SEPARATOR);
    this.#write(sign);
  }

  #write(text: string): void {
    this.#text += text;
    this.#last = text.at(-1) ?? this.#last;
  }
}

/** Signs, ends of labels, addresses, mentions of everyone, and names of emoji. */
const MARKUP = /[\\*_~`|<[\]]|(?<=\])\(|:(?=\/\/|[\w+-]+:|$)|@(?=everyone|here)/g;
/** Lists, quotes, headings and small text. */
const LINE_START = /^([^\S\n]*(?:\d+(?=\.))?)(#|(?:-#|[-+>]|>>>|\.)(?=\s|$))/gm;
/** Most words: nothing to escape. */
const PLAIN = /^[0-9A-Za-z ,]*$/;

function escapeWords(words: string): string {
  return PLAIN.test(words) ? words : words.replaceAll(MARKUP, String.raw`\$&`);
}

function escapeLines(text: string): string {
  return PLAIN.test(text) ? text : escapeWords(text).replaceAll(LINE_START, String.raw`$1\$2`);
}
