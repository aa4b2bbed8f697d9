/**
 * Text with its formatting beside it. Markdown is parsed once into this; every platform renders from it and cuts it, so no
 * cut breaks markup, and nothing in the text can pass for markup.
 */

export interface RichText {
  readonly text: string;
  /**
   * Sorted by `from`, outer ranges before inner ones. Two ranges are apart or one contains the other. None is empty, and
   * none is inside another of its kind.
   */
  readonly ranges: readonly RichTextRange[];
}

/** Offsets are in UTF-16 units; `to` is after the last one. */
export type RichTextRange = RichTextFormat & { readonly from: number; readonly to: number };

export type RichTextFormat =
  | { readonly kind: "bold" | "italic" | "strike" | "code" | "quote" }
  | { readonly kind: "heading"; readonly level: number }
  /** Whole lines, without the last line end and without ranges inside. */
  | { readonly kind: "pre"; readonly language: string }
  /** By http or https, at most `MAX_LINK_LENGTH` long, and in a form that all platforms take. */
  | { readonly kind: "link"; readonly url: string };

export type LinkRange = Extract<RichTextRange, { kind: "link" }>;

/** A longer address is shown as text, which can be cut. */
export const MAX_LINK_LENGTH = 1_000;

export function sliceRichText({ text, ranges }: RichText, from: number, to: number): RichText {
  const slices: RichTextRange[] = [];
  for (const range of ranges) {
    if (range.from >= to || range.to <= from) continue;
    slices.push({ ...range, from: Math.max(range.from - from, 0), to: Math.min(range.to, to) - from });
  }
  return { text: text.slice(from, to), ranges: slices };
}

/** Without what platforms strip from messages themselves: whitespace around it, except the indent of code. */
export function trimRichText(rich: RichText): RichText {
  const { text, ranges } = rich;
  const blank = text.length - text.trimStart().length;
  const from = Math.min(blank, ranges.find(({ kind }) => kind === "pre")?.from ?? blank);
  const to = Math.max(text.trimEnd().length, from);
  return from === 0 && to === text.length ? rich : sliceRichText(rich, from, to);
}

/** A stretch of text with the same formatting. */
export interface TextRun {
  readonly text: string;
  /** Outer ranges before inner ones. */
  readonly ranges: readonly RichTextRange[];
}

export function runsOf({ text, ranges }: RichText): TextRun[] {
  const runs: TextRun[] = [];
  let open: readonly RichTextRange[] = [];
  let at = 0;
  function advance(to: number): void {
    while (at < to) {
      const end = Math.min(open.at(-1)?.to ?? to, to);
      if (end > at) runs.push({ text: text.slice(at, end), ranges: open });
      at = end;
      open = open.filter((range) => range.to > at);
    }
  }
  for (const range of ranges) {
    advance(range.from);
    open = [...open, range];
  }
  advance(text.length);
  return runs;
}

/** Whether a text is the address itself. Another address in its place would deceive the reader. */
export function isAddress(text: string, url: string): boolean {
  return /^https?:\/\/[^\s<>]+$/i.test(text) && URL.parse(text)?.href === url;
}
