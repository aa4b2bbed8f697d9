/**
 * The files of agents, templates and shells: one file with all of them, or a folder with a file for each. If both exist,
 * the folder wins.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { MAX_ENTRIES } from "../../config/schema-parts.ts";
import { type JsonFile, parseJsonFile, readText } from "../../config/json-file.ts";
import { codeOf } from "../../model/error-code.ts";
import { suggest } from "../../model/nearest.ts";
import { sourceOf } from "../../config/part.ts";
import { formatPath, type Mistake, type Path, type Problem, quote } from "../../config/problem.ts";
import { isObject } from "./loose.ts";

export const TEMPLATES_FILE = "thread-templates.json";
export const TEMPLATES_FOLDER = "thread-templates";

export const ENTRY_KINDS = ["agents", "templates", "shells"] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

export interface RelayEntry {
  readonly kind: EntryKind;
  /** Its key or file name. */
  readonly name: string;
  readonly value: unknown;
  /** Adds the file and position to a mistake whose path is relative to the entry. */
  readonly locate: (mistake: Mistake) => Problem;
}

interface Entries {
  readonly entries: readonly RelayEntry[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Mistakes in a file are problems in the result, never exceptions. */
export async function readEntries(configFolder: string): Promise<Entries> {
  const [folder, file] = await Promise.all([
    listFolder(configFolder, TEMPLATES_FOLDER),
    readText(configFolder, TEMPLATES_FILE),
  ]);
  if (folder.kind === "absent") return entriesOf(parseJsonFile(TEMPLATES_FILE, file));
  if (folder.kind === "problem") return { entries: [], problems: [folder.problem], warnings: [] };
  const all = await Promise.all(ENTRY_KINDS.map((kind) => readKind(configFolder, kind)));
  const shadowed: Problem = {
    source: TEMPLATES_FILE,
    path: "",
    message: `ignored because the folder ${TEMPLATES_FOLDER} exists`,
    hint: "Move its entries to files in the folder, or remove one of the two.",
  };
  return {
    entries: all.flatMap(({ entries }) => entries),
    problems: all.flatMap(({ problems }) => problems),
    warnings: [
      ...(file === undefined ? [] : [shadowed]),
      ...folder.names.filter((name) => LOOKS_LIKE_ENTRY.test(name)).map((name) => misplaced(name)),
      ...all.flatMap(({ warnings }) => warnings),
    ],
  };
}

function entriesOf(file: JsonFile): Entries {
  const problems: Problem[] = [...file.problems];
  const warnings: Problem[] = [];
  const entries: RelayEntry[] = [];
  const locate = locator(file, []);
  const report = (path: Path, message: string, hint: string): number =>
    problems.push(locate({ path, at: "value", message, hint }));
  if (!isObject(file.value)) {
    report([], `expected an object, got ${quote(file.value)}`, `Write {"agents": {}, "templates": {}}.`);
    return { entries, problems, warnings };
  }
  for (const [key, value] of Object.entries(file.value)) {
    const kind = ENTRY_KINDS.find((known) => known === key);
    if (key === "$schema") continue;
    if (kind === undefined) {
      const hint = suggest(key, ENTRY_KINDS);
      warnings.push(locate({ path: [key], at: "key", message: "unknown key", hint }));
    } else if (!isObject(value)) {
      report([key], `expected an object, got ${quote(value)}`, `Map names to ${key}.`);
    } else if (Object.keys(value).length > MAX_ENTRIES) {
      report([key], `has more than ${MAX_ENTRIES} entries`, "Remove unused ones.");
    } else {
      for (const [name, entry] of Object.entries(value)) {
        entries.push({ kind, name, value: entry, locate: locator(file, [kind, name]) });
      }
    }
  }
  return { entries, problems, warnings };
}

const LOOKS_LIKE_ENTRY = /^[^.].*\.(json|jsonc|json5|ya?ml)$/i;

function misplaced(name: string): Problem {
  return {
    source: join(TEMPLATES_FOLDER, name),
    path: "",
    message: "ignored",
    hint: `Use JSON files named *${SUFFIX} in ${ENTRY_KINDS.map((kind) => `${kind}/`).join(", ")}.`,
  };
}

async function readKind(configFolder: string, kind: EntryKind): Promise<Entries> {
  const folder = join(TEMPLATES_FOLDER, kind);
  const listed = await listFolder(configFolder, folder);
  if (listed.kind !== "listed")
    return { entries: [], problems: listed.kind === "absent" ? [] : [listed.problem], warnings: [] };
  const names = listed.names.filter((name) => name.endsWith(SUFFIX) && !name.startsWith(".")).toSorted();
  if (names.length > MAX_ENTRIES) {
    const message = `has more than ${MAX_ENTRIES} files`;
    const problem = { source: folder, path: "", message, hint: "Remove unused ones." };
    return { entries: [], problems: [problem], warnings: [] };
  }
  const entries: RelayEntry[] = [];
  const problems: Problem[] = [];
  for (const name of names) {
    const path = join(folder, name);
    const file = parseJsonFile(path, await readText(configFolder, path));
    problems.push(...file.problems);
    // A file that cannot be parsed is reported once, not again as an entry without any fields.
    if (file.position([]) === undefined && file.problems.length > 0) continue;
    entries.push({ kind, name: name.slice(0, -SUFFIX.length), value: file.value, locate: locator(file, []) });
  }
  const unread = listed.names.filter((name) => LOOKS_LIKE_ENTRY.test(name) && !name.endsWith(SUFFIX));
  return { entries, problems, warnings: unread.map((name) => misplaced(join(kind, name))) };
}

const SUFFIX = ".json";

type Listed =
  | { readonly kind: "listed"; readonly names: readonly string[] }
  | { readonly kind: "absent" }
  | { readonly kind: "problem"; readonly problem: Problem };

async function listFolder(configFolder: string, name: string): Promise<Listed> {
  try {
    return { kind: "listed", names: await readdir(join(configFolder, name)) };
  } catch (cause) {
    const code = codeOf(cause);
    if (code === "ENOENT") return { kind: "absent" };
    const message = code === "ENOTDIR" ? "is not a folder" : `cannot be read (${code ?? String(cause)})`;
    return {
      kind: "problem",
      problem: { source: name, path: "", message, hint: "Check its type and permissions." },
    };
  }
}

function locator(file: JsonFile, prefix: Path): RelayEntry["locate"] {
  return ({ path, at, message, hint }) => {
    const whole = [...prefix, ...path];
    return { source: sourceOf(file, whole, at), path: formatPath(whole), message, hint };
  };
}
