/**
 * Makes the text of a prompt file: what it extends, with its blocks filled, its conditions decided and its variables
 * put in. A file without frontmatter is no template and stays as it is, all but its line ends, which become LF.
 *
 * `{{names}}` are left alone: they are for the moment when a step is asked for.
 */
import { type Frontmatter, type PromptVariable, readFrontmatter, splitPrompt } from "./frontmatter.ts";
import { parseBody, type ParsedBody, promptInvalid, type PromptNode } from "./syntax.ts";

export interface PromptSource {
  /** What messages call it. */
  readonly file: string;
  readonly text: string;
}

export interface ComposedPrompt {
  readonly text: string;
  /** What is probably not meant, each with its file and line. */
  readonly warnings: readonly string[];
}

/** How many files may extend each other. */
export const MAX_PROMPT_LEVELS = 10;
export const MAX_PROMPT_LENGTH = 1024 * 1024;
/** How many parts a prompt may be put together from: a block within a block within a block can be many. */
export const MAX_PROMPT_PARTS = 100_000;

/** `readBase` is given what `extends` says, and the file that says it. Throws `config_invalid` with file and line. */
export async function composePrompt(
  source: PromptSource,
  readBase: (name: string, from: string) => Promise<PromptSource>,
): Promise<ComposedPrompt> {
  const levels: Level[] = [];
  for (let next: PromptSource | undefined = source; next !== undefined;) {
    const level: Level | undefined = readLevel(next, levels.length > 0);
    if (level === undefined) return { text: withLineFeeds(next.text), warnings: [] };
    levels.push(level);
    const base: string | undefined = level.frontmatter.extends;
    next = base === undefined ? undefined : await readBase(base, level.file);
    if (next !== undefined) checkChain(levels, next.file);
  }
  return render(levels);
}

interface Level extends ParsedBody {
  readonly file: string;
  readonly frontmatter: Frontmatter;
}

/** Undefined where the file is no template. A file that another one extends is always one. */
function readLevel({ file, text }: PromptSource, isBase: boolean): Level | undefined {
  const { yaml, body, firstLine } = splitPrompt(withLineFeeds(text));
  if (yaml === undefined && !isBase) return undefined;
  const frontmatter: Frontmatter =
    yaml === undefined ? { variables: new Map() } : readFrontmatter(yaml, file);
  const parsed = parseBody(body, { file, firstLine });
  const [fill] = parsed.fills.values();
  if (frontmatter.extends === undefined && fill !== undefined) {
    throw promptInvalid(
      file,
      fill.line,
      "@fill has nothing to fill",
      "Add `extends: <file>` to the frontmatter.",
    );
  }
  return { file, frontmatter, ...parsed };
}

function checkChain(levels: readonly Level[], next: string): void {
  const files = levels.map(({ file }) => file);
  const { file } = levels.at(-1)!;
  if (files.includes(next)) {
    const circle = [...files.slice(files.indexOf(next)), next].join(" → ");
    throw promptInvalid(file, 1, `extends goes in a circle: ${circle}`, "Let one of them extend nothing.");
  }
  if (files.length === MAX_PROMPT_LEVELS) {
    const message = `more than ${MAX_PROMPT_LEVELS} files extend each other`;
    throw promptInvalid(file, 1, message, "Leave some of them out.");
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

/** The file itself is the first level; what is rendered is the last, with blocks that earlier levels fill. */
function render(levels: readonly Level[]): ComposedPrompt {
  const variables = new Map<string, PromptVariable>();
  for (const { frontmatter } of levels.toReversed()) {
    for (const [name, variable] of frontmatter.variables) variables.set(name, variable);
  }
  const rendering: Rendering = {
    levels,
    variables,
    pieces: [],
    warnings: new Set(levels.slice(0, -1).flatMap(unusedText)),
    length: 0,
    parts: 0,
  };
  renderNodes(levels.at(-1)!.nodes, levels.length - 1, rendering);
  const blocks = new Set(levels.flatMap(blockNames));
  for (const { file, fills } of levels) {
    for (const [name, { line }] of fills) {
      if (!blocks.has(name)) rendering.warnings.add(`${file}:${line}: no block is called "${name}"`);
    }
  }
  return { text: rendering.pieces.join(""), warnings: [...rendering.warnings] };
}

function renderNodes(nodes: readonly PromptNode[], level: number, rendering: Rendering): void {
  for (const node of nodes) {
    if (++rendering.parts > MAX_PROMPT_PARTS) {
      const message = `the prompt has more than ${MAX_PROMPT_PARTS} parts`;
      throw promptInvalid(rendering.levels[level]!.file, node.line, message, "Use fewer blocks.");
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
        // A fill may have blocks itself, for those that extend it: so a text never comes to contain itself.
        const filledBy = rendering.levels.findIndex(({ fills }, at) => at < level && fills.has(node.name));
        const fill = rendering.levels[filledBy]?.fills.get(node.name);
        if (fill === undefined) renderNodes(node.body, level, rendering);
        else renderNodes(fill.body, filledBy, rendering);
        break;
      }
    }
  }
}

/** A default ends before the next `${`, so that looking for the end of each never reads the rest of the text again. */
const VARIABLE = /\$\{(\w[\w-]*)(?::-([^}$]*(?:\$(?!\{)[^}$]*)*))?\}/g;

function renderText(
  { text, line }: { text: string; line: number },
  level: number,
  rendering: Rendering,
): void {
  const { file } = rendering.levels[level]!;
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
  if (rendering.length > MAX_PROMPT_LENGTH) {
    const message = `the prompt has more than ${MAX_PROMPT_LENGTH} characters`;
    throw promptInvalid(file, line, message, "Let the agent read long texts from files.");
  }
  rendering.pieces.push(rendered);
}

/** What stands outside the fills of a file that extends another has no place. */
function unusedText({ file, nodes }: Level): string[] {
  return nodes
    .filter((node) => node.kind !== "text" || node.text.trim() !== "")
    .slice(0, 1)
    .map(({ line }) => `${file}:${line}: what stands outside @fill is not used`);
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
