/** The YAML between two lines of `---` at the top of a prompt file: what the file extends, and its variables. */
import type { Scalar } from "yaml";
import { MAX_FRONTMATTER_LENGTH, parseFrontmatter, splitFrontmatter } from "../../model/frontmatter.ts";
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

/** Without a second line of `---`, the first is a line of the text. */
export function splitPrompt(text: string): PromptFile {
  const split = splitFrontmatter(text, text.length - text.trimStart().length);
  if (split.kind !== "closed") return { body: text, firstLine: 1 };
  const { start, end, bodyStart } = split;
  return {
    // Empty lines in place of what is before, so that YAML counts the lines of the file.
    yaml: "\n".repeat(linesIn(text.slice(0, start))) + text.slice(start, end),
    body: text.slice(bodyStart),
    firstLine: linesIn(text.slice(0, bodyStart)) + 1,
  };
}

/** Throws `config_invalid` with the file and the line. */
export function readFrontmatter(yaml: string, file: string): Frontmatter {
  if (yaml.length > MAX_FRONTMATTER_LENGTH) {
    const message = `the frontmatter has more than ${MAX_FRONTMATTER_LENGTH} characters`;
    throw promptInvalid(file, 1, message, "Put long texts into the body.");
  }
  const parsed = parseFrontmatter(yaml, { schema: "core", resolvesAliases: true });
  if (parsed.kind === "invalid")
    throw promptInvalid(file, parsed.line, `the frontmatter ${parsed.message}`, HINT);
  const variables = new Map<string, PromptVariable>();
  for (const { name, line, scalar } of parsed.fields) {
    if (scalar === undefined) {
      const hint = "Variables are texts, numbers, true or false.";
      throw promptInvalid(file, line, `${name} is not a text`, hint);
    }
    variables.set(name, variableOf(scalar));
  }
  const base = variables.get("extends")?.text;
  variables.delete("extends");
  if (base === "")
    throw promptInvalid(file, 1, "extends names no file", "Name a file of the folder templates/.");
  return base === undefined ? { variables } : { extends: base, variables };
}

const HINT =
  "Write `key: value` lines, and put texts with special characters into quotes and long ones into the body.";

function variableOf(scalar: Scalar | null): PromptVariable {
  const value = scalar?.value ?? "";
  const text = typeof value === "string" ? value : (scalar?.source ?? JSON.stringify(value));
  return { text, isSet: text !== "" && value !== false };
}

function linesIn(text: string): number {
  return text.split("\n").length - 1;
}
