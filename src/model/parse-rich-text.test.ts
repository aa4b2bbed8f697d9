import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { markdownTexts, parsed } from "../../test/support/markdown-texts.ts";
import { WINDOW_LENGTH } from "./parse-rich-text.ts";
import { runsOf } from "./rich-text.ts";

/** `<kinds|text>` for each run with formatting. */
function shown(markdown: string): string {
  return runsOf(parsed(markdown))
    .map(({ text, ranges }) => {
      const formats = ranges.map((range) => {
        if (range.kind === "link") return `link=${range.url}`;
        if (range.kind === "heading") return `h${range.level}`;
        return range.kind === "pre" && range.language !== "" ? `pre=${range.language}` : range.kind;
      });
      return formats.length === 0 ? text : `<${formats.join(" ")}|${text}>`;
    })
    .join("");
}

describe("inline", () => {
  test("emphasis, code and strikethrough are ranges", () => {
    expect(shown("a **b *c*** `d` ~~e~~ __f__ _g_")).toBe(
      "a <bold|b ><bold italic|c> <code|d> <strike|e> <bold|f> <italic|g>",
    );
  });

  test("what is no markup stays as it was written", () => {
    for (const text of [
      "2 * 3 * 4",
      "snake_case_name",
      "**open",
      "`open",
      "a | b",
      "#hash",
      "5 > 3",
      "[^1] note",
      "[x]: y",
    ])
      expect(shown(text)).toBe(text);
    expect(shown("\\*not\\* &amp; &lt;b&gt; <i>")).toBe("*not* & <b> <i>");
  });

  test("line breaks are kept, also those that are written in HTML", () => {
    expect(shown("a\nb  \nc\\\nd<br>e<br />f")).toBe("a\nb\nc\nd\ne\nf");
  });

  test("addresses are links, and no markup", () => {
    expect(shown("see https://a.example/x_y_z_(1)*, (https://b.example).")).toBe(
      "see <link=https://a.example/x_y_z_(1)|https://a.example/x_y_z_(1)>*, (<link=https://b.example/|https://b.example>).",
    );
    expect(shown("https://de.example/Käse <https://a.example/%20>")).toBe(
      "<link=https://de.example/K%C3%A4se|https://de.example/Käse> <link=https://a.example/%20|https://a.example/%20>",
    );
    expect(shown("a.example, a@b.example, <a@b.example>")).toBe("a.example, a@b.example, a@b.example");
  });

  test("links keep the markup of their labels, and images are links", () => {
    expect(shown('[a **b** `c`](https://x.example "t")')).toBe(
      "<link=https://x.example/|a ><link=https://x.example/ bold|b><link=https://x.example/| ><link=https://x.example/ code|c>",
    );
    expect(shown("![an *image*](https://x.example/i.png)")).toBe("<link=https://x.example/i.png|an image>");
    expect(shown("[![badge](https://i.example)](https://x.example)")).toBe("<link=https://x.example/|badge>");
    expect(shown("[https://a.example ![b](c)](https://x.example)")).toBe(
      "https://a.example b (https://x.example)",
    );
    expect(shown("[](https://x.example)")).toBe("<link=https://x.example/|https://x.example>");
  });

  test.each([
    ["[a](http://localhost:80/)", "a (http://localhost:80/)"],
    ["[a](docs/x.md)", "a (docs/x.md)"],
    ["[a](tg://user?id=1)", "a (tg://user?id=1)"],
    ["[a](https://user:password@x.example)", "a (https://user:password@x.example)"],
    ["[a](mailto:b@c.example)", "a (b@c.example)"],
    ["[b@c.example](mailto:b@c.example)", "b@c.example"],
    ["[a](javascript:alert(1))", "[a](javascript:alert(1))"],
    ["[a]()", "a"],
    ["[https://good.example](https://evil.example)", "https://good.example (https://evil.example)"],
    [`[a](https://x.example/${"y".repeat(1_000)})`, `a (https://x.example/${"y".repeat(1_000)})`],
  ])("%s is no link that every platform takes, or it deceives", (markdown, text) => {
    expect(shown(markdown)).toBe(text);
  });

  test("math stays as it was written", () => {
    for (const math of [
      "$a_1 * b_1$ and $x_{1}*y_*$",
      "\\(a*b*c\\)",
      "\\[ x_1*x_2*x \\]",
      "$$a_1\n= b_1 * c_1$$",
    ])
      expect(shown(`so ${math} is`)).toBe(`so ${math} is`);
    expect(shown("text\n$$\n- a_1\n+ b_1 \\\\\n> c\n$$\nmore")).toBe(
      "text\n$$\n- a_1\n+ b_1 \\\\\n> c\n$$\nmore",
    );
    expect(shown("\\[\n# x\n\\]")).toBe("\\[\n# x\n\\]");
  });

  test("prices and escaped brackets are no math", () => {
    expect(shown("$5 **now** and 6$ later, $HOME and `$PATH`")).toBe(
      "$5 <bold|now> and 6$ later, $HOME and <code|$PATH>",
    );
    expect(shown("\\[not a link\\] **b**")).toBe("[not a link] <bold|b>");
    expect(shown("$$\n- a\n- b")).toBe("$$\n• a\n• b");
  });

  test("emoji, other scripts and their marks stay as they are", () => {
    const text = "👩‍👩‍👧 🇩🇪 e\u0301 مرحبا **بكم** \u202Bשלום\u202C 你好";
    expect(parsed(text).text).toBe(text.replaceAll("*", ""));
  });

  test("what no platform takes is replaced", () => {
    expect(parsed("a\0b\u001B[1mc\uD800d\te").text).toBe("a�b�[1mc�d\te");
    expect(parsed("a\r\nb\rc").text).toBe("a\nb\nc");
  });
});

