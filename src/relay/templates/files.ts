/**
 * The files that hold agents, templates and shells: one file with all of them, or a folder with a file for each, which
 * wins where both are there.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { MAX_ENTRIES } from "../../config/cortex-schema.ts";
import { type JsonFile, parseJsonFile, readText } from "../../config/json-file.ts";
import { suggest } from "../../model/nearest.ts";
import { sourceOf } from "../../config/part.ts";
import { formatPath, type Mistake, type Path, type Problem, quote } from "../../config/problem.ts";
import { isObject } from "./loose.ts";

export const TEMPLATES_FILE = "thread-templates.json";
export const TEMPLATES_FOLDER = "thread-templates";

export const ENTRY_KINDS = ["agents", "templates", "shells"] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

export interface Entry {
  readonly kind: EntryKind;
  /** Its key, or the name of its file. */
  readonly name: string;
  readonly value: unknown;
  /** Says where the user finds a mistake; its path begins at the entry. */
  readonly locate: (mistake: Mistake) => Problem;
}

export interface Entries {
  readonly entries: readonly Entry[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** What is wrong with a file is a problem in the result, never an exception. */
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
    message: `is not used, because there is a folder ${TEMPLATES_FOLDER}`,
    hint: "Move what it holds to files of the folder, or remove one of the two.",
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
  const entries: Entry[] = [];
  const locate = locator(file, []);
  const wrong = (path: Path, message: string, hint: string): number =>
    problems.push(locate({ path, at: "value", message, hint }));
  if (!isObject(file.value)) {
    wrong([], `${quote(file.value)} is not an object`, `Write {"agents": {}, "templates": {}}.`);
    return { entries, problems, warnings };
  }
  for (const [key, value] of Object.entries(file.value)) {
    const kind = ENTRY_KINDS.find((known) => known === key);
    if (key === "$schema") continue;
    if (kind === undefined) {
      const message = "is not a key that is known here";
      warnings.push(locate({ path: [key], at: "key", message, hint: suggest(key, ENTRY_KINDS) }));
    } else if (!isObject(value)) {
      wrong([key], `${quote(value)} is not an object`, `Write the ${key} by their names.`);
    } else if (Object.keys(value).length > MAX_ENTRIES) {
      wrong([key], `has more than ${MAX_ENTRIES} entries`, "Remove those that nobody uses.");
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
    message: "is not read",
    hint: `Write JSON, to a file of ${ENTRY_KINDS.map((kind) => `${kind}/`).join(", ")} whose name ends in ${SUFFIX}.`,
  };
}

async function readKind(configFolder: string, kind: EntryKind): Promise<Entries> {
  const folder = join(TEMPLATES_FOLDER, kind);
  const listed = await listFolder(configFolder, folder);
  if (listed.kind !== "listed")
    return { entries: [], problems: listed.kind === "absent" ? [] : [listed.problem], warnings: [] };
  const names = listed.names.filter((name) => name.endsWith(SUFFIX) && !name.startsWith(".")).toSorted();
  if (names.length > MAX_ENTRIES) {
    const hint = "Remove those that nobody uses.";
    return {
      entries: [],
      problems: [{ source: folder, path: "", message: `has more than ${MAX_ENTRIES} files`, hint }],
      warnings: [],
    };
  }
  const entries: Entry[] = [];
  const problems: Problem[] = [];
  for (const name of names) {
    const path = join(folder, name);
    const file = parseJsonFile(path, await readText(configFolder, path));
    problems.push(...file.problems);
    // What cannot be understood at all is told once, and not again as an entry in which everything is missing.
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
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") return { kind: "absent" };
    const message = code === "ENOTDIR" ? "is not a folder" : `cannot be read (${code ?? String(cause)})`;
    return {
      kind: "problem",
      problem: { source: name, path: "", message, hint: "Check what is there, and its permissions." },
    };
  }
}

function locator(file: JsonFile, prefix: Path): Entry["locate"] {
  return ({ path, at, message, hint }) => {
    const whole = [...prefix, ...path];
    return { source: sourceOf(file, whole, at), path: formatPath(whole), message, hint };
  };
}
