/**
 * The directives of prompt files: `@block(name)`, `@fill(name)`, `@if(variable)`, `@if(!variable)`, `@else` and their
 * ends. A directive that is alone on its line takes the line with it; an `@if` may also stand within a line.
 */
import { CortexError } from "../../model/errors.ts";

export type PromptNode =
  | { readonly kind: "text"; readonly text: string; readonly line: number }
  | {
      readonly kind: "block";
      readonly name: string;
      readonly body: readonly PromptNode[];
      readonly line: number;
    }
  | {
      readonly kind: "if";
      readonly variable: string;
      readonly isNegated: boolean;
      readonly body: readonly PromptNode[];
      readonly otherwise: readonly PromptNode[];
      readonly line: number;
    };

export interface ParsedBody {
  readonly nodes: readonly PromptNode[];
  readonly fills: ReadonlyMap<string, Fill>;
}

interface Fill {
  readonly body: readonly PromptNode[];
  readonly line: number;
}

/** How deep directives may stand in each other. */
export const MAX_PROMPT_NESTING = 50;

/** Throws `config_invalid` with the file and the line of the first mistake. `firstLine` is the body's, from 1. */
export function parseBody(body: string, from: { file: string; firstLine: number }): ParsedBody {
  const reading: Reading = { file: from.file, open: [], nodes: [], fills: new Map() };
  const lines = body.split("\n");
  for (const [index, text] of lines.entries()) {
    const line = from.firstLine + index;
    const [, begin, name = "", end] = (text.includes("@") ? DIRECTIVE.exec(text) : null) ?? [];
    if (begin !== undefined) beginPart(begin as Part["kind"], name.trim(), line, reading);
    else if (end !== undefined) endPart(end, line, reading);
    else readText(index === lines.length - 1 ? text : `${text}\n`, line, reading);
  }
  const last = reading.open.at(-1);
  if (last === undefined) return reading;
  throw promptInvalid(from.file, last.line, `@${last.kind} has no @end${last.kind}`, "Add it where it ends.");
}

export function promptInvalid(file: string, line: number, message: string, hint: string): CortexError {
  return new CortexError("config_invalid", `${file}:${line}: ${message}`, { hint });
}

const DIRECTIVE = /^[ \t]*@(?:(block|fill|if)\((.*)\)|(else|endblock|endfill|endif))[ \t]*$/;
const INLINE = /@if\((!?[\w-]+)\)|@(else|endif)\b/g;

interface Reading {
  readonly file: string;
  /** The directives that have no end yet, the innermost last. */
  readonly open: Part[];
  readonly nodes: PromptNode[];
  readonly fills: Map<string, Fill>;
}

interface Part {
  readonly kind: "block" | "fill" | "if";
  readonly name: string;
  readonly line: number;
  readonly body: PromptNode[];
  otherwise?: PromptNode[];
}

/** What is alone on its line was meant as a directive; within a line, `@else` may also be a word of the text. */
function readText(text: string, line: number, reading: Reading): void {
  let done = 0;
  for (const match of text.includes("@") ? text.matchAll(INLINE) : []) {
    const [whole, condition, end] = match;
    if (end !== undefined && reading.open.at(-1)?.kind !== "if") continue;
    addText(text.slice(done, match.index), line, reading);
    done = match.index + whole.length;
    if (condition !== undefined) beginPart("if", condition, line, reading);
    else endPart(end!, line, reading);
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
    const hint =
      "A name has letters, digits, - and _, and @if takes one name, with ! before it for the contrary.";
    throw promptInvalid(file, line, `"${name}" is not a name`, hint);
  }
  if (open.length === MAX_PROMPT_NESTING) {
    throw promptInvalid(
      file,
      line,
      `@${kind} is nested more than ${MAX_PROMPT_NESTING} deep`,
      "Make it flatter.",
    );
  }
  const around = open.at(-1);
  if (kind === "fill" && around !== undefined) {
    const message = `@fill stands within the @${around.kind} of line ${around.line}`;
    throw promptInvalid(file, line, message, "Put it outside: what is optional goes into the @fill.");
  }
  if (kind === "fill" && fills.has(name)) {
    const message = `the block "${name}" is filled twice, first on line ${fills.get(name)!.line}`;
    throw promptInvalid(file, line, message, "Keep one of them.");
  }
  open.push({ kind, name, line, body: [] });
}

function endPart(end: string, line: number, reading: Reading): void {
  const kind = end === "else" ? "if" : end.slice("end".length);
  const part = reading.open.at(-1);
  if (part?.kind !== kind || (end === "else" && part.otherwise !== undefined)) {
    const where =
      part === undefined ? `there is no @${kind} before it` : `@${part.kind} of line ${part.line} is open`;
    throw promptInvalid(
      reading.file,
      line,
      `@${end} is out of place: ${where}`,
      "Each @end closes the last that is open.",
    );
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
