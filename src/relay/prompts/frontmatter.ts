/** The YAML between two `---` lines at the top of a prompt file: the file it extends, and its variables. */
import type { Scalar } from "yaml";
import { MAX_FRONTMATTER_LENGTH, parseFrontmatter, splitFrontmatter } from "../../model/frontmatter.ts";
import { promptInvalid } from "./syntax.ts";

export interface PromptHead {
  readonly extends?: string;
  readonly variables: ReadonlyMap<string, PromptVariable>;
}

export interface PromptVariable {
  /** As written: 1.10 stays 1.10. */
  readonly text: string;
  /** For `@if`. False: empty, `false` or `null`. */
  readonly isSet: boolean;
}

interface PromptFile {
  /** Undefined: the file has no frontmatter. */
  readonly yaml?: string;
  readonly body: string;
  /** The line on which the body starts, from 1. */
  readonly firstLine: number;
}

/** Without a second `---` line, the first one is part of the text. */
export function splitPrompt(text: string): PromptFile {
  const split = splitFrontmatter(text, text.length - text.trimStart().length);
  if (split.kind !== "closed") return { body: text, firstLine: 1 };
  const { start, end, bodyStart } = split;
  return {
    // Empty lines before it, so that YAML reports the line numbers of the file.
    yaml: "\n".repeat(linesIn(text.slice(0, start))) + text.slice(start, end),
    body: text.slice(bodyStart),
    firstLine: linesIn(text.slice(0, bodyStart)) + 1,
  };
}

/** Throws `config_invalid` with the file and the line. */
export function readPromptHead(yaml: string, file: string): PromptHead {
  if (yaml.length > MAX_FRONTMATTER_LENGTH) {
    const message = `the frontmatter has more than ${MAX_FRONTMATTER_LENGTH} characters`;
    throw promptInvalid(file, 1, message, "Move long texts to the body.");
  }
  const parsed = parseFrontmatter(yaml, { schema: "core", resolvesAliases: true });
  if (parsed.kind === "invalid")
    throw promptInvalid(file, parsed.line, `the frontmatter ${parsed.message}`, HINT);
  const variables = new Map<string, PromptVariable>();
  for (const { name, line, scalar } of parsed.fields) {
    if (scalar === undefined) {
      const hint = "Expected a string, a number, true or false.";
      throw promptInvalid(file, line, `${name} is not a scalar`, hint);
    }
    variables.set(name, variableOf(scalar));
  }
  const base = variables.get("extends")?.text;
  variables.delete("extends");
  if (base === "") throw promptInvalid(file, 1, "extends is empty", "Name a file in the folder templates/.");
  return base === undefined ? { variables } : { extends: base, variables };
}

const HINT = "Write `key: value` lines. Quote texts with special characters, and move long ones to the body.";

function variableOf(scalar: Scalar | null): PromptVariable {
  const value = scalar?.value ?? "";
  const text = typeof value === "string" ? value : (scalar?.source ?? JSON.stringify(value));
  return { text, isSet: text !== "" && value !== false };
}

function linesIn(text: string): number {
  return text.split("\n").length - 1;
}
