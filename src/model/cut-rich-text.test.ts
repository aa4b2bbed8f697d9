import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { longMarkdownTexts, parsed } from "../../test/support/markdown-texts.ts";
import { cutRichText, type MessageFormat, renderRichText } from "./cut-rich-text.ts";
import { type RichText, runsOf } from "./rich-text.ts";
import { graphemes } from "./text-width.ts";

/** A platform that counts characters, and each sign of formatting as two. */
function plain(maxLength: number): MessageFormat {
  return {
    maxLength,
    render: ({ text, ranges }) => ({
      wire: text,
      fill: (Array.from(text).length + 2 * ranges.length) / maxLength,
    }),
  };
}

const cut = (markdown: string, maxLength: number): string[] =>
  Array.from(cutRichText(parsed(markdown), plain(maxLength)), ({ text }) => text);
const words = (count: number): string => Array.from({ length: count }, () => "word").join(" ");

describe("where a text is cut", () => {
  test("a text that fits is one piece, and an empty one is none", () => {
    expect(cut("x".repeat(100), 100)).toEqual(["x".repeat(100)]);
    expect(cut("", 100)).toEqual([]);
  });

  test.each<[string, string, string]>([
    ["a paragraph", `${words(5)}\nline. ${words(4)}\n\n`, words(9)],
    ["a line", `${words(5)}. A sentence\n`, `${words(5)}. ${words(9)}`],
    ["a sentence", `${words(5)} (really!) `, words(14)],
    ["a sentence in Japanese", "これは長い文章です。".repeat(6), "これは長い文章".repeat(2)],
    ["a word", `${words(13)} `, words(11)],
  ])("after %s", (_what, first, rest) => {
    expect(cut(first + rest, 66)[0]).toBe(first);
  });

  test("a word that is longer than half a message goes whole into the next", () => {
    expect(cut(`a few words ${"x".repeat(60)}`, 64)).toEqual(["a few words ", "x".repeat(60)]);
  });

  test("a word that is longer than a message is cut anywhere", () => {
    expect(cut("x".repeat(50), 20).map((text) => text.length)).toEqual([20, 20, 10]);
  });

  test("code that fits into a message of its own is not cut", () => {
    const code = Array.from({ length: 5 }, (_, at) => `line ${at}`).join("\n");
    expect(cut(`${words(10)}\n\`\`\`\n${code}\n\`\`\`\n${words(10)}`, 60)).toEqual([
      `${words(10)}\n`,
      `${code}\n`,
      words(10),
    ]);
  });

  test("code that is longer than a message goes on as code in the same language", () => {
    const pieces = [...cutRichText(parsed(`\`\`\`ts\n${"let x = 1;\n".repeat(40)}\`\`\``), plain(100))];
    expect(pieces.length).toBeGreaterThan(4);
    for (const { text, ranges } of pieces)
      expect(ranges).toEqual([{ kind: "pre", language: "ts", from: 0, to: text.length }]);
  });

  test("a heading stays with what it is about", () => {
    expect(cut(`${words(9)}\n\n# One\n## Two\n\n${words(9)}`, 64)).toEqual([
      `${words(9)}\n\n`,
      `One\nTwo\n\n${words(9)}`,
    ]);
  });

  test("formatting goes on in the next piece", () => {
    const [first, second] = cutRichText(
      parsed(`**${words(10)} [${words(10)}](https://a.example)**`),
      plain(64),
    );
    expect(first!.ranges).toEqual([
      { kind: "bold", from: 0, to: 60 },
      { kind: "link", url: "https://a.example/", from: 50, to: 60 },
    ]);
    expect(second!.ranges.map(({ kind, from }) => [kind, from])).toEqual([
      ["bold", 0],
      ["link", 0],
    ]);
  });
});

test("blank pieces are not sent", () => {
  const messages = [...renderRichText(parsed(`a\n\n\`\`\`\nx\n${"\n".repeat(500)}y\n\`\`\``), plain(50))];
  expect(messages.filter((message) => message !== undefined).map((message) => message.trim())).toEqual([
    "a\n\nx",
    "y",
  ]);
  expect(messages).toContain(undefined);
  expect([...renderRichText(parsed("\u200B \u2060\u2800"), plain(50))]).toEqual([undefined]);
});

/** Each stretch of text behind its formats. */
function marked(pieces: readonly RichText[]): string {
  let text = "";
  let last = "";
  for (const run of pieces.flatMap(runsOf)) {
    const formats = run.ranges.map((range) => JSON.stringify({ ...range, from: 0, to: 0 })).join();
    text += formats === last ? run.text : `${formats}|${run.text}`;
    last = formats;
  }
  return text;
}

describe("for every text", () => {
  const check = (law: (rich: RichText, maxLength: number) => void): void => {
    fc.assert(
      fc.property(longMarkdownTexts, fc.integer({ min: 30, max: 300 }), (markdown, maxLength) => {
        law(parsed(markdown), maxLength);
      }),
      { numRuns: 100 },
    );
  };

  test("the texts of the pieces are the text, and so are their ranges", () => {
    check((rich, maxLength) => {
      const pieces = [...cutRichText(rich, plain(maxLength))];
      expect(pieces.map(({ text }) => text).join("")).toBe(rich.text);
      expect(marked(pieces)).toBe(marked([rich]));
    });
  });

  test("no message is too long, by the platform's own counting", () => {
    check((rich, maxLength) => {
      for (const { message } of cutRichText(rich, plain(maxLength)))
        expect(message.fill).toBeLessThanOrEqual(1);
    });
  });

  test("graphemes stay whole", () => {
    check((rich, maxLength) => {
      const pieces = new Set([...cutRichText(rich, plain(maxLength))].flatMap(({ text }) => graphemes(text)));
      const whole = graphemes(rich.text).filter((grapheme) => grapheme.length < maxLength / 4);
      expect(whole.filter((grapheme) => !pieces.has(grapheme))).toEqual([]);
    });
  });

  test("there are not many more messages than needed", () => {
    check((rich, maxLength) => {
      const { fill } = plain(maxLength).render(rich);
      expect([...cutRichText(rich, plain(maxLength))].length).toBeLessThanOrEqual(8 * fill + 2);
    });
  });
});

test("ten times the text is ten times the work", () => {
  for (const unit of ["word ", "x", "*a* ", "# a\n", "`a`\n", "\n\na", "```\na\n```\n", "**a", "e\u0301"]) {
    const work = (length: number): number => {
      let counted = 0;
      const format = plain(2_000);
      const counting: MessageFormat = {
        ...format,
        render(piece) {
          counted += piece.text.length + piece.ranges.length;
          return format.render(piece);
        },
      };
      for (const _ of cutRichText(parsed(unit.repeat(Math.ceil(length / unit.length))), counting));
      return counted;
    };
    expect(work(400_000) / work(40_000)).toBeLessThan(12);
  }
});
