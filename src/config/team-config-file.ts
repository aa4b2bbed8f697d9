/**
 * Reads `config.yaml` of the home: a flat list of `key: value` that other programs of the team protocol read and write
 * too. So foreign keys are ignored unless one looks like a typing error.
 */
import { isShortYaml, MAX_YAML_SIGNS } from "../model/yaml-keys.ts";
import { type FileText, formatSource, type TextPosition } from "./json-file.ts";
import type { Problem } from "./problem.ts";

export const TEAM_CONFIG_FILE = "config.yaml";

/** The YAML parser is quadratic in the number of keys. */
export const MAX_TEAM_CONFIG_LENGTH = 16 * 1024;

interface TeamConfigFile {
  readonly entries: readonly TeamConfigEntry[];
  readonly problems: readonly Problem[];
}

interface TeamConfigEntry {
  readonly key: string;
  /** As written, without quotes: the chat id `-100123` stays a text. Undefined: no value. */
  readonly text: string | undefined;
  readonly position: TextPosition;
  /** The range of the value in the text; empty if there is none. */
  readonly range: readonly [start: number, end: number];
}

const EMPTY: TeamConfigFile = { entries: [], problems: [] };

export async function parseTeamConfig(file: FileText): Promise<TeamConfigFile> {
  if (file === undefined) return EMPTY;
  if ("problem" in file) return { entries: [], problems: [file.problem] };
  if (file.text.trim() === "") return EMPTY;
  if (file.text.length > MAX_TEAM_CONFIG_LENGTH) {
    const message = `longer than ${MAX_TEAM_CONFIG_LENGTH} characters`;
    return failed(message, "Keep only team settings in it.");
  }
  if (!isShortYaml(file.text)) {
    const message = `too complex: more than ${MAX_YAML_SIGNS} lines and YAML indicators`;
    return failed(message, "Keep only team settings in it.");
  }
  return parseYaml(file.text);
}

async function parseYaml(text: string): Promise<TeamConfigFile> {
  const { isMap, isScalar, LineCounter, parseDocument } = await import("yaml");
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false, logLevel: "silent" });
  const positionAt = (offset: number): TextPosition => {
    const { line, col } = lineCounter.linePos(offset);
    return { line, column: col };
  };
  const [error] = document.errors;
  if (error !== undefined) return failed(`invalid YAML: ${error.message}`, FORM, positionAt(error.pos[0]));
  const { contents } = document;
  if (contents === null) return EMPTY;
  if (!isMap(contents) || contents.flow === true) {
    return failed("expected `key: value` lines", FORM, positionAt(contents.range[0]));
  }

  const entries: TeamConfigEntry[] = [];
  const problems: Problem[] = [];
  for (const { key, value } of contents.items) {
    const name = isScalar(key) ? String(key.value) : "";
    const start = key.range?.[0] ?? 0;
    const position = positionAt(start);
    // Aliases are not followed.
    if (value !== null && !isScalar(value)) {
      const source = formatSource(TEAM_CONFIG_FILE, position);
      problems.push({ source, path: name, message: "expected a single value", hint: FORM });
      continue;
    }
    const range = value?.range ?? [key.range?.[1] ?? start, key.range?.[1] ?? start];
    entries.push({ key: name, text: textOf(value), position, range: [range[0], range[1]] });
  }
  return { entries, problems };
}

const FORM = "Write one `key: value` per line, and quote strings with special characters.";

function textOf(scalar: { readonly value: unknown; readonly source?: string } | null): string | undefined {
  if (scalar === null || scalar.value === null) return undefined;
  return typeof scalar.value === "string" ? scalar.value : (scalar.source ?? JSON.stringify(scalar.value));
}

function failed(message: string, hint: string, position?: TextPosition): TeamConfigFile {
  const source = formatSource(TEAM_CONFIG_FILE, position);
  return { entries: [], problems: [{ source, path: "", message, hint }] };
}