describe("blocks", () => {
  test("lists have signs, and what belongs to an item stands below its text", () => {
    expect(shown("- a\n  b\n  - c\n    1. d\n- [ ] e\n- [x] f\n\n3) g\n10) h")).toBe(
      "• a\n  b\n  • c\n    1. d\n☐ e\n☑ f\n\n3) g\n10) h",
    );
    expect(shown("- - a\n-\n- \n  b")).toBe("• • a\n• \n• b");
    expect(shown("1. a\n\n   ```sh\n   b\n   ```\n2. ```\n   c\n   ```")).toBe(
      "1. a\n\n<pre=sh|b>\n2.\n<pre|c>",
    );
  });

  test("empty lines are kept, as one", () => {
    expect(shown("a\n\n\n\nb\n# c\nd\n\n\n- e\n\n- f\n")).toBe("a\n\nb\n<h1|c>\nd\n\n• e\n\n• f");
  });

  test("only the outermost quote is a range", () => {
    expect(shown("> a\n> > b\n> - c\n>\n> ```\n> d\n> ```\n\n- e\n  > f")).toBe(
      "<quote|a\n> b\n• c\n\n><quote pre|d>\n\n• e\n  > f",
    );
  });

  test("code keeps its language, its indent and the fences in it", () => {
    expect(shown("````c++ title\n  a\n```\n\nb **c**\n````")).toBe("<pre=c++|  a\n```\n\nb **c**>");
    expect(shown("a\n\n    b\n      c")).toBe("a\n\n<pre|b\n  c>");
    expect(shown("```\nnever closed")).toBe("<pre|never closed>");
    expect(shown("a\n```\n```\nb")).toBe("a\nb");
  });

  test("headings and rules", () => {
    expect(shown("# a *b*\n###### c\n***\nd\n---")).toBe(
      `<h1|a ><h1 italic|b>\n<h6|c>\n${"─".repeat(12)}\nd\n${"─".repeat(12)}`,
    );
  });

  test("a narrow table is aligned", () => {
    expect(shown("| a | b | c |\n|---|--:|:-:|\n| 日本 | **x** | `y` |\n| 1 | 22222 | 333 |\n| z |")).toBe(
      "<pre|a    │     b │  c\n─────┼───────┼────\n日本 │     x │  y\n1    │ 22222 │ 333\nz    │       │>",
    );
  });

  test("a wide table, and one with links, is a list", () => {
    const wide = "w".repeat(50);
    expect(shown(`| a | b |\n|-|-|\n| ${wide} | **x** |\n| | y<br>z |`)).toBe(
      `<bold|a>: ${wide}\n<bold|b>: <bold|x>\n\n<bold|b>: y z`,
    );
    expect(shown("| a | |\n|-|-|\n| [x](https://x.example) | y |")).toBe(
      "<bold|a>: <link=https://x.example/|x>\ny",
    );
  });

  test("a table that would become much longer is lines", () => {
    const head = "h".repeat(2_000);
    const table = parsed(`| ${head} |\n|-|\n${"| a |\n".repeat(2_000)}`).text;
    expect(table.length).toBeLessThan(head.length + 3 * 2_000);
    expect(parsed(`| ${head} | b |\n|-|-|\n`).text).toBe(`${head} │ b`);
  });

  test("what is nested too deep to be parsed is text as written", () => {
    for (const deep of [`${"> ".repeat(30)}words`, `${"- ".repeat(30)}words`])
      expect(parsed(deep).text).toContain("words");
  });
});

