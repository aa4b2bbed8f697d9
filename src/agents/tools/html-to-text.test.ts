import * as fc from "fast-check";
import { expect, test } from "vitest";

import { htmlToText } from "./html-to-text.ts";

const base = new URL("https://example.com/docs/page");
const { signal } = new AbortController();

async function textOf(html: string): Promise<string> {
  return (await htmlToText(html, { base, signal })).text;
}

test.each([
  ["headings", "<h1>One</h1><h3 class=x>Three</h3>text", "# One\n\n### Three\n\ntext"],
  ["paragraphs", "<p>a<p>b</p>\n<div>c</div><div>d</div>", "a\n\nb\n\nc\nd"],
  ["white space", "  a \n\t b&nbsp;&nbsp;c <b> d</b>", "a b c d"],
  ["line breaks", "a<br>b<br/><br/>c", "a\nb\n\nc"],
  ["lists", "<ul><li>a<li>b<ol><li>c</li><li>d</li></ol></ul>e", "- a\n- b\n  1. c\n  2. d\n\ne"],
  ["items of no list", "<li>a<li>b</ul></ol>c", "- a\n- b\n\nc"],
  ["links", '<a href="/x?a=1&amp;b=2">here</a>', "[here](https://example.com/x?a=1&b=2)"],
  ["links relative to the page", "<a href=next>next</a>", "[next](https://example.com/docs/next)"],
  [
    "links that are none",
    "<a href='#top'>up</a> <a href='javascript:x()'>run</a> <a>name</a>",
    "up run name",
  ],
  ["links without text", "a<a href=/x><img src=x></a>b", "ab"],
  [
    "links that are not closed",
    "<a href=/x>a<a href=/y>b",
    "[a](https://example.com/x)[b](https://example.com/y)",
  ],
  ["links that are broken", "<a href='http://['>a</a>", "a"],
  ["pictures", "<img alt='a &amp; b' src=x> <img src=y>", "[image: a & b]"],
  ["code", "use <code>a  b</code> now", "use `a b` now"],
  ["blocks of code", "<pre><code>a\n  b &lt;c&gt;</code></pre>d", "```\na\n  b <c>\n```\n\nd"],
  ["blocks of code that are not closed", "<pre>a", "```\na\n```"],
  ["tables", "<table><tr><th>a<th>b</tr><tr><td>1</td><td>2</td></tr></table>", "a | b\n1 | 2"],
  ["rules", "a<hr>b", "a\n\n---\n\nb"],
  ["scripts and styles", "a<script>if (a < b) '<p>x'</script>b<STYLE>p{}</Style >c", "abc"],
  ["scripts that are not closed", "a<script>x", "a"],
  ["what looks like the end of a script", "<script>'</scrip>'</script>a", "a"],
  ["templates, frames, drawings", "<template>x</template><svg><text>x</text></svg><iframe>x</iframe>a", "a"],
  ["drawings within drawings", "<svg><svg></svg>x</svg>a<svg/>b<math/>c", "abc"],
  ["comments", "a<!-- <p>x -->b<!---->c<!doctype html><?xml?>d", "abcd"],
  ["comments that are not closed", "a<!-- x", "a"],
  ["quotes in tags", `<p title="a > b" data-x='"'>c`, "c"],
  ["a tag whose quotes are not closed", `a<p title="b>c`, "a"],
  ["a tag that is not closed", "a<p", "a"],
  ["no tags", "1 < 2 <3 & 4 > 3 <", "1 < 2 <3 & 4 > 3 <"],
  ["nothing", "", ""],
])("%s", async (_, html, text) => {
  expect(await textOf(html)).toBe(text);
});

test("the first title is the title", async () => {
  const html = "<head><title>\n A &amp; <b> </title><title>x</title></head>a";
  expect(await htmlToText(html, { base, signal })).toEqual({ title: "A & <b>", text: "a" });
  expect(await htmlToText("<title> </title>", { base, signal })).toEqual({ title: undefined, text: "" });
});

test.each([
  ["&lt;&gt;&amp;&quot;&apos;", "<>&\"'"],
  ["&#65;&#x42;&#X43;&#68", "ABCD"],
  ["&eacute;&Eacute;&mdash;&hellip;", "éÉ—…"],
  ["&#150;&#x80;", "–€"],
  ["&#0;&#xD800;&#x110000;&#99999999;", "\ufffd\ufffd\ufffd\ufffd"],
  ["&zzz; &; &# &#x; & &constructor;", "&zzz; &; &# &#x; & &constructor;"],
  ["<img alt='?a=1&copy=2'>", "[image: ?a=1&copy=2]"],
  ["&amp;lt;", "&lt;"],
  ["&NotEqualTilde; hy&shy;phen a&thinsp;&emsp;b", "≂̸ hyphen a b"],
])("%s is read as %s", async (html, text) => {
  expect(await textOf(html)).toBe(text);
});

test("whatever the page, the text has no tags of ours to trip over and no loose white space", async () => {
  const pieces = fc.constantFrom(
    "<p>",
    "</p>",
    "<a href=/x>",
    "</a>",
    "<pre>",
    "</pre>",
    "<li>",
    "<ul>",
    "</ul>",
    "<",
    ">",
    "\n",
    " ",
    "a",
    "&",
    "<!--",
    "-->",
    "<td>",
    "<h2>",
    "'",
    '"',
    "=",
    "<br>",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 50 }), async (parts) => {
      const text = await textOf(parts.join(""));
      expect(text).toBe(text.trim());
      expect(text.split("\n").filter((line) => line !== line.trimEnd())).toEqual([]);
    }),
  );
});

test("a long page can be stopped in the middle", async () => {
  const stop = new AbortController();
  const work = htmlToText("<p>word".repeat(100_000), { base, signal: stop.signal });
  stop.abort();
  await expect(work).rejects.toThrow("aborted");
});
