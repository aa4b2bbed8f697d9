/** Formats Markdown and computes heading anchors. */

/** A table with cells of Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map(row).join("\n");
}

/** Escapes a text for Markdown. */
export function plain(text: string): string {
  return text.replaceAll(/[*<[\]\\]|__/g, (marks) => marks.replaceAll(/./g, "\\$&"));
}

export function code(text: string): string {
  return text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** Capitalizes a text and adds a period. */
export function sentence(text: string): string {
  const capital = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(capital) ? capital : `${capital}.`;
}

export interface Heading {
  readonly level: number;
  /** The Markdown source. */
  readonly text: string;
  readonly anchor: string;
}

/** The headings of a page with GitHub's anchors: the second one with the same name ends in `-1`. */
export function headingsOf(page: string): Heading[] {
  const withoutCode = page.replaceAll(/^( *)(```+).*\n(?:.*\n)*?\1\2 *$/gm, "");
  const anchorOf = createAnchors();
  return Array.from(withoutCode.matchAll(/^(#{1,6}) +(.+?) *$/gm), ([, marks, text]) => ({
    level: marks!.length,
    text: text!,
    anchor: anchorOf(text!),
  }));
}

/** Returns a function that computes the anchors of one page's headings, in order. */
export function createAnchors(): (heading: string) => string {
  const seen = new Map<string, number>();
  return (heading) => {
    const name = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}\s_-]/gu, "")
      .replaceAll(/\s/g, "-");
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    return times === 0 ? name : `${name}-${times}`;
  };
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(cell).join(" | ")} |`;
}

function cell(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ").replaceAll("|", "\\|");
}
