/**
 * A page as text that a model can read: headings, paragraphs, lists, links, tables and code, in the notation of
 * Markdown. Scripts, styles and pictures are left out.
 *
 * No parser for browsers: tags are taken as they come, nothing nests, nothing is looked at twice. So any input
 * of any size takes time in proportion to it, and others get their turn meanwhile.
 */
import { setImmediate } from "node:timers/promises";

import { decodeEntities } from "./html-entities.ts";

export interface PageText {
  readonly title: string | undefined;
  readonly text: string;
}

/** Their content is not for reading. */
const DROPPED = new Set(["script", "style", "noscript", "template", "svg", "iframe", "object", "math"]);

/** How many line breaks stand before and after them. */
const BREAKS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(["p", "blockquote", "table", "pre", "dl", "figure", "form"].map((tag) => [tag, 2])),
  ...Object.fromEntries(
    "address article aside caption dd details div dt fieldset figcaption footer header legend li main nav option section summary tr"
      .split(" ")
      .map((tag) => [tag, 1]),
  ),
};

const TAG = /<(\/?)([a-z][^\s/>]*)/iy;
const ATTRIBUTE = /[\s/]*([^\s/>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?/y;

/** How much is read before others get their turn: some milliseconds. */
export const CHARACTERS_AT_ONCE = 16 * 1024;
/** No character reference is longer. */
const MAX_ENTITY_LENGTH = 16;

export async function htmlToText(
  html: string,
  { base, signal }: { readonly base: URL; readonly signal: AbortSignal },
): Promise<PageText> {
  const page = new TextWriter(base);
  let paused = 0;
  for (let at = 0; at < html.length;) {
    const found = html.indexOf("<", at);
    const open = found === -1 ? html.length : found;
    const end = endOfText(html, at, open);
    page.text(html.slice(at, end));
    at = end < open || found === -1 ? end : passMarkup(html, open, page);
    if (at - paused < CHARACTERS_AT_ONCE) continue;
    paused = at;
    await setImmediate();
    signal.throwIfAborted();
  }
  return page.finish();
}

/** Text without a tag is read in parts too, none of which ends within a character reference. */
function endOfText(html: string, from: number, open: number): number {
  const end = from + CHARACTERS_AT_ONCE;
  if (end >= open) return open;
  const reference = html.lastIndexOf("&", end);
  return end - reference < MAX_ENTITY_LENGTH && reference > from ? reference : end;
}

/** Deals with what begins at a `<` and says where it ends. */
function passMarkup(html: string, open: number, page: TextWriter): number {
  if (html.startsWith("<!--", open)) return after(html, "-->", open + 4);
  if (html[open + 1] === "!" || html[open + 1] === "?") return after(html, ">", open);
  TAG.lastIndex = open;
  const tag = TAG.exec(html);
  if (tag === null) {
    page.text("<");
    return open + 1;
  }
  const name = tag[2]!.toLowerCase();
  const { attributes, end } = readAttributes(html, TAG.lastIndex);
  if (tag[1] === "/") {
    page.close(name);
    return end;
  }
  if (name !== "title" && !DROPPED.has(name)) {
    page.open(name, attributes);
    return end;
  }
  const closing = new RegExp(`</${name}`, "gi");
  closing.lastIndex = end;
  const close = closing.exec(html)?.index ?? html.length;
  if (name === "title") page.setTitle(html.slice(end, close));
  return after(html, ">", close);
}

function after(html: string, mark: string, from: number): number {
  const at = html.indexOf(mark, from);
  return at === -1 ? html.length : at + mark.length;
}

interface Attributes {
  readonly attributes: ReadonlyMap<string, string>;
  /** After the `>`. */
  readonly end: number;
}

function readAttributes(html: string, start: number): Attributes {
  const attributes = new Map<string, string>();
  ATTRIBUTE.lastIndex = start;
  let end = start;
  for (let found = ATTRIBUTE.exec(html); found !== null; found = ATTRIBUTE.exec(html)) {
    const [, name, ...values] = found;
    const value = values.find((each) => each !== undefined) ?? "";
    if (!attributes.has(name!)) attributes.set(name!.toLowerCase(), value);
    end = ATTRIBUTE.lastIndex;
  }
  return { attributes, end: after(html, ">", end) };
}

/** Lists deeper than this are not indented further. */
const MAX_INDENT = 8;

class TextWriter {
  readonly #base: URL;
  readonly #parts: string[] = [];
  /** How many line breaks what was written ends with. At the beginning there is nothing to break from. */
  #breaks = 2;
  #endsWithSpace = false;
  #title: string | undefined;
  /** The numbers of the items of the lists that are open; undefined for lists without numbers. */
  readonly #lists: (number | undefined)[] = [];
  #link: { readonly href: string; readonly part: number } | undefined;
  #isCode = false;

  constructor(base: URL) {
    this.#base = base;
  }

  setTitle(html: string): void {
    this.#title ??= decodeEntities(html).replaceAll(/\s+/g, " ").trim();
  }

  text(html: string): void {
    if (html === "") return;
    const text = decodeEntities(html);
    if (this.#isCode) return this.#write(text);
    const collapsed = text.replaceAll(/[\s\u00a0]+/g, " ");
    const isAtStart = this.#breaks > 0 || this.#endsWithSpace;
    const fitting = isAtStart && collapsed.startsWith(" ") ? collapsed.slice(1) : collapsed;
    if (fitting !== "") this.#write(fitting);
  }

  open(name: string, attributes: ReadonlyMap<string, string>): void {
    const heading = /^h([1-6])$/.exec(name);
    if (heading !== null) return this.#begin(2, `${"#".repeat(Number(heading[1]))} `);
    switch (name) {
      case "br":
        return this.#break(this.#breaks + 1);
      case "hr":
        this.#begin(2, "---");
        return this.#break(2);
      case "ul":
      case "ol":
        this.#break(this.#lists.length === 0 ? 2 : 1);
        this.#lists.push(name === "ol" ? 1 : undefined);
        return undefined;
      case "li":
        return this.#begin(1, this.#bullet());
      case "td":
      case "th":
        return this.#breaks > 0 ? undefined : this.#write(" | ");
      case "a":
        return this.#openLink(attributes.get("href"));
      case "img": {
        const alt = decodeEntities(attributes.get("alt") ?? "").trim();
        return alt === "" ? undefined : this.text(`[image: ${alt}]`);
      }
      case "code":
        return this.#isCode ? undefined : this.#write("`");
      case "pre":
        this.#begin(2, "```\n");
        this.#isCode = true;
        return undefined;
      default:
        return this.#breakFor(name);
    }
  }

  close(name: string): void {
    if (/^h[1-6]$/.test(name)) return this.#break(2);
    switch (name) {
      case "ul":
      case "ol":
        this.#lists.pop();
        return this.#break(this.#lists.length === 0 ? 2 : 1);
      case "a":
        return this.#closeLink();
      case "code":
        return this.#isCode ? undefined : this.#write("`");
      case "pre":
        if (!this.#isCode) return undefined;
        this.#isCode = false;
        this.#begin(1, "```");
        return this.#break(2);
      default:
        return this.#breakFor(name);
    }
  }

  finish(): PageText {
    this.#closeLink();
    if (this.#isCode) this.#begin(1, "```");
    const lines = this.#parts.join("").split("\n");
    const text = lines.map((line) => line.trimEnd()).join("\n");
    return { title: this.#title === "" ? undefined : this.#title, text: text.trim() };
  }

  #breakFor(name: string): void {
    if (Object.hasOwn(BREAKS, name)) this.#break(BREAKS[name]!);
  }

  #bullet(): string {
    const indent = "  ".repeat(Math.min(Math.max(this.#lists.length - 1, 0), MAX_INDENT));
    const number = this.#lists.at(-1);
    if (number === undefined) return `${indent}- `;
    this.#lists[this.#lists.length - 1] = number + 1;
    return `${indent}${number}. `;
  }

  /** A link within the page, or to something other than a page, is only its text. */
  #openLink(href: string | undefined): void {
    this.#closeLink();
    if (href === undefined || href.trimStart().startsWith("#")) return;
    const url = URL.parse(decodeEntities(href), this.#base.href);
    if (url === null || !/^(https?|mailto):$/.test(url.protocol)) return;
    this.#link = { href: url.href, part: this.#parts.length };
    this.#write("[");
  }

  #closeLink(): void {
    if (this.#link === undefined) return;
    const { href, part } = this.#link;
    this.#link = undefined;
    const isEmpty = this.#parts.slice(part + 1).every((text) => text.trim() === "");
    if (isEmpty) this.#parts[part] = "";
    else this.#write(`](${href})`);
  }

  #begin(breaks: number, text: string): void {
    this.#break(breaks);
    this.#write(text);
    this.#endsWithSpace = true; // What follows a bullet begins right after it.
  }

  #break(count: number): void {
    const missing = Math.min(count, 2) - this.#breaks;
    if (missing <= 0) return;
    this.#parts.push("\n".repeat(missing));
    this.#breaks += missing;
    this.#endsWithSpace = false;
  }

  #write(text: string): void {
    this.#parts.push(text);
    this.#breaks = text.endsWith("\n") ? 1 : 0;
    this.#endsWithSpace = text.endsWith(" ");
  }
}
