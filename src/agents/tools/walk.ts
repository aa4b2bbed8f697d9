/** Goes through the folders below a place, in the order of paths, without following links. */
import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";

import { CortexError } from "../../model/errors.ts";
import { agentPatterns } from "../../patterns/matcher.ts";
import { type Place, placeIn } from "./confine.ts";
import { fileFailure } from "./file-tool.ts";
import { openFolder } from "./open-inside.ts";

/** Folders that are named but not entered: what is in them is seldom meant, and there is much of it. */
const NOT_ENTERED = new Set([".git", "node_modules"]);

export const MAX_DEPTH = 64;

/** How many files and folders one call looks at. */
export const MAX_VISITED = 50_000;

export interface Walk {
  readonly signal: AbortSignal;
  /** How many entries may still be looked at. Zero at the end: there may be more. */
  left: number;
  /** Folders that are named but not entered, as they really are: see `closedFolders`. */
  readonly closed?: ReadonlySet<string>;
  /** How many folders deep; 1 is only what is in the place itself. */
  readonly depth?: number;
}

export interface Entry {
  /** From where the walk began, with `/` between names. */
  readonly path: string;
  readonly place: Place;
  readonly kind: "file" | "folder" | "link" | "other";
}

/** The folder where it begins must be readable, and is entered whatever its name; others that are not are left out. */
export async function* walk(start: Place, options: Walk): AsyncGenerator<Entry> {
  yield* enter(start, "", options, Math.min(options.depth ?? MAX_DEPTH, MAX_DEPTH));
}

async function* enter(folder: Place, prefix: string, options: Walk, depth: number): AsyncGenerator<Entry> {
  for (const { name, kind } of await entriesOf(folder, options)) {
    const entry: Entry = { path: prefix + name, place: placeIn(folder, name), kind };
    yield entry;
    if (kind !== "folder" || depth <= 1 || NOT_ENTERED.has(name)) continue;
    if (options.closed?.has(entry.place.path) === true) continue;
    try {
      yield* enter(entry.place, `${entry.path}/`, options, depth - 1);
    } catch (error) {
      const isGone = error instanceof CortexError && error.code === "path_forbidden";
      if (!isGone && fileFailure(error, entry.path) === undefined) throw error;
    }
  }
}

/** How many entries are looked at together. */
const BATCH = 256;

export async function* inBatches(entries: AsyncIterable<Entry>): AsyncGenerator<readonly Entry[]> {
  let batch: Entry[] = [];
  for await (const entry of entries) {
    batch.push(entry);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** The entries whose path a pattern matches. Without a pattern, all of them. */
export async function matching(
  entries: readonly Entry[],
  pattern: string | undefined,
  signal: AbortSignal,
): Promise<readonly Entry[]> {
  if (pattern === undefined || entries.length === 0) return entries;
  const paths = entries.map(({ path }) => path);
  const matches = await agentPatterns.test([pattern], paths, signal);
  return entries.filter((_, at) => matches[at]![0]);
}

type Named = Pick<Entry, "kind"> & { readonly name: string };

async function entriesOf(place: Place, options: Walk): Promise<Named[]> {
  options.signal.throwIfAborted();
  const entries: Named[] = [];
  await using folder = await openFolder(place);
  for await (const entry of await opendir(folder.at())) {
    if (options.left === 0) break;
    options.left -= 1;
    entries.push({ name: entry.name, kind: kindOf(entry) });
  }
  return entries.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

/** With this key, the paths of a whole walk come out sorted. */
function sortKey({ name, kind }: Named): string {
  return kind === "folder" ? `${name}/` : name;
}

export function kindOf(entry: Pick<Dirent, "isFile" | "isDirectory" | "isSymbolicLink">): Entry["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}
