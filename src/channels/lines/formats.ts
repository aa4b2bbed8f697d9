/** How programs get rich text: plain, as a subset of Markdown, or with its formatting beside it. */
import type { MessageFormat } from "../../model/cut-rich-text.ts";
import { type RichText, type RichTextRange, runsOf } from "../../model/rich-text.ts";
import type { Hello } from "./protocol.ts";

export function formatOf({ kind, maxLength, counts }: Hello["format"]): MessageFormat {
  const size = (text: string): number => (counts === "bytes" ? Buffer.byteLength(text) : text.length);
  return {
    maxLength,
    render: (piece) => {
      const wire = RENDERERS[kind](piece);
      return { wire, fill: size(kind === "ranges" ? piece.text : wire) / maxLength };
    },
  };
}

const RENDERERS: Readonly<Record<Hello["format"]["kind"], (piece: RichText) => string>> = {
  text: ({ text }) => text,
  ranges: ({ text, ranges }) => JSON.stringify({ text, ranges }),
  markdown: toMarkdown,
};

/** Inside a line, outermost first. */
const MARKS = { bold: "**", heading: "**", italic: "_", strike: "~~" } as const;

function toMarkdown(piece: RichText): string {
  let markdown = "";
  let open: readonly RichTextRange[] = [];
  for (const { text, ranges } of runsOf(piece)) {
    const kept = open.filter((range, at) => ranges[at] === range);
    const closing = open.slice(kept.length).toReversed();
    markdown += closing.map((range) => closeOf(range)).join("");
    markdown += ranges.slice(kept.length).map(openOf).join("");
    open = ranges;
    const isCode = ranges.some((range) => range.kind === "code" || range.kind === "pre");
    markdown += isCode ? withoutFences(text) : escapeMarkdown(text);
  }
  return (
    markdown +
    open
      .toReversed()
      .map((range) => closeOf(range))
      .join("")
  );
}

function openOf(range: RichTextRange): string {
  switch (range.kind) {
    case "pre":
      return `\`\`\`${range.language}\n`;
    case "link":
      return "[";
    case "code":
      return "`";
    case "quote":
      return "> ";
    case "bold":
    case "heading":
    case "italic":
    case "strike":
      return MARKS[range.kind];
  }
}

function closeOf(range: RichTextRange): string {
  switch (range.kind) {
    case "pre":
      return "\n```";
    case "link":
      return `](${range.url.replaceAll(")", "%29")})`;
    case "code":
      return "`";
    case "quote":
      return "";
    case "bold":
    case "heading":
    case "italic":
    case "strike":
      return MARKS[range.kind];
  }
}

/** An invisible character between them: code cannot escape anything. */
function withoutFences(text: string): string {
  return text.replaceAll("`", "`\u200b").replace(/\u200b$/, "");
}

function escapeMarkdown(text: string): string {
  return text.replaceAll(/[\\`*_~[\]<>#|]/g, String.raw`\$&`);
}
