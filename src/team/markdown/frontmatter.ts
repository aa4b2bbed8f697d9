/**
 * The frontmatter of a note: flat YAML, read as texts.
 *
 * Nearly every line is `key: value`, and those are read by hand: a team has a thousand notes. Anything else is left to
 * the YAML parser, which is loaded only then. Aliases are not taken: nobody needs them here, and a few of them can
 * stand for gigabytes.
 */
import { MAX_FRONTMATTER_LENGTH, parseFrontmatter, splitFrontmatter } from "../../model/frontmatter.ts";
import { type TextLine, lineAt, startOf } from "./outline.ts";
import type { FileProblem } from "./task.ts";

export interface Frontmatter {
  /** Values that are texts, by name. */
  readonly fields: ReadonlyMap<string, string>;
  /** Of the lines between the two `---`; undefined where there are none. */
  readonly lines: readonly TextLine[] | undefined;
  /** Where the note goes on below it, and the number of that line. */
  readonly bodyStart: number;
  readonly bodyLine: number;
  readonly problems: readonly FileProblem[];
}

export function readFrontmatter(text: string): Frontmatter {
  const from = startOf(text);
  const none = { fields: new Map<string, string>(), lines: undefined, bodyStart: from, bodyLine: 1 };
  const split = splitFrontmatter(text, from);
  if (split.kind === "none") return { ...none, problems: [] };
  if (split.kind === "open" || split.end > MAX_FRONTMATTER_LENGTH) {
    const message = `the frontmatter has no end within ${MAX_FRONTMATTER_LENGTH} characters, so it is not read`;
    const hint = "Write a line --- below its last field.";
    return { ...none, problems: [{ line: 1, rule: "frontmatter-open", message, hint }] };
  }
  const { start, end, bodyStart } = split;
  const lines: TextLine[] = [];
  for (let at = start; at < end;) {
    const line = lineAt(text, at, lines.length + 2);
    lines.push(line);
    at = line.next;
  }
  return { ...readFields(text.slice(start, end)), lines, bodyStart, bodyLine: lines.length + 3 };
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
    if (value === undefined || fields.has(field!.name)) return readYaml(written);
    fields.set(field!.name, value);
  }
  return { fields, problems: [] };
}

function readYaml(written: string): Fields {
  const parsed = parseFrontmatter(written, { schema: "failsafe", resolvesAliases: false });
  if (parsed.kind === "invalid") {
    const message = `the frontmatter ${parsed.message}`;
    const hint =
      "Write name: value in each line, put special characters into quotes, and long texts below it.";
    const problem = { line: parsed.line + 1, rule: "frontmatter-invalid", message, hint } as const;
    return { fields: guessFields(written), problems: [problem] };
  }
  const fields = new Map<string, string>();
  for (const { name, scalar } of parsed.fields)
    if (scalar !== undefined) fields.set(name, typeof scalar?.value === "string" ? scalar.value : "");
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
