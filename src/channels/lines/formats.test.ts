import { expect, test } from "vitest";

import { renderRichText } from "../../model/cut-rich-text.ts";
import { parseRichText } from "../../model/parse-rich-text.ts";
import { inSlices } from "../../model/in-slices.ts";
import { formatOf } from "./formats.ts";

async function render(markdown: string, format: Parameters<typeof formatOf>[0]): Promise<string[]> {
  const rich = await inSlices(parseRichText(markdown));
  return [...renderRichText(rich, formatOf(format))].flatMap((wire) => wire ?? []);
}

const SAMPLE =
  "# Title\n\n**bold *both*** and `a_b`, 2 * 3 [link](https://example.test/)\n\n```js\nx = `1`\n```";

test("plain text has no marks", async () => {
  expect(await render(SAMPLE, { kind: "text", maxLength: 500, counts: "utf16" })).toEqual([
    "Title\n\nbold both and a_b, 2 * 3 link\n\nx = `1`",
  ]);
});

test("Markdown has its marks where the text is formatted, and escapes them elsewhere", async () => {
  const [wire] = await render(SAMPLE, { kind: "markdown", maxLength: 500, counts: "utf16" });
  expect(wire).toBe(
    "**Title**\n\n**bold _both_** and `a_b`, 2 \\* 3 [link](https://example.test/)\n\n```js\nx = `\u200b1`\n```",
  );
});

test("ranges are offsets into the text", async () => {
  const [wire] = await render("a **b**", { kind: "ranges", maxLength: 500, counts: "utf16" });
  expect(JSON.parse(wire!)).toEqual({ text: "a b", ranges: [{ kind: "bold", from: 2, to: 3 }] });
});

test.each([
  ["utf16", 64],
  ["bytes", 32],
] as const)("no message is longer than its limit in %s", async (counts, most) => {
  const wires = await render("é".repeat(64), { kind: "text", maxLength: 32, counts });
  expect(wires.join("")).toBe("é".repeat(64));
  for (const wire of wires) expect(Buffer.byteLength(wire)).toBeLessThanOrEqual(most);
  expect(wires).toHaveLength(counts === "bytes" ? 4 : 2);
});
