import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { type ChunkOptions, chunkText as chunksOf, MIN_CHUNK_LENGTH, splitText } from "./chunk-text.ts";

const chunkText = (text: string, options: ChunkOptions) => [...chunksOf(text, options)];
const limit = (maxLength: number) => ({ maxLength });
const words = (count: number, word = "word") => Array.from({ length: count }, () => word).join(" ");

describe("where a text is cut", () => {
  test("a text that fits is one chunk, and an empty one is none", () => {
    expect(chunkText("x".repeat(100), limit(100))).toEqual(["x".repeat(100)]);
    expect(chunkText("", limit(100))).toEqual([]);
    expect(chunkText("x".repeat(500), limit(Number.POSITIVE_INFINITY))).toHaveLength(1);
  });

  test.each<[string, string, string]>([
    ["a paragraph", `${words(5)}\nline. ${words(4)}\n\n`, words(9)],
    ["a line", `${words(5)}. A sentence\n`, `${words(5)}. ${words(9)}`],
    ["a sentence", `${words(5)} (really!) `, words(14)],
    ["a sentence in Japanese", "これは長い文章です。".repeat(6), "これは長い文章".repeat(2)],
    ["a word", `${words(13)} `, words(11)],
  ])("after %s", (_what, first, rest) => {
    expect(chunkText(first + rest, limit(66))[0]).toBe(first);
  });

  test("a word that is longer than half a chunk goes whole into the next", () => {
    const long = "x".repeat(60);
    expect(chunkText(`a few words ${long}`, limit(64))).toEqual(["a few words ", long]);
  });

  test("a word that is longer than a chunk is cut anywhere", () => {
    expect(chunkText("x".repeat(50), limit(20)).map((chunk) => chunk.length)).toEqual([20, 20, 10]);
  });

  test("what looks like one character stays one", () => {
    const family = "👨‍👩‍👧‍👦";
    for (const chunk of chunkText(family.repeat(20), limit(40))) {
      expect(chunk.replaceAll(family, "")).toBe("");
    }
  });

  test("a single grapheme that is too long is cut between code points", () => {
    const flood = `z${"\u0301😀\u200d".repeat(30)}`;
    const chunks = chunkText(flood, limit(16));
    expect(chunks.join("")).toBe(flood);
    for (const chunk of chunks) expect(chunk.isWellFormed()).toBe(true);
  });

  test.each([0, MIN_CHUNK_LENGTH - 1, Number.NaN])("a limit of %d is refused", (maxLength) => {
    expect(() => chunkText("text", limit(maxLength))).toThrow(
      expect.objectContaining({ code: "limit_invalid" }),
    );
  });
});

describe("fences of code", () => {
  const code = (lines: number) => Array.from({ length: lines }, (_, i) => `const a${i} = ${i};`).join("\n");

  test("one that fits begins a chunk of its own instead of being cut", () => {
    const fence = `\`\`\`ts\n${code(5)}\n\`\`\`\n`;
    const chunks = chunkText(`${words(10)}\n${fence}`, limit(110));
    expect(chunks).toEqual([`${words(10)}\n`, fence]);
  });

  test("one that is too long is closed and opened again with its info string", () => {
    const chunks = chunkText(`\`\`\`ts twoslash\n${code(40)}\n\`\`\`\nDone.`, limit(200));
    for (const chunk of chunks) expect(chunk).toMatch(/^```ts twoslash\n(const.*;\n)+```(\nDone\.)?$/);
  });

  test("tildes, long runs and fences in lists are closed with what opened them", () => {
    for (const [opener, closer] of [
      ["~~~~py", "~~~~"],
      ["  `````", "`````"],
    ]) {
      const chunks = chunkText(`- item\n${opener}\n\`\`\`\n${code(20)}\n${closer}`, limit(160));
      for (const chunk of chunks.slice(1)) {
        expect(chunk.startsWith(`${opener}\n`) && chunk.endsWith(`\n${closer}`)).toBe(true);
      }
    }
  });

  test("one that the model left open is closed", () => {
    expect(chunkText("```\ncode", limit(100))).toEqual(["```\ncode\n```"]);
    expect(chunkText(`${words(10)}\n\`\`\`\nabcd`, limit(60))).toEqual([`${words(10)}\n`, "```\nabcd\n```"]);
  });

  test("a closing line is not left over as an empty fence", () => {
    const text = `\`\`\`\n${"x".repeat(40)}\n\`\`\`\nmore text after it`;
    expect(chunkText(text, limit(49))[0]).toBe(`\`\`\`\n${"x".repeat(40)}\n\`\`\`\n`);
  });

  test("code within a line opens nothing", () => {
    expect(chunkText(`\`\`\`not a fence\`\`\`\n${words(30)}`, limit(100))[1]).toMatch(/^word/);
  });
});

