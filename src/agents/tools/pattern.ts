/** Globs, as the patterns that they stand for: `patterns/` matches them. */
export const MAX_PATTERN_LENGTH = 512;

/**
 * Must match a whole path. `*` and `?` stay within a name, `**` goes through folders, `[a-z]`
 * is one character and `{a,b}` either. Names that begin with a dot are names like others.
 */
export function globPattern(glob: string): string {
  return `(?s)^(?:${globSource(glob)})$`;
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
