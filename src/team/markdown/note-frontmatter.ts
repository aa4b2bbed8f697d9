/**
 * The frontmatter of a note: flat YAML whose values are read as strings.
 *
 * Plain `key: value` lines are read by hand, because a team may have a thousand notes. Anything else goes to the YAML
 * parser, which is loaded on demand. Aliases are rejected: a few of them can expand to gigabytes.
 */
import { MAX_FRONTMATTER_LENGTH, parseFrontmatter, splitFrontmatter } from "../../model/frontmatter.ts";
import { type TextLine, lineAt, startOf } from "./outline.ts";
import type { FileProblem } from "./task.ts";

export interface NoteFrontmatter {
  /** String values by name. */
  readonly fields: ReadonlyMap<string, string>;
  /** The lines between the two `---`; undefined without frontmatter. */
  readonly lines: readonly TextLine[] | undefined;
  /** Offset of the text below the frontmatter. */
  readonly bodyStart: number;
  readonly problems: readonly FileProblem[];
}

export function readNoteFrontmatter(text: string): NoteFrontmatter {
  const from = startOf(text);
  const none = { fields: new Map<string, string>(), lines: undefined, bodyStart: from };
  const split = splitFrontmatter(text, from);
  if (split.kind === "none") return { ...none, problems: [] };
  if (split.kind === "open" || split.end > MAX_FRONTMATTER_LENGTH) {
    const message = `the frontmatter does not end within ${MAX_FRONTMATTER_LENGTH} characters, so it is not read`;
    const hint = "Add a line --- below its last field.";
    return { ...none, problems: [{ line: 1, rule: "frontmatter-open", message, hint }] };
  }
  const { start, end, bodyStart } = split;
  const lines: TextLine[] = [];
  for (let at = start; at < end;) {
    const line = lineAt(text, at, lines.length + 2);
    lines.push(line);
    at = line.next;
  }
  return { ...readFields(text.slice(start, end)), lines, bodyStart };
}

const KEY = /^([A-Za-z_][\w-]*):(?:[ \t]+|$)/;

/** The name and the raw value of a simple `key: value` line. */
export function fieldAt(line: string): { readonly name: string; readonly value: string } | undefined {
  const [opening = "", name] = KEY.exec(line) ?? [];
  return name === undefined ? undefined : { name, value: line.slice(opening.length).trim() };
}

/** The value of a simple one-line scalar. Undefined: it needs the YAML parser. */
export function plainValue(written: string): string | undefined {
  if (written === "" || written === "~" || written === "null") return "";
  const first = written.charAt(0);
  if (first === '"' || first === "'") {
    const inner = written.slice(1, -1);
    const isWhole = written.length > 1 && written.endsWith(first);
    return isWhole && !inner.includes(first) && !(first === '"' && inner.includes("\\")) ? inner : undefined;
  }
  const isSpecial = "[]{}&*!|>%@`#,".includes(first) || /^[-?:](?:\s|$)|:(?:\s|$)|\s#/.test(written);
  return isSpecial ? undefined : written;
}

type Fields = Pick<NoteFrontmatter, "fields" | "problems">;

function readFields(written: string): Fields {
  const fields = new Map<string, string>();
  for (const line of written.split(/\r?\n/)) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const field = fieldAt(line);
    const value = field && plainValue(field.value);
    if (field === undefined || value === undefined || fields.has(field.name)) return readYaml(written);
    fields.set(field.name, value);
  }
  return { fields, problems: [] };
}

function readYaml(written: string): Fields {
  const parsed = parseFrontmatter(written, { schema: "failsafe", resolvesAliases: false });
  if (parsed.kind === "invalid") {
    const message = `the frontmatter ${parsed.message}`;
    const hint =
      "Write one name: value per line, quote special characters, and put long text below the frontmatter.";
    const problem = { line: parsed.line + 1, rule: "frontmatter-invalid", message, hint } as const;
    return { fields: guessFields(written), problems: [problem] };
  }
  const fields = new Map<string, string>();
  for (const { name, scalar } of parsed.fields)
    if (scalar !== undefined) fields.set(name, typeof scalar?.value === "string" ? scalar.value : "");
  return { fields, problems: [] };
}

/** Invalid YAML is read line by line: often just quotes are missing. */
function guessFields(written: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of written.split(/\r?\n/)) {
    const field = fieldAt(line);
    if (field !== undefined && !fields.has(field.name) && !/^[*&!|>[{]/.test(field.value))
      fields.set(field.name, plainValue(field.value) ?? field.value);
  }
  return fields;
}
