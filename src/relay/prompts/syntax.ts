/**
 * The directives of prompt files: `@block(name)`, `@fill(name)`, `@if(variable)`, `@if(!variable)`, `@else` and their
 * ends. The line of a directive that is alone on it is removed; an `@if` can also be used within a line.
 */
import { CortexError } from "../../model/errors.ts";

export type PromptNode = { readonly line: number } & (
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "block"; readonly name: string; readonly body: readonly PromptNode[] }
  | {
      readonly kind: "if";
      readonly variable: string;
      readonly isNegated: boolean;
      readonly body: readonly PromptNode[];
      readonly otherwise: readonly PromptNode[];
    }
);

export interface ParsedBody {
  readonly nodes: readonly PromptNode[];
  readonly fills: ReadonlyMap<string, Fill>;
}

interface Fill {
  readonly body: readonly PromptNode[];
  readonly line: number;
}

/** How deep directives may be nested. */
export const MAX_PROMPT_NESTING = 50;

/** Throws `config_invalid` with the file and the line of the first mistake. `firstLine` is that of the body, from 1. */
export function parsePromptBody(body: string, from: { file: string; firstLine: number }): ParsedBody {
  const reading: Reading = { file: from.file, open: [], nodes: [], fills: new Map() };
  const lines = body.split("\n");
  for (const [index, text] of lines.entries()) {
    const line = from.firstLine + index;
    const [, word, name = "", end] = (text.includes("@") ? DIRECTIVE.exec(text) : null) ?? [];
    const kind = PART_KINDS.find((known) => known === word);
    if (kind !== undefined) beginPart(kind, name.trim(), line, reading);
    else if (end !== undefined) endPart(end, line, reading);
    else readText(index === lines.length - 1 ? text : `${text}\n`, line, reading);
  }
  const last = reading.open.at(-1);
  if (last === undefined) return reading;
  throw promptInvalid(
    from.file,
    last.line,
    `@${last.kind} without @end${last.kind}`,
    `Add @end${last.kind}.`,
  );
}

export function promptInvalid(file: string, line: number, message: string, hint: string): CortexError {
  return new CortexError("config_invalid", `${file}:${line}: ${message}`, { hint });
}

const DIRECTIVE = /^[ \t]*@(?:(block|fill|if)\((.*)\)|(else|endblock|endfill|endif))[ \t]*$/;
const INLINE = /@if\((!?[\w-]+)\)|@(else|endif)\b/g;

interface Reading {
  readonly file: string;
  /** The directives that are still open, innermost last. */
  readonly open: Part[];
  readonly nodes: PromptNode[];
  readonly fills: Map<string, Fill>;
}

const PART_KINDS = ["block", "fill", "if"] as const;

interface Part {
  readonly kind: (typeof PART_KINDS)[number];
  readonly name: string;
  readonly line: number;
  readonly body: PromptNode[];
  otherwise?: PromptNode[];
}

/** Within a line, and outside an `@if`, `@else` and `@endif` are plain text. */
function readText(text: string, line: number, reading: Reading): void {
  let done = 0;
  for (const match of text.includes("@") ? text.matchAll(INLINE) : []) {
    const [whole, condition, end] = match;
    if (end !== undefined && reading.open.at(-1)?.kind !== "if") continue;
    addText(text.slice(done, match.index), line, reading);
    done = match.index + whole.length;
    if (end === undefined) beginPart("if", condition ?? "", line, reading);
    else endPart(end, line, reading);
  }
  addText(text.slice(done), line, reading);
}

function addText(text: string, line: number, reading: Reading): void {
  const nodes = siblings(reading);
  const last = nodes.at(-1);
  if (text === "") return;
  if (last?.kind === "text") nodes[nodes.length - 1] = { ...last, text: last.text + text };
  else nodes.push({ kind: "text", text, line });
}

function beginPart(kind: Part["kind"], name: string, line: number, { file, open, fills }: Reading): void {
  if (!(kind === "if" ? /^!?\s*[\w-]+$/ : /^[\w-]+$/).test(name)) {
    const hint = "A name consists of letters, digits, - and _. @if takes one name; !name negates it.";
    throw promptInvalid(file, line, `Invalid name "${name}"`, hint);
  }
  if (open.length === MAX_PROMPT_NESTING) {
    const message = `@${kind} is nested more than ${MAX_PROMPT_NESTING} levels deep`;
    throw promptInvalid(file, line, message, "Reduce the nesting.");
  }
  const around = open.at(-1);
  if (kind === "fill" && around !== undefined) {
    const message = `@fill inside the @${around.kind} of line ${around.line}`;
    throw promptInvalid(file, line, message, "Move it outside. Put optional text into the @fill.");
  }
  const filled = fills.get(name);
  if (kind === "fill" && filled !== undefined) {
    const message = `the block "${name}" is filled twice, first on line ${filled.line}`;
    throw promptInvalid(file, line, message, "Remove one of them.");
  }
  open.push({ kind, name, line, body: [] });
}

function endPart(end: string, line: number, reading: Reading): void {
  const kind = end === "else" ? "if" : end.slice("end".length);
  const part = reading.open.at(-1);
  if (part?.kind !== kind || (end === "else" && part.otherwise !== undefined)) {
    const where =
      part === undefined ? `it has no @${kind}` : `the @${part.kind} of line ${part.line} is still open`;
    const message = `@${end} is out of place: ${where}`;
    throw promptInvalid(reading.file, line, message, "Each @end closes the innermost open directive.");
  }
  if (end === "else") {
    part.otherwise = [];
    return;
  }
  reading.open.pop();
  if (part.kind === "fill") reading.fills.set(part.name, { body: part.body, line: part.line });
  else siblings(reading).push(nodeOf(part));
}

function nodeOf({ kind, name, line, body, otherwise = [] }: Part): PromptNode {
  if (kind === "block") return { kind, name, body, line };
  const isNegated = name.startsWith("!");
  return { kind: "if", variable: name.replace(/^!\s*/, ""), isNegated, body, otherwise, line };
}

function siblings({ open, nodes }: Reading): PromptNode[] {
  const part = open.at(-1);
  return part?.otherwise ?? part?.body ?? nodes;
}
