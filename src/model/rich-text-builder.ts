import type { RichTextFormat, RichText, RichTextRange } from "./rich-text.ts";

export type OpenRange = RichTextFormat & { readonly from: number; to: number };

/** Rich text, written from its beginning to its end. */
export class RichTextBuilder {
  readonly #settled: string[] = [];
  #texts: string[] = [];
  #length = 0;
  readonly #ranges: RichTextRange[] = [];
  readonly #open: OpenRange[] = [];

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(text: string): void {
    this.#texts.push(text);
    this.#length += text.length;
  }

  append({ text, ranges }: RichText): void {
    const from = this.#length;
    for (const range of ranges)
      if (!this.#isOpen(range.kind))
        this.#ranges.push({ ...range, from: from + range.from, to: from + range.to });
    this.add(text);
  }

  /** Undefined: there already is one of this kind. */
  open(format: RichTextFormat): OpenRange | undefined {
    if (this.#isOpen(format.kind)) return undefined;
    const range = { ...format, from: this.#length, to: this.#length };
    this.#open.push(range);
    this.#ranges.push(range);
    return range;
  }

  /** Ends the range that was opened last. */
  close(range: OpenRange | undefined): void {
    if (range === undefined) return;
    range.to = this.#length;
    if (range.to === range.from) this.drop(range);
    else this.#open.pop();
  }

  /** Leaves only the text of the range that was opened last. */
  drop(range: OpenRange): void {
    this.#open.pop();
    this.#ranges.splice(this.#ranges.lastIndexOf(range), 1);
  }

  /** Joins what was written so far: in one go, at the end of a long text, that would take too long. */
  settle(): void {
    this.#settled.push(this.#texts.join(""));
    this.#texts = [];
  }

  finish(): RichText {
    this.settle();
    return { text: this.#settled.join(""), ranges: this.#ranges };
  }

  #isOpen(kind: RichTextFormat["kind"]): boolean {
    return this.#open.some((range) => range.kind === kind);
  }
}
