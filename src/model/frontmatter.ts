/** Frontmatter: YAML between two lines of `---` at the top of a Markdown file. Prompts, notes and skills have it. */
import { createRequire } from "node:module";
import type * as Yaml from "yaml";

import { isShortYaml, MAX_YAML_SIGNS } from "./yaml-keys.ts";

/** The parser's time grows with the square of the number of keys. */
export const MAX_FRONTMATTER_LENGTH = 16 * 1024;

type SplitText =
  | { readonly kind: "none" }
  /** No second line of `---` follows the first. */
  | { readonly kind: "open" }
  | { readonly kind: "closed"; readonly start: number; readonly end: number; readonly bodyStart: number };

/** Finds the frontmatter that begins at an offset. The YAML is the text from `start` to `end`. */
export function splitFrontmatter(text: string, from: number): SplitText {
  const opening = /---[^\S\n]*\n/y;
  opening.lastIndex = from;
  if (!opening.test(text)) return { kind: "none" };
  const start = opening.lastIndex;
  const closing = /^---[^\S\n]*(?:\n|$(?![^]))/gm;
  closing.lastIndex = start;
  const end = closing.exec(text);
  if (end === null) return { kind: "open" };
  return { kind: "closed", start, end: end.index, bodyStart: end.index + end[0].length };
}

interface YamlField {
  readonly name: string;
  /** Of the key, from 1. */
  readonly line: number;
  /** Null where no value is written, undefined where it is a list or a map. */
  readonly scalar: Yaml.Scalar | null | undefined;
}

interface YamlProblem {
  readonly line: number;
  /** To follow on "the frontmatter". */
  readonly message: string;
}

type ParsedFrontmatter =
  | {
      readonly kind: "fields";
      readonly fields: readonly YamlField[];
      readonly document: Yaml.Document.Parsed;
    }
  | ({ readonly kind: "invalid" } & YamlProblem);

interface FrontmatterOptions {
  /** `failsafe`: every value is text. */
  readonly schema: "core" | "failsafe";
  /** A few nested aliases can stand for gigabytes, so only single values are resolved. */
  readonly resolvesAliases: boolean;
}

/** The parser is loaded when it is first needed, and synchronously: notes are read so. */
export function parseFrontmatter(yaml: string, options: FrontmatterOptions): ParsedFrontmatter {
  if (!isShortYaml(yaml))
    return {
      kind: "invalid",
      line: 1,
      message: `is too complex: more than ${MAX_YAML_SIGNS} lines and YAML indicators`,
    };
  const { isAlias, isMap, isNode, isScalar, LineCounter, parseDocument, visit } = createRequire(
    import.meta.url,
  )("yaml") as typeof Yaml;
  const lineCounter = new LineCounter();
  const document = parseDocument(yaml, {
    schema: options.schema,
    lineCounter,
    prettyErrors: false,
    logLevel: "silent",
  });
  const invalid = (offset: number | undefined, message: string): ParsedFrontmatter => ({
    kind: "invalid",
    line: lineCounter.linePos(offset ?? 0).line,
    message,
  });
  const [error] = document.errors;
  if (error !== undefined) return invalid(error.pos[0], `is invalid YAML: ${error.message.split("\n")[0]}`);
  const { contents } = document;
  if (contents !== null && !isMap(contents)) return invalid(contents.range[0], "is not a YAML mapping");
  let refused: number | undefined;
  const refuse = (node: Yaml.Node): symbol => {
    refused = node.range?.[0] ?? 0;
    return visit.BREAK;
  };
  visit(document, {
    Pair: (_, { key }) => (isNode(key) && !isScalar(key) ? refuse(key) : undefined),
    Alias: (_, alias) => (options.resolvesAliases ? undefined : refuse(alias)),
  });
  if (refused !== undefined) return invalid(refused, "uses YAML aliases or keys that are not strings");
  const fields = (contents?.items ?? []).map(({ key, value }) => {
    const node = isAlias(value) ? value.resolve(document) : value;
    return {
      name: isScalar(key) ? String(key.value) : "",
      line: lineCounter.linePos((isScalar(key) ? key.range?.[0] : undefined) ?? 0).line,
      scalar: node === null || isScalar(node) ? node : undefined,
    };
  });
  return { kind: "fields", fields, document };
}
