import * as fc from "fast-check";
import { expect, test } from "vitest";

import {
  bodyLines,
  checkedLine,
  MAX_PROGRESS_LENGTH,
  MAX_SUMMARY_LENGTH,
  oneLine,
  summaryLines,
} from "./block-text.ts";
import { MAX_BODY_LENGTH, MAX_TITLE_LENGTH } from "./task.ts";
import { outlineOf } from "./outline.ts";

const FILE = outlineOf("");
const body = (text: string, file = ""): string => bodyLines(text, outlineOf(file)).join("\n");
const summary = (text: string, file = ""): string => summaryLines(text, outlineOf(file)).join("\n");

test("a body stays as it is, without empty lines at both ends", () => {
  expect(body("\n \r\nOne\r\n\r\n  Two\t\n### Detail\n\n")).toBe("One\n\n  Two\t\n### Detail");
});

test.each([
  ["## Evil\n**Status:** ready", "### Evil\n**Status:** ready"],
  ["# Top", "### Top"],
  ["## Summary\nx\n### Progress", "#### Summary\nx\n#### Progress"],
  [
    "**Status:** done\n\n **Completed:** x\nText\n**Status:** y",
    "\\*\\*Status:** done\n\n \\*\\*Completed:** x\nText\n**Status:** y",
  ],
  ["x <!-- cortex:last-tick 2026-03-28T10:15 -->", "x &lt;!-- cortex:last-tick 2026-03-28T10:15 -->"],
  ["```\n## in code\n```", "```\n## in code\n```"],
  ["  ````sh\n## in code", "  ````sh\n## in code\n````"],
  ["<!-- open\n## Evil", "&lt;!-- open\n### Evil"],
  ["\uFEFF```\n## Evil\n**Status:** ready", "```\n## Evil\n**Status:** ready\n```"],
  [" \n\uFEFF\n\uFEFF# Evil", "### Evil"],
  ["a\u001B[31mb\0c\uD83D", "a[31mbc\uFFFD"],
])("the body %j is written as %j", (text, written) => {
  expect(body(text)).toBe(written);
});

test("where the file has an open fence or comment, a text cannot close it", () => {
  expect(body("```\n## x\n```\n-->", "```js\n")).toBe("    ```\n### x\n    ```\n--&gt;");
  expect(summary("~~~\n<!-- x -->\n~~~", "<!-- open\n")).toBe("    ~~~\n&lt;!-- x --&gt;\n    ~~~");
});

test("headings of a summary stay below it", () => {
  expect(summary("# A\n## B\n### Summary\n#### D")).toBe("#### A\n#### B\n#### Summary\n#### D");
});

test("a task without a summary says so", () => {
  expect(summary(" \n")).toBe("(no summary)");
});

test("what is too long is cut, or refused where a person can shorten it", () => {
  expect(oneLine("x".repeat(MAX_PROGRESS_LENGTH + 1))).toBe(`${"x".repeat(MAX_PROGRESS_LENGTH - 1)}…`);
  expect(oneLine("x".repeat(MAX_PROGRESS_LENGTH))).toHaveLength(MAX_PROGRESS_LENGTH);
  expect(summaryLines("x".repeat(MAX_SUMMARY_LENGTH + 1), FILE)[0]).toHaveLength(MAX_SUMMARY_LENGTH);
  expect(bodyLines("x".repeat(MAX_BODY_LENGTH), FILE)).toHaveLength(1);
  expect(checkedLine("title", "x".repeat(MAX_TITLE_LENGTH))).toHaveLength(MAX_TITLE_LENGTH);
  const refused = expect.objectContaining({ code: "request_invalid" }) as Error;
  expect(() => bodyLines("x".repeat(MAX_BODY_LENGTH + 1), FILE)).toThrow(refused);
  expect(() => checkedLine("title", "x".repeat(MAX_TITLE_LENGTH + 1))).toThrow(refused);
});

test.each(["", " \n", "a\nb", "a\rb", "a\u2028b", "a\0b", "a\tb", "\uD83D", "a <!-- b"])(
  "%j is no title",
  (title) => {
    expect(() => checkedLine("title", title)).toThrow(expect.objectContaining({ code: "request_invalid" }));
  },
);

test("what closes a comment of the file is not made by taking a control character out of a text", () => {
  const above = outlineOf("<!-- open\n");
  for (const lines of [bodyLines("--\0>", above), summaryLines("--\0>", above)])
    expect(lines).toEqual(["--&gt;"]);
});

test("no text has a heading that a task file would see, and none stays open", () => {
  const unit = fc.constantFrom(
    "#",
    "# ",
    "## ",
    "## A",
    "`",
    "```",
    "~~~",
    "<!--",
    "-->",
    "\n",
    "\n",
    " ",
    "x",
    "*",
    "-",
    ">",
    "\0",
    "\r",
  );
  fc.assert(
    fc.property(fc.string({ unit }), fc.constantFrom("", "```\n", "<!-- \n"), (text, file) => {
      const above = outlineOf(file);
      for (const lines of [bodyLines(text, above), summaryLines(text, above)]) {
        const { headings, unclosed } = outlineOf(`${file}${lines.join("\n")}\n## Next\n`);
        expect(headings.filter(({ level }) => level <= 2).map(({ title }) => title)).toEqual(["Next"]);
        expect(unclosed).toHaveLength(above.unclosed.length);
      }
    }),
    { numRuns: 2_000 },
  );
});
