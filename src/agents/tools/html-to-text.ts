/**
 * Converts a page to text for a model: headings, paragraphs, lists, links, tables and code as Markdown, without scripts,
 * styles and images.
 *
 * Only the tokenizer of htmlparser2 is used: it takes linear time on any page, while its parser takes quadratic time on a
 * page of unclosed tags. Tags are handled as they come, so no tree is needed.
 */
import { setImmediate } from "node:timers/promises";
import { Tokenizer } from "htmlparser2";

interface PageText {
  readonly title: string | undefined;
  readonly text: string;
}

/** Elements without readable content. */
const DROPPED = new Set("script style noscript noembed noframes template svg iframe object math".split(" "));
/** The only ones of these that can be self-closing, as in `<svg/>`. */
const FOREIGN = new Set(["svg", "math"]);

/** Line breaks before and after an element. */
const BREAKS: ReadonlyMap<string, number> = new Map([
  ...["p", "blockquote", "table", "pre", "dl", "figure", "form"].map((tag) => [tag, 2] as const),
  ..."address article aside caption dd details div dt fieldset figcaption footer header legend li main nav option section summary tr"
    .split(" ")
    .map((tag) => [tag, 1] as const),
]);

/** Characters between yields to the event loop: a few milliseconds. */
export const CHARACTERS_AT_ONCE = 16 * 1024;

export async function htmlToText(
  html: string,
  { base, signal }: { readonly base: URL; readonly signal: AbortSignal },
): Promise<PageText> {
  const writer = new TextWriter(base);
  const reader = new TagReader(html, writer);
  const tokenizer = new Tokenizer({ decodeEntities: true }, reader);
  for (let at = 0; at < html.length; at += CHARACTERS_AT_ONCE) {
    tokenizer.write(html.slice(at, at + CHARACTERS_AT_ONCE));
    reader.flush();
    await setImmediate();
    signal.throwIfAborted();
  }
  tokenizer.end();
  reader.flush();
  return writer.finish();
}

type Callbacks = ConstructorParameters<typeof Tokenizer>[1];

/** Joins the tokenizer's pieces into tags and text, and drops unreadable elements. */
class TagReader implements Callbacks {
  readonly #html: string;
  readonly #writer: TextWriter;
  #text = "";
  #tag = "";
  #attribute = "";
  #value = "";
  #attributes = new Map<string, string>();
  /** The element whose content is being dropped, and how deeply it is nested in itself. */
  #dropped: { readonly name: string; depth: number } | undefined;
  #title: string | undefined;

  constructor(html: string, writer: TextWriter) {
    this.#html = html;
    this.#writer = writer;
  }

  /** The tokenizer also reports the name of a tag that is cut off at the end of the page as text. */
  ontext(start: number, end: number): void {
    if (this.#html[start - 1] !== "<") this.#add(this.#html.slice(start, end));
  }

  ontextentity(code: number): void {
    this.#add(String.fromCodePoint(code));
  }

  onopentagname(start: number, end: number): void {
    this.flush();
    this.#tag = this.#html.slice(start, end).toLowerCase();
    this.#attributes = new Map();
  }

  onattribname(start: number, end: number): void {
    this.#attribute = this.#html.slice(start, end).toLowerCase();
    this.#value = "";
  }

  onattribdata(start: number, end: number): void {
    this.#value += this.#html.slice(start, end);
  }

  onattribentity(code: number): void {
    this.#value += String.fromCodePoint(code);
  }

  /** Of duplicate attributes, the first counts. */
  onattribend(): void {
    if (!this.#attributes.has(this.#attribute)) this.#attributes.set(this.#attribute, this.#value);
  }

  onopentagend(): void {
    const name = this.#tag;
    if (this.#dropped !== undefined) {
      if (this.#dropped.name === name) this.#dropped.depth += 1;
    } else if (DROPPED.has(name)) this.#dropped = { name, depth: 1 };
    else if (name === "title") this.#title = "";
    else this.#writer.open(name, this.#attributes);
  }

  onselfclosingtag(): void {
    if (!FOREIGN.has(this.#tag)) this.onopentagend();
  }

  onclosetag(start: number, end: number): void {
    this.flush();
    const name = this.#html.slice(start, end).toLowerCase();
    if (this.#dropped !== undefined) {
      if (this.#dropped.name === name) this.#dropped.depth -= 1;
      if (this.#dropped.depth === 0) this.#dropped = undefined;
    } else if (name !== "title") this.#writer.close(name);
    else if (this.#title !== undefined) {
      this.#writer.setTitle(this.#title);
      this.#title = undefined;
    }
  }

  isInForeignContext(): boolean {
    return this.#dropped !== undefined && FOREIGN.has(this.#dropped.name);
  }

  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  /** Writes the text since the last tag. */
  flush(): void {
    if (this.#text === "") return;
    this.#writer.text(this.#text);
    this.#text = "";
  }

  #add(text: string): void {
    if (this.#dropped !== undefined) return;
    if (this.#title === undefined) this.#text += text;
    else this.#title += text;
  }
}

/** Lists deeper than this are not indented further. */
const MAX_INDENT = 8;
const SOFT_HYPHEN = "\u00ad";

class TextWriter {
  readonly #base: URL;
  readonly #parts: string[] = [];
  /** How many line breaks the output ends with. The start counts as two. */
  #breaks = 2;
  #endsWithSpace = false;
  #title: string | undefined;
  /** The next item numbers of the open lists; undefined for unordered lists. */
  readonly #lists: (number | undefined)[] = [];
  #link: { readonly href: string; readonly part: number } | undefined;
  #isCode = false;

  constructor(base: URL) {
    this.#base = base;
  }

  setTitle(text: string): void {
    this.#title ??= text.replaceAll(/\s+/g, " ").trim();
  }

  text(text: string): void {
    if (this.#isCode) return this.#write(text);
    const collapsed = text.replaceAll(SOFT_HYPHEN, "").replaceAll(/\s+/g, " ");
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
        const alt = (attributes.get("alt") ?? "").trim();
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
    this.#break(BREAKS.get(name) ?? 0);
  }

  #bullet(): string {
    const indent = "  ".repeat(Math.min(Math.max(this.#lists.length - 1, 0), MAX_INDENT));
    const number = this.#lists.at(-1);
    if (number === undefined) return `${indent}- `;
    this.#lists[this.#lists.length - 1] = number + 1;
    return `${indent}${number}. `;
  }

  /** Links within the page, or to something other than a page, become plain text. */
  #openLink(href: string | undefined): void {
    this.#closeLink();
    if (href === undefined || href.trimStart().startsWith("#")) return;
    const url = URL.parse(href, this.#base.href);
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
    this.#endsWithSpace = true; // the item's text starts right after the bullet
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
