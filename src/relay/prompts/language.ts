/**
 * Composes the text of a prompt file: extends its base, fills blocks, evaluates conditions and substitutes variables. A
 * file without frontmatter is not a template and only has its line ends converted to LF.
 *
 * `{{names}}` are left for runtime-variables.ts, which fills them in when a step begins.
 */
import { type PromptHead, type PromptVariable, readPromptHead, splitPrompt } from "./frontmatter.ts";
import { type ParsedBody, parsePromptBody, promptInvalid, type PromptNode } from "./syntax.ts";

export interface PromptSource {
  /** Its name in messages. */
  readonly file: string;
  readonly text: string;
}

export interface ComposedPrompt {
  readonly text: string;
  /** Probable mistakes, each with its file and line. */
  readonly warnings: readonly string[];
}

/** How many files may extend each other. */
export const MAX_PROMPT_LEVELS = 10;
export const MAX_COMPOSED_LENGTH = 1024 * 1024;
/** How many parts a prompt may be composed of: nested blocks can multiply. */
export const MAX_PROMPT_PARTS = 100_000;

/** `readBase` gets the value of `extends` and the file that contains it. Throws `config_invalid` with file and line. */
export async function composePrompt(
  source: PromptSource,
  readBase: (name: string, from: string) => Promise<PromptSource>,
): Promise<ComposedPrompt> {
  const levels: Level[] = [];
  for (let next = source; ;) {
    const level: Level | undefined = readLevel(next, levels.length);
    if (level === undefined) return { text: withLineFeeds(next.text), warnings: [] };
    levels.push(level);
    const base: string | undefined = level.head.extends;
    if (base === undefined) return render(levels, level);
    next = await readBase(base, level.file);
    checkChain(levels, level.file, next.file);
  }
}

interface Level extends ParsedBody {
  readonly file: string;
  /** 0: the file itself; 1: the file it extends. */
  readonly depth: number;
  readonly head: PromptHead;
}

/** Undefined: the file is not a template. A file that another one extends always is. */
function readLevel({ file, text }: PromptSource, depth: number): Level | undefined {
  const { yaml, body, firstLine } = splitPrompt(withLineFeeds(text));
  if (yaml === undefined && depth === 0) return undefined;
  const head: PromptHead = yaml === undefined ? { variables: new Map() } : readPromptHead(yaml, file);
  const parsed = parsePromptBody(body, { file, firstLine });
  const [fill] = parsed.fills.values();
  if (head.extends === undefined && fill !== undefined) {
    const hint = "Add `extends: <file>` to the frontmatter.";
    throw promptInvalid(file, fill.line, "@fill has no block to fill", hint);
  }
  return { file, depth, head, ...parsed };
}

function checkChain(levels: readonly Level[], file: string, next: string): void {
  const files = levels.map((level) => level.file);
  if (files.includes(next)) {
    const cycle = [...files.slice(files.indexOf(next)), next].join(" → ");
    throw promptInvalid(file, 1, `extends is circular: ${cycle}`, "Remove one extends.");
  }
  if (files.length === MAX_PROMPT_LEVELS) {
    const message = `more than ${MAX_PROMPT_LEVELS} files extend each other`;
    throw promptInvalid(file, 1, message, "Remove some of them.");
  }
}

interface Rendering {
  readonly levels: readonly Level[];
  readonly variables: ReadonlyMap<string, PromptVariable>;
  readonly pieces: string[];
  readonly warnings: Set<string>;
  length: number;
  parts: number;
}

/** Renders the last level, the base, with the blocks that earlier levels fill. */
function render(levels: readonly Level[], base: Level): ComposedPrompt {
  const variables = new Map<string, PromptVariable>();
  for (const { head } of levels.toReversed()) {
    for (const [name, variable] of head.variables) variables.set(name, variable);
  }
  const rendering: Rendering = {
    levels,
    variables,
    pieces: [],
    warnings: new Set(levels.slice(0, -1).flatMap(unusedText)),
    length: 0,
    parts: 0,
  };
  renderNodes(base.nodes, base, rendering);
  const blocks = new Set(levels.flatMap(blockNames));
  for (const { file, fills } of levels) {
    for (const [name, { line }] of fills) {
      if (!blocks.has(name)) rendering.warnings.add(`${file}:${line}: unknown block "${name}"`);
    }
  }
  return { text: rendering.pieces.join(""), warnings: [...rendering.warnings] };
}

function renderNodes(nodes: readonly PromptNode[], level: Level, rendering: Rendering): void {
  for (const node of nodes) {
    if (++rendering.parts > MAX_PROMPT_PARTS) {
      const message = `the prompt has more than ${MAX_PROMPT_PARTS} parts`;
      throw promptInvalid(level.file, node.line, message, "Use fewer blocks.");
    }
    switch (node.kind) {
      case "text":
        renderText(node, level, rendering);
        break;
      case "if": {
        const isSet = rendering.variables.get(node.variable)?.isSet ?? false;
        renderNodes(isSet === node.isNegated ? node.otherwise : node.body, level, rendering);
        break;
      }
      case "block": {
        // A fill may contain blocks, filled only by files that extend it, so no text ever contains itself.
        const filler = rendering.levels.find(
          ({ depth, fills }) => depth < level.depth && fills.has(node.name),
        );
        const fill = filler?.fills.get(node.name);
        renderNodes(fill?.body ?? node.body, filler ?? level, rendering);
        break;
      }
    }
  }
}

/** A default ends before the next `${`, so the search for its end never rescans the rest of the text. */
const VARIABLE = /\$\{(\w[\w-]*)(?::-([^}$]*(?:\$(?!\{)[^}$]*)*))?\}/g;

function renderText({ text, line }: { text: string; line: number }, { file }: Level, rendering: Rendering) {
  let counted = 0;
  let at = line;
  const rendered = text.replaceAll(
    VARIABLE,
    (_, name: string, fallback: string | undefined, offset: number) => {
      const value = rendering.variables.get(name)?.text ?? fallback;
      if (value !== undefined) return value;
      at += text.slice(counted, offset).split("\n").length - 1;
      counted = offset;
      rendering.warnings.add(`${file}:${at}: \${${name}} has no value and no default`);
      return "";
    },
  );
  rendering.length += rendered.length;
  if (rendering.length > MAX_COMPOSED_LENGTH) {
    const message = `the prompt has more than ${MAX_COMPOSED_LENGTH} characters`;
    throw promptInvalid(file, line, message, "Let the agent read long texts from files.");
  }
  rendering.pieces.push(rendered);
}

/** A file that extends another is only used for its fills. */
function unusedText({ file, nodes }: Level): string[] {
  return nodes
    .filter((node) => node.kind !== "text" || node.text.trim() !== "")
    .slice(0, 1)
    .map(({ line }) => `${file}:${line}: text outside @fill is ignored`);
}

function blockNames({ nodes, fills }: Level): string[] {
  return [...nodes, ...Array.from(fills.values(), ({ body }) => body).flat()].flatMap(blocksWithin);
}

function blocksWithin(node: PromptNode): string[] {
  switch (node.kind) {
    case "text":
      return [];
    case "if":
      return [...node.body, ...node.otherwise].flatMap(blocksWithin);
    case "block":
      return [node.name, ...node.body.flatMap(blocksWithin)];
  }
}

function withLineFeeds(text: string): string {
  return text.replaceAll("\r\n", "\n");
}
