/**
 * TeX in Markdown, as models write it: `$…$`, `$$…$$`, `\(…\)` and `\[…\]`. It is kept as written, because its `_`, `*` and
 * `\` are no markup. Every scan ends at the next sign that could open math, so the work is linear.
 */
import type { MarkdownIt, StateBlock, StateInline } from "markdown-it";

export function keepMath(markdown: MarkdownIt): void {
  markdown.inline.ruler.before("escape", "math", readInline);
  markdown.block.ruler.before("fence", "math", readLines, { alt: ["paragraph", "blockquote", "list"] });
}

const MATH =
  /\$\$(?:[^$]|\$(?!\$))+\$\$|\$(?![\s$])((?:[^$\\]|\\[^])*)(?<!\s)\$(?!\d)|\\\((?:(?!\\[()])[^])*\\\)|\\\[((?:(?!\\[[\]])[^])*)\\\]/y;
/** Between two prices, it is no math. */
const MARKUP = /\*\*|~~|`|\]\(/;
/** Anything else in `\[…\]` is a bracket that was escaped. */
const FORMULA = /^\s|[\\^_=]/;

function readInline(state: StateInline, isSilent: boolean): boolean {
  MATH.lastIndex = state.pos;
  const [math, prices, brackets] = MATH.exec(state.src) ?? [];
  if (math === undefined || state.pos + math.length > state.posMax) return false;
  if (prices !== undefined && MARKUP.test(prices)) return false;
  if (brackets !== undefined && !FORMULA.test(brackets)) return false;
  if (!isSilent) state.push("text", "", 0).content = math;
  state.pos += math.length;
  return true;
}

const CLOSERS: ReadonlyMap<string, string> = new Map([
  ["$$", "$$"],
  ["\\[", "\\]"],
]);

/** Math over several lines, which may look like lists or quotes. It begins a line, ends one, and has no empty lines. */
function readLines(state: StateBlock, from: number, limit: number, isSilent: boolean): boolean {
  const first = lineAt(state, from);
  const opener = first.slice(0, 2);
  const closer = CLOSERS.get(opener);
  if (closer === undefined || isCode(state, from) || first.includes(closer, 2)) return false;
  for (let line = from + 1; line < limit && !state.isEmpty(line); line++) {
    const text = lineAt(state, line);
    if (state.sCount[line]! < state.blkIndent || (text.includes(opener) && opener !== closer)) return false;
    if (!text.includes(closer)) continue;
    if (text.indexOf(closer) !== text.trimEnd().length - closer.length) return false;
    if (isSilent) return true;
    const token = state.push("math", "", 0);
    token.content = state.getLines(from, line + 1, state.blkIndent, false);
    token.map = [from, line + 1];
    state.line = line + 1;
    return true;
  }
  return false;
}

function lineAt(state: StateBlock, line: number): string {
  return state.src.slice(state.bMarks[line]! + state.tShift[line]!, state.eMarks[line]);
}

function isCode(state: StateBlock, line: number): boolean {
  return state.sCount[line]! - state.blkIndent >= 4;
}