describe("for every text", () => {
  const bytes = (text: string) => Buffer.byteLength(text);
  const codePoints = (text: string) => Array.from(text).length;
  const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").length;
  const measures = fc.constantFrom(undefined, bytes, codePoints, escaped);
  const part = fc.oneof(
    { weight: 6, arbitrary: fc.lorem({ maxCount: 30, mode: "sentences" }) },
    { weight: 2, arbitrary: fc.string({ unit: "grapheme", maxLength: 60 }) },
    { weight: 2, arbitrary: fc.constantFrom("\n", "\n\n", "\r\n", "   ", "\n \t\n", "a<b && c<d") },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "👨‍👩‍👧‍👦",
        "🇩🇪🇫🇷",
        "e\u0301",
        " \u0308",
        "한국어",
        "界".repeat(40),
        "x".repeat(150),
      ),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom("\n```ts\n", "\n```\n", "\n~~~\n", "\n````\n", "\n~~~~sh\n", "\n  ```\n"),
    },
  );
  const texts = fc.array(part, { maxLength: 60 }).map((parts) => parts.join(""));
  const inputs = fc.record({ text: texts, maxLength: fc.integer({ min: 64, max: 400 }), measure: measures });
  const check = (
    body: (text: string, options: { maxLength: number; measure?: (text: string) => number }) => void,
  ) => {
    fc.assert(
      fc.property(inputs, ({ text, maxLength, measure }) => {
        body(text, { maxLength, ...(measure === undefined ? {} : { measure }) });
      }),
      { numRuns: 400 },
    );
  };

  test("the bodies of the pieces are the text", () => {
    check((text, options) => {
      expect(Array.from(splitText(text, options), ({ body }) => body).join("")).toBe(text);
    });
  });

  test("no chunk is longer than the platform takes, by its own counting", () => {
    check((text, options) => {
      const { maxLength, measure = (each: string) => each.length } = options;
      for (const chunk of chunkText(text, options)) expect(measure(chunk)).toBeLessThanOrEqual(maxLength);
    });
  });

  test("every chunk closes the code that it opens", () => {
    check((text, options) => {
      for (const chunk of chunkText(text, options)) expect(isBalanced(chunk)).toBe(true);
    });
  });

  test("graphemes stay whole", () => {
    const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
    check((text, options) => {
      const { maxLength, measure = (each: string) => each.length } = options;
      const segments = segmenter.segment(text);
      let at = 0;
      for (const { body } of splitText(text, options)) {
        at += body.length;
        const grapheme = segments.containing(at);
        if (grapheme === undefined || measure(grapheme.segment) > maxLength / 2) continue;
        expect(grapheme.index).toBe(at);
      }
    });
  });

  test("there are not many more chunks than needed", () => {
    check((text, options) => {
      const { maxLength, measure = (each: string) => each.length } = options;
      expect(chunkText(text, options).length).toBeLessThanOrEqual(8 * (measure(text) / maxLength) + 2);
    });
  });

  /** A reader of its own: what opens must close, by the rules of markdown. */
  function isBalanced(chunk: string): boolean {
    let open = "";
    for (const line of chunk.split("\n")) {
      const run = /^[ \t]*(```+|~~~+)/.exec(line)?.[1];
      if (run === undefined) continue;
      const info = line.trim().slice(run.length);
      if (open === "") open = run[0] === "`" && info.includes("`") ? "" : run;
      else if (run.startsWith(open) && info.trim() === "") open = "";
    }
    return open === "";
  }
});

describe("ten megabytes", () => {
  const MEGABYTE = 1024 * 1024;

  test.each<[string, string]>([
    ["of prose", `${words(12)}. `],
    ["without a blank", "x"],
    ["of code", "    let x = 1;\n"],
    ["of line ends", "\n"],
    ["of backticks", "`"],
  ])("%s cost ten times what one costs", (_what, unit) => {
    const work = (size: number): number => {
      let counted = 0;
      const text = `\`\`\`ts\n${unit.repeat(Math.ceil(size / unit.length))}`;
      const measure = (each: string): number => {
        counted += each.length;
        return each.length;
      };
      const chunks = chunkText(text, { maxLength: 2000, measure });
      expect(chunks.length).toBeLessThan((4 * size) / 2000);
      return counted;
    };
    const ratio = work(10 * MEGABYTE) / work(MEGABYTE);
    expect(ratio).toBeGreaterThan(9);
    expect(ratio).toBeLessThan(11);
  });
});