describe("long texts", () => {
  const paragraphs = (count: number): string =>
    Array.from({ length: count }, (_, at) => `Paragraph **${at}**.`).join("\n\n");

  test("windows leave no trace", () => {
    const rich = parsed(paragraphs(3_000));
    expect(rich.text).toBe(paragraphs(3_000).replaceAll("*", ""));
    expect(rich.ranges).toHaveLength(3_000);
  });

  test("code longer than a window is one range", () => {
    const code = Array.from({ length: 5_000 }, (_, at) => `# ${at}`).join("\n");
    expect(shown(`a\n\`\`\`py\n${code}\n\`\`\`\n# b`)).toBe(`a\n<pre=py|${code}>\n<h1|b>`);
    expect(shown(`\`\`\`\n${code}`)).toBe(`<pre|${code}>`);
  });

  test("code that ends with a window is over", () => {
    for (let length = WINDOW_LENGTH - 40; length < WINDOW_LENGTH; length++) {
      const code = `${"x".repeat(80)}\n`.repeat(1_000).slice(0, length - 9);
      const line = "y".repeat(WINDOW_LENGTH / 2);
      expect(shown(`\`\`\`\n${code}\n\`\`\`\n${line}\n\n**z**`)).toBe(`<pre|${code}>\n${line}\n\n<bold|z>`);
    }
  });

  test("a line of code longer than a window is code", () => {
    const code = `a\n${"x".repeat(3 * WINDOW_LENGTH)}\n\nb`;
    expect(shown(`\`\`\`\n${code}\n\`\`\`\nc`)).toBe(`<pre|${code}>\nc`);
  });

  test("a list or a quote longer than a window goes on", () => {
    const list = Array.from({ length: 3_000 }, () => "1. item\n   - part").join("\n");
    expect(parsed(list).text).toBe(list.replaceAll("-", "•"));
    const quote = "> line\n".repeat(5_000);
    expect(parsed(quote).text).toBe("line\n".repeat(5_000).trimEnd());
  });

  test("a line longer than a window is text as written", () => {
    const long = "**long** ".repeat(WINDOW_LENGTH / 4);
    expect(shown(`# a\n${long}\n\n**b**`)).toBe(`<h1|a>\n${long}\n\n<bold|b>`);
  });

  test("no character and no line end is cut by a window", () => {
    for (let at = 0; at < 4; at++) {
      const text = `${"x".repeat(at)}${"😀\r\n".repeat(WINDOW_LENGTH)}`;
      expect(parsed(text).text).toBe(text.replaceAll("\r", "").trimEnd());
      expect(parsed("x".repeat(at) + "😀".repeat(WINDOW_LENGTH)).text).not.toContain("\uFFFD");
    }
  });
});

describe("for every text", () => {
  const check = (law: (markdown: string) => void): void => {
    fc.assert(fc.property(markdownTexts, law), { numRuns: 200 });
  };

  test("ranges are sorted, nested and not empty", () => {
    check((markdown) => {
      const { text, ranges } = parsed(markdown);
      const open: (typeof ranges)[number][] = [];
      let from = 0;
      for (const range of ranges) {
        expect(range.from).toBeGreaterThanOrEqual(from);
        from = range.from;
        expect(range.to).toBeGreaterThan(range.from);
        while (open.length > 0 && open.at(-1)!.to <= range.from) open.pop();
        expect(open.map(({ kind }) => kind)).not.toContain(range.kind);
        expect(open.map(({ kind }) => kind)).not.toContain("pre");
        expect(range.to).toBeLessThanOrEqual(open.at(-1)?.to ?? text.length);
        open.push(range);
      }
    });
  });

  test("code stands in lines of its own", () => {
    check((markdown) => {
      const { text, ranges } = parsed(markdown);
      for (const { kind, from, to } of ranges) {
        if (kind !== "pre") continue;
        expect(text[from - 1] ?? "\n").toBe("\n");
        expect(text[to] ?? "\n").toBe("\n");
      }
    });
  });

  test("no word is lost", () => {
    const word = fc.stringMatching(/^[a-z]{5,9}$/);
    fc.assert(
      fc.property(markdownTexts, fc.array(word, { minLength: 1, maxLength: 8 }), (markdown, words) => {
        const text = parsed(words.map((each) => `${each}\n${markdown}\n\n`).join("")).text;
        for (const each of words) expect(text).toContain(each);
      }),
      { numRuns: 200 },
    );
  });

  test("paragraphs are parsed one by one", () => {
    fc.assert(
      fc.property(fc.array(markdownTexts, { maxLength: 5 }), (texts) => {
        const separate = texts.map((text) => `paragraph\n\n${text}\n\nparagraph`);
        const whole = parsed(separate.join("\n\n"));
        fc.pre(!/```|~~~/.test(texts.join("")));
        expect(whole.text).toBe(separate.map((text) => parsed(text).text).join("\n\n"));
      }),
    );
  });
});
