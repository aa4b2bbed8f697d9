/** Markdown as models write it, and worse. */
import * as fc from "fast-check";

import type { Sliced } from "../../src/model/in-slices.ts";
import { parseRichText } from "../../src/model/parse-rich-text.ts";
import type { RichText } from "../../src/model/rich-text.ts";

/** Without pauses. */
export function parsed(markdown: string): RichText {
  return result(parseRichText(markdown));
}

function result<Result>(work: Sliced<Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Texts that are markup or mentions on some platform. */
const FORGED = [
  "@everyone",
  "@here",
  "@channel",
  "@alice",
  "(@bob_1)",
  "<@123>",
  "<@!123>",
  "<@&1>",
  "<#456>",
  "<!channel>",
  "<!here|x>",
  "<@U012|x>",
  "<https://evil.example|label>",
  "<t:1:R>",
  "<:emoji:1>",
  ":smile:",
  "12:30:45",
  "||spoiler||",
  "__under__",
  "-# small",
  ">>> all",
  "&lt;!channel&gt;",
  "&amp;",
  "snake_case_name",
  "2 * 3 * 4",
  "a*b*c",
  "\\",
  "C:\\new_dir\\*",
  "`",
  "``",
  "](x)",
  "[1]",
  "~",
  "#tag",
  "¯\\\\_(ツ)_/¯",
];
const WORDS = [
  "word",
  "Wörter",
  "你好世界",
  "👩‍👩‍👧",
  "e\u0301",
  "مرحبا بكم",
  "שלום",
  "10",
  "a.b",
  "end.",
  "(x)",
  "one two three",
];
const LINKS = [
  "https://a.example/x_y_(z)",
  "<https://a.example/*b*>",
  "[label](https://a.example/_b_)",
  "[**bold** label](https://a.example/(x))",
  "[`code`](https://a.example)",
  "[[1]](https://a.example/1)",
  "[https://b.example](https://a.example)",
  "[open \\[ bracket](https://a.example)",
  "[local](http://localhost:80)",
  "![alt](https://a.example/i.png)",
  "[![badge](https://b.example/i)](https://a.example)",
  "[](https://a.example)",
  "[mail](mailto:a@b.example)",
];
const MATH = ["$a_1*b_2*c$", "\\(x_*\\)", "$$y_i^*$$", "costs $5 and $6"];

const SIGNS = "* _ ~ ` | [ ] ( ) < > # - + ! \\ 1 . @ : & $".split(" ").concat(" ", "\n");

const atom = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 3, arbitrary: fc.constantFrom(...FORGED) },
  { weight: 1, arbitrary: fc.constantFrom(...LINKS) },
  { weight: 1, arbitrary: fc.constantFrom(...MATH) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: fc.constantFrom(...SIGNS), maxLength: 12 }),
  },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 10 }) },
);

const { inline } = fc.letrec<{ inline: string; styled: string }>((tie) => ({
  styled: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    atom,
    fc
      .tuple(fc.constantFrom("*", "_", "**", "__", "~~", "***", "`", "``"), tie("inline"))
      .map(([sign, text]) => sign + text + sign),
  ),
  inline: fc
    .array(fc.tuple(tie("styled"), fc.constantFrom(" ", " ", " ", "", "\n", "  \n")), {
      minLength: 1,
      maxLength: 4,
    })
    .map((parts) => parts.flat().join("").trimEnd()),
}));

const line = inline.map((text) => text.replaceAll("\n", " "));
const cell = line.map((text) => text.replaceAll("|", "\\|"));

const { block } = fc.letrec<{ block: string; blocks: string }>((tie) => ({
  block: fc.oneof(
    { maxDepth: 4, depthSize: "small", withCrossShrink: true },
    inline,
    fc.tuple(fc.integer({ min: 1, max: 6 }), line).map(([level, text]) => `${"#".repeat(level)} ${text}`),
    fc
      .tuple(
        fc.constantFrom("- ", "* ", "1. ", "7) ", "- [ ] ", "- [x] "),
        fc.array(tie("blocks"), { minLength: 1, maxLength: 2 }),
      )
      .map(([sign, items]) =>
        items.map((item) => sign + item.replaceAll("\n", `\n${" ".repeat(sign.length)}`)).join("\n"),
      ),
    tie("blocks").map((text) => text.replaceAll(/^/gm, "> ")),
    fc
      .tuple(
        fc.constantFrom("```", "````", "~~~"),
        fc.constantFrom("", "ts", "c# x", "\u202E"),
        fc.string({
          unit: fc.constantFrom("a", "`", "```", "\n", "    ", "@everyone", "<@1>", "中"),
          maxLength: 20,
        }),
      )
      .map(([fence, info, code]) => `${fence}${info}\n${code}\n${fence}`),
    fc
      .tuple(fc.integer({ min: 1, max: 4 }), fc.array(cell, { minLength: 4, maxLength: 12 }))
      .map(([columns, cells]) => {
        const rows: string[] = [];
        for (let at = 0; at < cells.length; at += columns)
          rows.push(`| ${cells.slice(at, at + columns).join(" | ")} |`);
        rows.splice(1, 0, `|${"---|".repeat(columns)}`);
        return rows.join("\n");
      }),
    fc.constantFrom("---", "***", "$$\n- a_1\n+ b_2\n$$", "\\[\nx_1\n\\]", "    code\n\n      more"),
  ),
  blocks: fc
    .array(fc.tuple(tie("block"), fc.constantFrom("\n", "\n\n", "\n\n", "\r\n\r\n")), {
      minLength: 1,
      maxLength: 2,
    })
    .map((parts) => parts.flat().join("").trimEnd()),
}));

export const markdownTexts: fc.Arbitrary<string> = fc
  .array(fc.tuple(block, fc.constantFrom("\n", "\n\n", "\n\n", "\n \n")), { maxLength: 5 })
  .map((parts) => parts.flat().join(""));

/** Long enough to be cut. */
export const longMarkdownTexts: fc.Arbitrary<string> = fc
  .tuple(markdownTexts, fc.integer({ min: 1, max: 5 }))
  .map(([text, times]) => `${text}\n\n`.repeat(times));
