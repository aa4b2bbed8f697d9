import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { drawTerminal, rowsOf } from "../docs/images/terminal-svg.ts";

const MAX_PICTURE_BYTES = 150 * 1024;

test("text is cut into pieces of one look, each at its column", () => {
  expect(rowsOf("a\u001B[1;36mbc\u001B[22m d\u001B[39me\nf", 80)).toEqual([
    [
      { text: "a", column: 0, classes: [] },
      { text: "bc", column: 1, classes: ["bold", "cyan"] },
      { text: " d", column: 3, classes: ["cyan"] },
      { text: "e", column: 5, classes: [] },
    ],
    [{ text: "f", column: 0, classes: [] }],
  ]);
});

test("rows that are too long are broken, and wide characters take two columns", () => {
  const texts = rowsOf("abcdef\n日本語", 4).map((row) => row.map(({ text }) => text).join(""));
  expect(texts).toEqual(["abcd", "ef", "日本", "語"]);
});

test("what is shown cannot become part of the picture's language", () => {
  const picture = drawTerminal(['<a href="x">&'], { title: "<t>", columns: 80, rows: 2, pageMs: 1_000 });
  expect(picture).toContain("&lt;a href=&quot;x&quot;&gt;&amp;");
  expect(picture).toContain("<title>&lt;t&gt;</title>");
});

test("the picture of the demo is small, asks nobody for anything, and shows the last step", () => {
  const picture = readFileSync(new URL("../docs/images/demo.svg", import.meta.url), "utf8");
  expect(Buffer.byteLength(picture)).toBeLessThan(MAX_PICTURE_BYTES);
  expect(picture.match(/https?:[^"]*|url\(|@import|<image/g)).toEqual(["http://www.w3.org/2000/svg"]);
  expect(picture).toContain("8/8 The ledger");
});
