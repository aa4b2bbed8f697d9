import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { longMarkdownTexts, parsed } from "../../../test/support/markdown-texts.ts";
import { cutRichText, renderRichText } from "../../model/cut-rich-text.ts";
import { isAddress, type RichText, runsOf, trimRichText } from "../../model/rich-text.ts";
import { discordFormat } from "./render.ts";

const sent = (markdown: string): string => discordFormat.render(parsed(markdown)).wire;

test.each([
  ["a **b *c*** ~~d~~ `e`", "a **b _c_** ~~d~~ `e`"],
  ["# a\n###### b", "# a\n**b**"],
  ["- # a", "• **a**"],
  ["> a\n>\n> b\n\nc", "> a\n> \n> b\n\nc"],
  ["```ts\na\n```", "```ts\na\n```"],
  ["1. a", "1\\. a"],
  ["- a\n  - b\n    1. c", "• a\n  • b\n    1\\. c"],
  ["# #a", "# \\#a"],
  ["[a_b](https://a.example/(b)_c)", "[a\\_b](https://a.example/%28b%29%5Fc)"],
  ["[[1]](https://a.example)", "[\\[1\\]](https://a.example/)"],
  ["[a \\[ b](https://a.example)", "a \\[ b (<https://a.example/>)"],
  ["https://a.example/b_c and (https://a.example)", "https://a.example/b_c and (<https://a.example>)"],
  ["**a https://a.example/ b**", "**a** https://a.example/ **b**"],
  ["**a `b*` c**", "**a** `b*` **c**"],
  ["``a`b``", "`` a`b ``"],
  ["```` a```b ````", "a\\`\\`\\`b"],
])("%s", (markdown, message) => {
  expect(sent(markdown)).toBe(message);
});

test("text is no markup", () => {
  const text =
    "- a\n+ b\n# c\n-# d\n> e\n1. f\n*g* _h_ ~~i~~ ||j|| `k` [l](https://m) <@1> @everyone :n: 12:30:45 \\o";
  expect(discordFormat.render({ text, ranges: [] }).wire).toBe(
    "\\- a\n\\+ b\n\\# c\n\\-# d\n\\> e\n1\\. f\n\\*g\\* \\_h\\_ \\~\\~i\\~\\~ \\|\\|j\\|\\| \\`k\\` \\[l\\]\\(https\\://m) \\<@1> \\@everyone \\:n: 12\\:30:45 \\\\o",
  );
});

test("fences in code do not end it", () => {
  expect(sent("````\n```\na\n```\n````")).toBe("```\n``\u200B`\na\n``\u200B`\n```");
});

test("signs that would be read as one are kept apart", () => {
  expect(sent("**a\\***")).toBe("**a\\*\u200B**");
  expect(sent("*a*b")).toBe("_a_\u200Bb");
  expect(sent("a*b*")).toBe("a\u200B_b_");
  expect(sent("~~a~~*b*")).toBe("~~a~~\u200B_b_");
});

test("code points are counted", () => {
  expect(
    [...renderRichText(parsed("😀".repeat(4_000)), discordFormat)].map((message) => message!.length),
  ).toEqual([4_000, 4_000]);
});

interface Letter {
  readonly text: string;
  readonly styles: ReadonlySet<string>;
}

/**
 * Discord's Markdown, by the rules that its clients are known to have (github.com/discord/SimpleAST, simple-markdown). Where
 * bold and italics could both begin, some clients take the longer one and some take bold.
 */
class DiscordReader {
  readonly #prefersBold: boolean;

  constructor(prefersBold: boolean) {
    this.#prefersBold = prefersBold;
  }

