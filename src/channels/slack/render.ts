/**
 * Rich text as a `rich_text` block, whose texts Slack takes literally: mentions are elements of their own, so no text can
 * forge one, and there is no markup that a text could break. `text` is what notifications show.
 */
import type { MessageFormat } from "../../model/cut-rich-text.ts";
import { type RichText, type RichTextRange, type TextRun, runsOf } from "../../model/rich-text.ts";

/** Slack refuses more than about 13,200 characters of blocks (slackapi/bolt-js#2509), and does not document what counts. */
const MAX_BLOCKS_BYTES = 12_000;

export const slackFormat: MessageFormat = {
  maxLength: MAX_BLOCKS_BYTES,
  render: (piece) => {
    const blocks = JSON.stringify(blocksOf(piece));
    const text = JSON.stringify(escapeText(piece.text));
    return {
      wire: `{"text":${text},"blocks":${blocks}}`,
      fill: Buffer.byteLength(blocks) / MAX_BLOCKS_BYTES,
    };
  },
};

/** Without this, `<!channel>`, `<@U123>` and `<https://…|…>` are markup. */
function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function blocksOf(piece: RichText): readonly object[] {
  const sections = sectionsOf(piece).map(({ block, runs }) => ({
    type: `rich_text_${SECTIONS.get(block?.kind) ?? "section"}`,
    elements: runs.filter(({ text }) => text !== "").map(elementOf),
  }));
  return [{ type: "rich_text", elements: sections.filter(({ elements }) => elements.length > 0) }];
}

const SECTIONS: ReadonlyMap<RichTextRange["kind"] | undefined, string> = new Map([
  ["pre", "preformatted"],
  ["quote", "quote"],
]);

interface Section {
  /** Undefined: lines of text. */
  readonly block: RichTextRange | undefined;
  readonly runs: TextRun[];
}

/** Each section is lines of its own, without the line end between it and the next. */
function sectionsOf(piece: RichText): readonly Section[] {
  const sections: Section[] = [];
  for (const run of runsOf(piece)) {
    const block = run.ranges.findLast(({ kind }) => SECTIONS.has(kind));
    const before = sections.at(-1);
    if (before !== undefined && before.block === block) before.runs.push(run);
    else {
      const last = before?.runs.at(-1);
      const isBefore =
        block !== undefined && before?.block?.kind !== "pre" && last?.text.endsWith("\n") === true;
      if (isBefore) before?.runs.splice(-1, 1, { ...last, text: last.text.slice(0, -1) });
      const isAfter = !isBefore && before?.block !== undefined && run.text.startsWith("\n");
      sections.push({ block, runs: [isAfter ? { ...run, text: run.text.slice(1) } : run] });
    }
  }
  return sections;
}

const STYLES = { bold: "bold", heading: "bold", italic: "italic", strike: "strike", code: "code" } as const;

function elementOf({ text, ranges }: TextRun): object {
  const link = ranges.find((range) => range.kind === "link");
  const styles = ranges.flatMap(({ kind }) => (kind in STYLES ? [STYLES[kind as keyof typeof STYLES]] : []));
  const style = styles.length === 0 ? {} : { style: Object.fromEntries(styles.map((name) => [name, true])) };
  return link === undefined
    ? { type: "text", text, ...style }
    : { type: "link", url: link.url, text, ...style };
}
