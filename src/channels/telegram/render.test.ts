import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { longMarkdownTexts, parsed } from "../../../test/support/markdown-texts.ts";
import { cutRichText, renderRichText } from "../../model/cut-rich-text.ts";
import { type RichText, runsOf, trimRichText } from "../../model/rich-text.ts";
import { telegramFormat } from "./render.ts";

interface SentMessage {
  readonly text: string;
  readonly entities: readonly SentEntity[];
}

interface SentEntity {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
}

const JOINER = "\u2060";

function sent(piece: RichText): SentMessage {
  return JSON.parse(telegramFormat.render(piece).wire) as SentMessage;
}

/** `type:text` for each entity. */
function entities(markdown: string): string[] {
  const { text, entities } = sent(parsed(markdown));
  return entities.map(({ type, offset, length, url, language }) =>
    [type, url, language, text.slice(offset, offset + length)].filter((part) => part !== undefined).join(":"),
  );
}

test("formatting becomes entities", () => {
  expect(entities("# T *i*\n**b** ~~s~~ `c`\n> q\n\n```ts\nx\n```\n[l](https://a.example/)")).toEqual([
    "bold:T i",
    "italic:i",
    "bold:b",
    "strikethrough:s",
    "code:c",
    "blockquote:q",
    "pre:ts:x",
    "text_link:https://a.example/:l",
  ]);
});

test("code is in nothing but quotes, and a link wins over code", () => {
  expect(entities("**a `b` c**")).toEqual(["bold:a ", "code:b", "bold: c"]);
  expect(entities("> **a** `b`\n> ```\n> c\n> ```")).toEqual([
    "blockquote:a b\nc",
    "bold:a",
    "code:b",
    "pre:c",
  ]);
  expect(entities("[`a` **b**](https://a.example/)")).toEqual(["text_link:https://a.example/:a b", "bold:b"]);
});

test("nothing is in its like", () => {
  expect(entities("# a **b** [**c**](https://a.example/)")).toEqual([
    "bold:a b c",
    "text_link:https://a.example/:c",
  ]);
});

test("offsets are in UTF-16 units", () => {
  expect(entities("👩‍👩‍👧 **b**")).toEqual(["bold:b"]);
});

test("no name is mentioned", () => {
  expect(sent(parsed("@alice (@bob_1) @**carol** a@b.example")).text).toBe(
    `@${JOINER}alice (@${JOINER}bob_1) @${JOINER}carol a@b.example`,
  );
  expect(sent(parsed("`@property` https://a.example/@alice")).text).toBe(
    "@property https://a.example/@alice",
  );
});

test("many entities, or long addresses, make more messages", () => {
  const messages = [...renderRichText(parsed("`a` ".repeat(350)), telegramFormat)];
  expect(messages).toHaveLength(4);
  const links = [
    ...renderRichText(parsed(`[a](https://a.example/${"x".repeat(900)}) `.repeat(12)), telegramFormat),
  ];
  expect(links).toHaveLength(2);
});

describe("for every text", () => {
  const check = (law: (message: SentMessage, piece: RichText) => void): void => {
    fc.assert(
      fc.property(longMarkdownTexts, (markdown) => {
        for (const piece of cutRichText(parsed(markdown), telegramFormat)) {
          const trimmed = trimRichText(piece);
          law(sent(trimmed), trimmed);
        }
      }),
      { numRuns: 200 },
    );
  };

  test("a message shows the text of its piece, and not too much of it", () => {
    check(({ text, entities }, piece) => {
      expect(text.replaceAll(JOINER, "")).toBe(piece.text.replaceAll(JOINER, ""));
      expect(text.length).toBeLessThanOrEqual(4_096);
      expect(entities.length).toBeLessThanOrEqual(100);
    });
  });

  test("Telegram takes all entities as they are", () => {
    check(({ text, entities }) => {
      expect(faultsOf(text, entities)).toEqual([]);
    });
  });

  /** As TDLib looks for them: `match_mentions`. */
  test("no name is mentioned", () => {
    check(({ text, entities }) => {
      for (const { index, 0: name } of text.matchAll(/(?<![\p{L}\p{N}_])@\w{2,32}(?![\p{L}\p{N}_])/gu))
        expect(
          entities.some(
            ({ type, offset, length }) =>
              /^(code|pre|text_link)$/.test(type) && offset < index + name.length && offset + length > index,
          ),
        ).toBe(true);
    });
  });

  test("all text outside of code has the formatting of its piece", () => {
    check(({ text, entities }, piece) => {
      const types = text.split("").map((): string[] => []);
      for (const { type, offset, length } of entities)
        for (let at = offset; at < offset + length; at++) types[at]?.push(type);
      const shown = types.filter((_, at) => text[at] !== JOINER);
      const expected = runsOf(piece).flatMap((run) =>
        run.text
          .replaceAll(JOINER, "")
          .split("")
          .map(() => run.ranges.map(({ kind }) => TYPES[kind])),
      );
      expect(shown).toHaveLength(expected.length);
      const differences = expected.filter((wanted, at) => {
        const isCode = wanted.includes("code") || wanted.includes("pre");
        return isCode
          ? !shown[at]!.some((type) => /^(code|pre|text_link)$/.test(type))
          : [...new Set(wanted)].toSorted().join() !== shown[at]!.toSorted().join();
      });
      expect(differences).toEqual([]);
    });
  });
});

/** By the rules of TDLib: `are_entities_valid`, `check_link`, `clean_input_string_with_entities`. */
function faultsOf(text: string, entities: readonly SentEntity[]): string[] {
  const faults: string[] = [];
  const open: SentEntity[] = [];
  let last = 0;
  for (const entity of entities) {
    const { type, offset, length, url } = entity;
    const end = offset + length;
    while (open.length > 0 && open.at(-1)!.offset + open.at(-1)!.length <= offset) open.pop();
    const outer = open.map((each) => each.type);
    const isCode = type === "pre" || type === "code";
    const rules = {
      "is not sorted": offset < last,
      "is empty or outside": length <= 0 || end > text.length,
      "cuts a character": !text.slice(offset, end).isWellFormed(),
      overlaps: open.length > 0 && end > open.at(-1)!.offset + open.at(-1)!.length,
      "is in its like": outer.includes(type),
      "is in code": outer.includes("pre") || outer.includes("code"),
      "is code in something": isCode && outer.some((each) => each !== "blockquote"),
      "is in a link": (type === "blockquote" || type === "text_link") && outer.includes("text_link"),
      "has no valid address": url !== undefined && !/^https?:\/\/[\w-]+(\.[\w-]+)+(:[1-9]\d*)?\//.test(url),
    };
    for (const [rule, isBroken] of Object.entries(rules))
      if (isBroken) faults.push(`${type} at ${offset} ${rule}`);
    last = offset;
    open.push(entity);
  }
  return faults;
}

const TYPES = {
  bold: "bold",
  heading: "bold",
  italic: "italic",
  strike: "strikethrough",
  code: "code",
  pre: "pre",
  link: "text_link",
  quote: "blockquote",
} as const;
