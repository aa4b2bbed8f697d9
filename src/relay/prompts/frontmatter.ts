/** The YAML between two lines of `---` at the top of a prompt file: what the file extends, and its variables. */
import type { Document, Scalar } from "yaml";
import { isShortYaml, MAX_YAML_SIGNS } from "../../model/yaml-keys.ts";
import { promptInvalid } from "./syntax.ts";

export interface Frontmatter {
  readonly extends?: string;
  readonly variables: ReadonlyMap<string, PromptVariable>;
}

export interface PromptVariable {
  /** As it was written: 1.10 stays 1.10. */
  readonly text: string;
  /** What `@if` says of it: empty, `false` and `null` are not. */
  readonly isSet: boolean;
}

export interface PromptFile {
  /** Undefined: the text is taken as it is. */
  readonly yaml?: string;
  readonly body: string;
  /** The line of the body's first character, from 1. */
  readonly firstLine: number;
}

/** The time that YAML takes grows with the square of the number of keys. */
export const MAX_FRONTMATTER_LENGTH = 16 * 1024;

/** Without a second line of `---`, the first is a line of the text. */
export function splitFrontmatter(text: string): PromptFile {
  const opening = /^\s*---[ \t]*\n/.exec(text)?.[0];
  if (opening === undefined) return { body: text, firstLine: 1 };
  const closing = /^---[ \t]*(?:\n|$)/gm;
  closing.lastIndex = opening.length;
  const end = closing.exec(text);
  if (end === null) return { body: text, firstLine: 1 };
  const bodyStart = end.index + end[0].length;
  return {
    // Empty lines in place of what is before, so that YAML counts the lines of the file.
    yaml: "\n".repeat(linesIn(opening)) + text.slice(opening.length, end.index),
    body: text.slice(bodyStart),
    firstLine: linesIn(text.slice(0, bodyStart)) + 1,
  };
}

/** Throws `config_invalid` with the file and the line. */
export async function readFrontmatter(yaml: string, file: string): Promise<Frontmatter> {
  if (yaml.length > MAX_FRONTMATTER_LENGTH) {
    const message = `the frontmatter has more than ${MAX_FRONTMATTER_LENGTH} characters`;
    throw promptInvalid(file, 1, message, "Put long texts into the body.");
  }
  if (!isShortYaml(yaml)) {
    const message = `the frontmatter has more than ${MAX_YAML_SIGNS} lines and signs`;
    throw promptInvalid(file, 1, message, "Put long texts into the body.");
  }
  const { isAlias, isMap, isScalar, LineCounter, parseDocument } = await import("yaml");
  const lineCounter = new LineCounter();
  const document: Document.Parsed = parseDocument(yaml, {
    lineCounter,
    prettyErrors: false,
    logLevel: "silent",
  });
  const [error] = document.errors;
  const lineOf = (offset: number | undefined): number => lineCounter.linePos(offset ?? 0).line;
  if (error !== undefined) {
    throw promptInvalid(file, lineOf(error.pos[0]), `the frontmatter is not YAML: ${error.message}`, QUOTES);
  }
  const { contents } = document;
  if (contents === null) return { variables: new Map() };
  if (!isMap(contents)) {
    const line = lineOf(contents.range[0]);
    throw promptInvalid(
      file,
      line,
      "the frontmatter is not a list of key: value",
      "For a rule, write *** instead.",
    );
  }
  const variables = new Map<string, PromptVariable>();
  for (const { key, value } of contents.items) {
    if (!isScalar(key))
      throw promptInvalid(file, lineOf(contents.range[0]), "a key of the frontmatter is no text", QUOTES);
    const found = isAlias(value) ? value.resolve(document) : value;
    if (found !== null && !isScalar(found)) {
      const message = `${String(key)} is not a text`;
      throw promptInvalid(
        file,
        lineOf(key.range?.[0]),
        message,
        "Variables are texts, numbers, true or false.",
      );
    }
    variables.set(String(key), variableOf(found));
  }
  const base = variables.get("extends")?.text;
  variables.delete("extends");
  if (base === "")
    throw promptInvalid(file, 1, "extends names no file", "Name a file of the folder templates/.");
  return base === undefined ? { variables } : { extends: base, variables };
}

const QUOTES = "Put texts with special characters into quotes.";

function variableOf(scalar: Scalar | null): PromptVariable {
  const value = scalar?.value ?? "";
  const text = typeof value === "string" ? value : (scalar?.source ?? JSON.stringify(value));
  return { text, isSet: text !== "" && value !== false };
}

function linesIn(text: string): number {
  return text.split("\n").length - 1;
}