  read(
    source: string,
    styles: ReadonlySet<string> = new Set(),
    isQuoted = false,
    isAtStart = true,
  ): Letter[] {
    const letters: Letter[] = [];
    let isLineStart = isAtStart;
    for (let at = 0; at < source.length;) {
      const rest = source.slice(at);
      const found =
        this.#block(rest, styles, isQuoted, isLineStart) ?? this.#inline(rest, styles, isQuoted, isLineStart);
      letters.push(...found.letters);
      const taken = source.slice(at, at + found.length);
      isLineStart = /\n[^\S\n]*$/.test(taken) || (isLineStart && taken.trim() === "");
      at += found.length;
    }
    return letters;
  }

  #block(rest: string, styles: ReadonlySet<string>, isQuoted: boolean, isLineStart: boolean) {
    if (!isLineStart) return undefined;
    const quote = isQuoted ? null : /^ *>>> [^]*|^ *> [^\n]*(?:\n *> [^\n]*)*\n?/.exec(rest);
    if (quote !== null) {
      const inner = quote[0].replaceAll(/^ *>(?:>>)? /gm, "");
      return { letters: this.read(inner, new Set([...styles, "quote"]), true), length: quote[0].length };
    }
    const heading = /^ *(#{1,3}) +(?!#)([^\n]+)/.exec(rest);
    if (heading !== null) {
      const letters = this.read(heading[2]!, new Set([...styles, "heading"]), isQuoted);
      return { letters, length: heading[0].length };
    }
    const other = /^ *(?:-#|[-*+]|\d+\.) +/.exec(rest);
    return other === null ? undefined : { letters: written("LIST", styles), length: other[0].length };
  }

  #inline(rest: string, styles: ReadonlySet<string>, isQuoted: boolean, isLineStart: boolean) {
    const escaped = /^\\([^0-9A-Za-z\s])/.exec(rest);
    if (escaped !== null) return { letters: written(escaped[1]!, styles), length: 2 };
    const block = /^```(?:([\w+.-]+)\n)?\n*([^\n][^]*?)\n*```/.exec(rest);
    if (block !== null) return { letters: written(block[2]!, new Set(["pre"])), length: block[0].length };
    const address = /^<(https?:\/\/[^ >]+)>/.exec(rest) ?? /^(https?:\/\/[^\s<]+[^<.,:;"')\]\s])/.exec(rest);
    if (address !== null)
      return { letters: written(address[1]!, new Set(["link"])), length: address[0].length };
    const mention = /^(?:<(?:@[!&]?|#|t:|\/|a?:)[^>\n]*>|@everyone|@here|:[\w+-]+:)/.exec(rest);
    if (mention !== null) return { letters: written("MENTION", styles), length: mention[0].length };
    const link =
      /^\[((?:\[[^\]]*\]|[^[\]]|\](?=[^[]*\]))*)\]\(\s*<?((?:\([^)]*\)|[^\s\\]|\\.)*?)>?\s*\)/.exec(rest);
    if (link !== null && /^https?:/.test(link[2]!) && !link[1]!.includes("://")) {
      const letters = this.read(link[1]!, new Set([...styles, "link"]), isQuoted, isLineStart);
      return { letters, length: link[0].length };
    }
    const code = /^(`+)([^]*?[^`])\1(?!`)/.exec(rest);
    if (code !== null)
      return { letters: written(code[2]!.trim(), new Set([...styles, "code"])), length: code[0].length };
    return this.#emphasis(rest, styles, isQuoted, isLineStart) ?? letterOf(rest, styles);
  }

  #emphasis(rest: string, styles: ReadonlySet<string>, isQuoted: boolean, isLineStart: boolean) {
    const found = [
      { style: "bold", match: /^\*\*([^]+?)\*\*(?!\*)/.exec(rest) },
      { style: "underline", match: /^__([^]+?)__(?!_)/.exec(rest) },
      {
        style: "italic",
        match:
          /^_((?:__|\\[^]|[^\\_])+?)_(?!\w)/.exec(rest) ??
          /^\*(?=\S)((?:\*\*|\\[^]|\s+(?:\\[^]|[^\s*\\]|\*\*)|[^\s*\\])+?)\*(?!\*)/.exec(rest),
      },
      { style: "strike", match: /^~~([^]+?)~~(?!_)/.exec(rest) },
      { style: "spoiler", match: /^\|\|([^]+?)\|\|/.exec(rest) },
    ].filter(({ match }) => match !== null);
    if (!this.#prefersBold) found.sort((one, other) => other.match![0].length - one.match![0].length);
    const [first] = found;
    if (first === undefined) return undefined;
    const letters = this.read(first.match![1]!, new Set([...styles, first.style]), isQuoted, isLineStart);
    return { letters, length: first.match![0].length };
  }
}

function letterOf(rest: string, styles: ReadonlySet<string>): { letters: Letter[]; length: number } {
  const text = String.fromCodePoint(rest.codePointAt(0)!);
  return { letters: [{ text, styles }], length: text.length };
}

function written(text: string, styles: ReadonlySet<string>): Letter[] {
  return Array.from(text, (letter) => ({ text: letter, styles }));
}

/** What a reader of the piece should see, with the formats that Discord can have there. */
function expectedOf(piece: RichText): Letter[] {
  const runs = runsOf(piece);
  const letters: Letter[] = [];
  for (const [at, { text, ranges }] of runs.entries()) {
    const link = ranges.find((range) => range.kind === "link");
    const styles = new Set<string>(ranges.map(({ kind }) => (kind === "heading" ? "bold" : kind)));
    letters.push(...written(text, styles));
    if (link === undefined || runs[at + 1]?.ranges.includes(link) === true) continue;
    const label = runs.filter((run) => run.ranges.includes(link)).map((run) => run.text);
    const isMasked = label.every((part) => !/[[\]]|:\/\//.test(part.replaceAll(/\[[^[\]]*\]/g, "")));
    if (!isMasked && !isAddress(label.join(""), link.url))
      letters.push(...written(` (${link.url})`, new Set(["link"])));
  }
  return letters;
}

function emphasisOf(styles: ReadonlySet<string>): ReadonlySet<string> {
  const names = Array.from(styles, (style) => (style === "heading" ? "bold" : style));
  return new Set(names.filter((name) => /^(bold|italic|strike|underline|spoiler)$/.test(name)));
}

const shown = (letters: readonly Letter[]): string =>
  letters
    .map(({ text }) => text)
    .join("")
    .replaceAll("\u200B", "")
    .replaceAll(/^[^\S\n]+|[^\S\n]+$/gm, "")
    .replaceAll(/\n+/g, "\n")
    .trim();

describe("for every text", () => {
  const check = (law: (message: string, piece: RichText) => void): void => {
    fc.assert(
      fc.property(longMarkdownTexts, (markdown) => {
        for (const piece of cutRichText(parsed(markdown), discordFormat))
          law(piece.message.wire, trimRichText(piece));
      }),
      { numRuns: 100 },
    );
  };

  test("no message is too long", () => {
    check((message) => {
      expect(Array.from(message).length).toBeLessThanOrEqual(2_000);
    });
  });

  test.each([true, false])(
    "clients show the text of the piece and nothing else (bold first: %s)",
    (prefersBold) => {
      check((message, piece) => {
        expect(shown(new DiscordReader(prefersBold).read(message))).toBe(shown(expectedOf(piece)));
      });
    },
  );

  test("clients show the formatting of the piece, except around code and addresses", () => {
    check((message, piece) => {
      const visible = (letters: readonly Letter[]): Letter[] =>
        letters.filter(({ text }) => !/[\s\u200B]/.test(text));
      const letters = visible(new DiscordReader(false).read(message));
      for (const [at, { text, styles }] of visible(expectedOf(piece)).entries()) {
        expect(letters[at]!.text).toBe(text);
        if (["code", "pre", "link"].some((kind) => styles.has(kind))) continue;
        expect(emphasisOf(letters[at]!.styles)).toEqual(emphasisOf(styles));
      }
    });
  });
});
