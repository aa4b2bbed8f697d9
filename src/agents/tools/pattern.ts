/** Translates globs to regular expressions, which `patterns/` matches. */
export const MAX_PATTERN_LENGTH = 512;

/**
 * Matches a whole path. `*` and `?` match within a name, `**` across folders, `[a-z]` one character, and `{a,b}` either.
 * Names that start with a dot are not special.
 */
export function globPattern(glob: string): string {
  return `(?s)^(?:${globSource(glob)})$`;
}

/** The tokens of a glob; the last alternative is any other character. */
const GLOB_PARTS = /\\(?<escaped>.)|\*\*\/|\*+|\?|\[(?<negated>[!^]?)(?<set>\]?[^\]/]+)\]|[{},]|./gsu;

function globSource(glob: string): string {
  let depth = 0;
  return glob.replaceAll(GLOB_PARTS, (part, ...rest) => {
    const { escaped, negated, set }: Partial<Record<string, string>> = rest.at(-1);
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
