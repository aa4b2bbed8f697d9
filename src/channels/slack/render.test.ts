import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { longMarkdownTexts, parsed } from "../../../test/support/markdown-texts.ts";
import { cutRichText } from "../../model/cut-rich-text.ts";
import { type RichText, runsOf, trimRichText } from "../../model/rich-text.ts";
import { slackFormat } from "./render.ts";

interface SentMessage {
  readonly text: string;
  readonly blocks: readonly [{ readonly type: string; readonly elements: readonly SentSection[] }];
}

interface SentSection {
  readonly type: string;
  readonly elements: readonly SentElement[];
}

interface SentElement {
  readonly type: string;
  readonly text: string;
  readonly url?: string;
  readonly style?: Readonly<Record<string, boolean>>;
}

function sent(piece: RichText): SentMessage {
  return JSON.parse(slackFormat.render(piece).wire) as SentMessage;
}

const sections = (markdown: string): readonly SentSection[] => sent(parsed(markdown)).blocks[0].elements;

test("a message is one block of rich text, and a text for notifications", () => {
  expect(sent(parsed("# T\na **b *c*** [`d`](https://d.example)"))).toEqual({
    text: "T\na b c d",
    blocks: [
      {
        type: "rich_text",
        elements: [
          {
            type: "rich_text_section",
            elements: [
              { type: "text", text: "T", style: { bold: true } },
              { type: "text", text: "\na " },
              { type: "text", text: "b ", style: { bold: true } },
              { type: "text", text: "c", style: { bold: true, italic: true } },
              { type: "text", text: " " },
              { type: "link", url: "https://d.example/", text: "d", style: { code: true } },
            ],
          },
        ],
      },
    ],
  });
});

test("code and quotes are sections of their own, without the line ends around them", () => {
  const shown = sections("a\n```\nb\n```\n\n> c\n> ```\n> d\n> ```\n> e\n\nf\n```\ng\n```\n```\nh\n```").map(
    ({ type, elements }) => [type.replace("rich_text_", ""), elements.map(({ text }) => text).join("")],
  );
  expect(shown).toEqual([
    ["section", "a"],
    ["preformatted", "b"],
    ["quote", "c"],
    ["preformatted", "d"],
    ["quote", "e"],
    ["section", "\nf"],
    ["preformatted", "g"],
    ["preformatted", "h"],
  ]);
});

test("what would be markup elsewhere is text", () => {
  const text = "<!channel> <@U1|x> @here &lt; *a*";
  const message = sent({ text, ranges: [] });
  expect(message.text).toBe("&lt;!channel&gt; &lt;@U1|x&gt; @here &amp;lt; *a*");
  expect(message.blocks[0].elements).toEqual([
    { type: "rich_text_section", elements: [{ type: "text", text }] },
  ]);
});

describe("for every text", () => {
  const check = (law: (message: SentMessage, piece: RichText) => void): void => {
    fc.assert(
      fc.property(longMarkdownTexts, (markdown) => {
        for (const piece of cutRichText(parsed(markdown), slackFormat)) {
          const trimmed = trimRichText(piece);
          law(sent(trimmed), trimmed);
        }
      }),
      { numRuns: 200 },
    );
  };
  /** Slack has its own distance between sections. */
  const withoutEmptyLines = (text: string): string => text.replaceAll(/\n+/g, "\n").trim();

  test("both texts are the text of the piece", () => {
    check(({ text, blocks: [block] }, piece) => {
      expect(text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/);
      expect(text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&")).toBe(piece.text);
      const shown = block.elements
        .map(({ elements }) => elements.map((element) => element.text).join(""))
        .join("\n");
      expect(withoutEmptyLines(shown)).toBe(withoutEmptyLines(piece.text));
    });
  });

  test("there are only texts and links, none is empty, and all fit", () => {
    check(({ blocks }) => {
      for (const { elements } of blocks[0].elements) {
        expect(elements.length).toBeGreaterThan(0);
        for (const { type, text, url } of elements) {
          expect(text).not.toBe("");
          expect(type).toBe(url === undefined ? "text" : "link");
          expect(url ?? "https://").toMatch(/^https?:\/\//);
        }
      }
      expect(Buffer.byteLength(JSON.stringify(blocks))).toBeLessThanOrEqual(12_000);
    });
  });

  test("all text has the formatting of its piece", () => {
    check(({ blocks }, piece) => {
      const expected = runsOf(piece).flatMap(({ text, ranges }) =>
        Array.from(text.replaceAll("\n", ""), (character) => {
          const kinds = ranges.map(({ kind }) => (kind === "heading" ? "bold" : kind));
          return [character, new Set(kinds.filter((kind) => /^(bold|italic|strike|code|link)$/.test(kind)))];
        }),
      );
      const shown = blocks[0].elements.flatMap(({ elements }) =>
        elements.flatMap(({ text, url, style = {} }) =>
          Array.from(text.replaceAll("\n", ""), (character) => [
            character,
            new Set([...Object.keys(style), ...(url === undefined ? [] : ["link"])]),
          ]),
        ),
      );
      expect(shown).toEqual(expected);
    });
  });
});
