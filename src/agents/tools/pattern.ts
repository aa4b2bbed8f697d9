/** Patterns that models write, matched in time that grows with the text and never faster. */
import { CortexError } from "../../model/errors.ts";

export const MAX_PATTERN_LENGTH = 512;

export type Matches = (text: string) => boolean;

/** Of a regular expression, which may match anywhere in a text. */
export async function compilePattern(pattern: string): Promise<Matches> {
  const { RE2JS } = await import("re2js");
  try {
    const compiled = RE2JS.compile(pattern);
    return (text) => compiled.test(text);
  } catch (error) {
    throw new CortexError(
      "tool_input_invalid",
      `The pattern ${JSON.stringify(pattern)} is not valid: ${reason(error)}`,
      {
        hint: "The syntax is that of RE2: no lookaround, no backreferences. To find a character like ( as such, write \\(.",
        cause: error,
      },
    );
  }
}

/**
 * Of a glob, which must match a whole path. `*` and `?` stay within a name, `**` goes through folders, `[a-z]`
 * is one character and `{a,b}` either. Names that begin with a dot are names like others.
 */
export async function compileGlob(glob: string): Promise<Matches> {
  const { RE2JS } = await import("re2js");
  try {
    const compiled = RE2JS.compile(`^(?:${globSource(glob)})$`, RE2JS.DOTALL);
    return (path) => compiled.test(path);
  } catch (error) {
    throw new CortexError(
      "tool_input_invalid",
      `The glob ${JSON.stringify(glob)} is not valid: ${reason(error)}`,
      {
        hint: "Write it like src/**/*.{ts,js}, and a backslash before a character that is meant as such.",
        cause: error,
      },
    );
  }
}

/** What a glob is made of; the last alternative is any other character. */
const GLOB_PARTS = /\\(?<escaped>.)|\*\*\/|\*+|\?|\[(?<negated>[!^]?)(?<set>\]?[^\]/]+)\]|[{},]|./gsu;

function globSource(glob: string): string {
  let depth = 0;
  return glob.replaceAll(GLOB_PARTS, (part, ...rest) => {
    const { escaped, negated, set } = rest.at(-1) as Partial<Record<string, string>>;
    if (escaped !== undefined) return quote(escaped);
    if (set !== undefined)
      return `[${negated === "" ? "" : "^/"}${set.replaceAll(/[\\[\]^]/g, String.raw`\$&`)}]`;
    switch (part) {
      case "**/":
        return "(?:[^/]+/)*";
      case "*":
        return "[^/]*";
      case "?":
        return "[^/]";
      case "{":
        depth += 1;
        return "(?:";
      case "}":
        depth -= 1;
        return ")";
      case ",":
        return depth > 0 ? "|" : ",";
      default:
        return part.startsWith("**") ? ".*" : quote(part);
    }
  });
}

function quote(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message.replace("error parsing regexp: ", "") : String(error);
}
