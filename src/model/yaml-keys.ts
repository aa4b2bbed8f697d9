import type { Document } from "yaml";

/** More signs than this take the parser long, whatever they say: stray brackets, or thousands of keys. */
export const MAX_YAML_SIGNS = 4_000;

/** Whether a text is simple enough to be parsed: some 50 ms at most. */
export function isShortYaml(text: string): boolean {
  let signs = 0;
  for (const _ of text.matchAll(/[^\s\p{L}\p{N}]|\n/gu)) if (++signs > MAX_YAML_SIGNS) return false;
  return true;
}

/**
 * Whether all keys of a document are plain, and none of its values stands for another. Of a key that is a list or a
 * map, the parser makes a text, for each level anew: forty nested ones would take it for ever. Aliases can make
 * gigabytes of a few lines.
 */
export async function isPlainYaml(document: Document.Parsed): Promise<boolean> {
  const { isScalar, visit } = await import("yaml");
  let isPlain = true;
  const refuse = (): symbol => {
    isPlain = false;
    return visit.BREAK;
  };
  visit(document, {
    Pair: (_, { key }) => (key === null || isScalar(key) ? undefined : refuse()),
    Alias: refuse,
  });
  return isPlain;
}
