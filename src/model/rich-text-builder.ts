import type { Format, RichText, RichTextRange } from "./rich-text.ts";

export type OpenRange = Format & { readonly from: number; to: number };

/** Rich text, written from its beginning to its end. */
export class RichTextBuilder {
  readonly #texts: string[] = [];
  readonly #ranges: OpenRange[] = [];
  /** In the order of their beginnings. */
  readonly #open: OpenRange[] = [];
  #length = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(text: string): void {
    this.#texts.push(text);
    this.#length += text.length;
  }

  append({ text, ranges }: RichText): void {
    const from = this.#length;
    for (const range of ranges) {
      if (this.#isOpen(range.kind)) continue;
      this.#ranges.push({ ...range, from: from + range.from, to: from + range.to });
    }
    this.add(text);
  }

  /** Undefined: there already is one of this kind. */
  open(format: Format): OpenRange | undefined {
    if (this.#isOpen(format.kind)) return undefined;
    const range = { ...format, from: this.#length, to: this.#length };
    this.#open.push(range);
    this.#ranges.push(range);
    return range;
  }

  /** Ends the range that was opened last. */
  close(range: OpenRange | undefined): void {
    if (range === undefined) return;
    this.#open.pop();
    range.to = this.#length;
  }

  /** Leaves only the text of the range that was opened last. */
  drop(range: OpenRange | undefined): void {
    this.close(range);
    if (range !== undefined) range.to = range.from;
  }

  finish(): RichText {
    const ranges: readonly RichTextRange[] = this.#ranges.filter(({ from, to }) => to > from);
    return { text: this.#texts.join(""), ranges };
  }

  #isOpen(kind: Format["kind"]): boolean {
    return this.#open.some((range) => range.kind === kind);
  }
}
