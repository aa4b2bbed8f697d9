/**
 * The frontmatter of a note: flat YAML, read as texts.
 *
 * Nearly every line is `key: value`, and those are read by hand: a team has a thousand notes. Anything else is left to
 * the YAML parser, which is loaded only then. Aliases are not taken: nobody needs them here, and a few of them can
 * stand for gigabytes.
 */
import { createRequire } from "node:module";
import type * as Yaml from "yaml";

import { isShortYaml, MAX_YAML_SIGNS } from "../../model/yaml-keys.ts";
import { type Line, lineAt, startOf } from "./outline.ts";
import type { FileProblem } from "./task.ts";

export const MAX_FRONTMATTER_LENGTH = 16_384;

export interface Frontmatter {
  /** Values that are texts, by name. */
  readonly fields: ReadonlyMap<string, string>;
  /** Of the lines between the two `---`; undefined where there are none. */
  readonly lines: readonly Line[] | undefined;
  /** Where the note goes on below it, and the number of that line. */
  readonly bodyStart: number;
  readonly bodyLine: number;
  readonly problems: readonly FileProblem[];
}

export function readFrontmatter(text: string): Frontmatter {
  const opening = lineAt(text, startOf(text), 1);
  const none = { fields: new Map<string, string>(), lines: undefined, bodyStart: opening.start, bodyLine: 1 };
  if (!isRule(text, opening)) return { ...none, problems: [] };
  const lines: Line[] = [];
  for (let start = opening.next; start < text.length;) {
    const line = lineAt(text, start, lines.length + 2);
    if (line.end > MAX_FRONTMATTER_LENGTH) break;
    if (isRule(text, line)) {
      const written = text.slice(opening.next, line.start);
      const rest = { lines, bodyStart: line.next, bodyLine: line.line + 1 };
      return { ...readFields(written), ...rest };
    }
    lines.push(line);
    start = line.next;
  }
  const message = `the frontmatter has no end within ${MAX_FRONTMATTER_LENGTH} characters, so it is not read`;
  const hint = "Write a line --- below its last field.";
  return { ...none, problems: [{ line: 1, rule: "frontmatter-open", message, hint }] };
}

const KEY = /^([A-Za-z_][\w-]*):(?:[ \t]+|$)/;

/** The name and the value of a line, where both are plain to see; the value as it is written. */
export function fieldAt(line: string): { readonly name: string; readonly value: string } | undefined {
  const found = KEY.exec(line);
  return found === null ? undefined : { name: found[1]!, value: line.slice(found[0].length).trim() };
}

/** The value of a scalar in one line, where there is nothing special about it. */
export function plainValue(written: string): string | undefined {
  if (written === "" || written === "~" || written === "null") return "";
  const first = written[0]!;
  if (first === '"' || first === "'") {
    const inner = written.slice(1, -1);
    const isWhole = written.length > 1 && written.endsWith(first);
    return isWhole && !inner.includes(first) && !(first === '"' && inner.includes("\\")) ? inner : undefined;
  }
  const isSpecial = "[]{}&*!|>%@`#,".includes(first) || /^[-?:](?:\s|$)|:(?:\s|$)|\s#/.test(written);
  return isSpecial ? undefined : written;
}

type Fields = Pick<Frontmatter, "fields" | "problems">;

function readFields(written: string): Fields {
  const fields = new Map<string, string>();
  for (const line of written.split(/\r?\n/)) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const field = fieldAt(line);
    const value = field && plainValue(field.value);
    if (value === undefined || fields.has(field!.name))
      return isShortYaml(written) ? readYaml(written) : tooManySigns(written);
    fields.set(field!.name, value);
  }
  return { fields, problems: [] };
}

function tooManySigns(written: string): Fields {
  const message = `the frontmatter has more than ${MAX_YAML_SIGNS} lines and signs`;
  const hint = "Put long texts below it.";
  return {
    fields: guessFields(written),
    problems: [{ line: 1, rule: "frontmatter-invalid", message, hint }],
  };
}

function readYaml(written: string): Fields {
  // Reading a note is synchronous, and an import is not.
  const { isMap, isScalar, LineCounter, parseDocument, visit } = createRequire(import.meta.url)(
    "yaml",
  ) as typeof Yaml;
  const lineCounter = new LineCounter();
  const document = parseDocument(written, {
    schema: "failsafe",
    lineCounter,
    prettyErrors: false,
    logLevel: "silent",
  });
  const refuse = (offset: number, message: string): Fields => ({
    fields: guessFields(written),
    problems: [
      {
        line: lineCounter.linePos(offset).line + 1,
        rule: "frontmatter-invalid",
        message: `the frontmatter is not what a note has: ${message}`,
        hint: "Write name: value in each line, and put texts with special characters into quotes.",
      },
    ],
  });
  const [error] = document.errors;
  if (error !== undefined) return refuse(error.pos[0], error.message);
  let alias: number | undefined;
  visit(document, { Alias: (_, node) => void (alias ??= node.range?.[0] ?? 0) });
  if (alias !== undefined) return refuse(alias, "it has an alias");
  const { contents } = document;
  if (!isMap(contents)) return refuse(0, "it is no list of fields");
  const fields = new Map<string, string>();
  for (const { key, value } of contents.items)
    if (isScalar<string>(key) && isScalar<string | null>(value)) fields.set(key.value, value.value ?? "");
  return { fields, problems: [] };
}

/** Of frontmatter that is no YAML, what the lines say by themselves: somebody may have forgotten quotes. */
function guessFields(written: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of written.split(/\r?\n/)) {
    const field = fieldAt(line);
    if (field !== undefined && !fields.has(field.name) && !/^[*&!|>[{]/.test(field.value))
      fields.set(field.name, plainValue(field.value) ?? field.value);
  }
  return fields;
}

function isRule(text: string, { start, end }: Line): boolean {
  return text.startsWith("---", start) && text.slice(start, end).trimEnd() === "---";
}
