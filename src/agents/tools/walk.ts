/** Walks a folder tree in the order of paths, without following links. */
import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";

import { CortexError } from "../../model/errors.ts";
import { agentPatterns } from "../../patterns/matcher.ts";
import { type ConfinedPath, placeIn } from "./confine.ts";
import { fileFailure } from "./file-tool.ts";
import { openFolder } from "./open-inside.ts";

/** Folders that are listed but not entered: they are large, and their content is rarely wanted. */
const NOT_ENTERED = new Set([".git", "node_modules"]);

export const MAX_WALK_DEPTH = 64;

/** How many files and folders one call visits. */
export const MAX_VISITED = 50_000;

export interface Walk {
  readonly signal: AbortSignal;
  /** How many entries may still be visited. Zero at the end: there may be more. */
  left: number;
  /** Folders that are listed but not entered, without links: see `closedFolders`. */
  readonly closed?: ReadonlySet<string>;
  /** How many folders deep; 1 is only what is in the place itself. */
  readonly depth?: number;
}

export interface WalkEntry {
  /** Relative to the start, with `/` between names. */
  readonly path: string;
  readonly place: ConfinedPath;
  readonly kind: "file" | "folder" | "link" | "other";
}

/** The start must be readable and is entered whatever its name. Unreadable folders below it are skipped. */
export async function* walk(start: ConfinedPath, options: Walk): AsyncGenerator<WalkEntry> {
  yield* enter(start, "", options, Math.min(options.depth ?? MAX_WALK_DEPTH, MAX_WALK_DEPTH));
}

async function* enter(
  folder: ConfinedPath,
  prefix: string,
  options: Walk,
  depth: number,
): AsyncGenerator<WalkEntry> {
  for (const { name, kind } of await entriesOf(folder, options)) {
    const entry: WalkEntry = { path: prefix + name, place: placeIn(folder, name), kind };
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

/** How many entries are matched together. */
const BATCH = 256;

export async function* inBatches(entries: AsyncIterable<WalkEntry>): AsyncGenerator<readonly WalkEntry[]> {
  let batch: WalkEntry[] = [];
  for await (const entry of entries) {
    batch.push(entry);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** The entries whose path matches a pattern. Without a pattern, all of them. */
export async function matching(
  entries: readonly WalkEntry[],
  pattern: string | undefined,
  signal: AbortSignal,
): Promise<readonly WalkEntry[]> {
  if (pattern === undefined || entries.length === 0) return entries;
  const paths = entries.map(({ path }) => path);
  const matches = await agentPatterns.test([pattern], paths, signal);
  return entries.filter((_, at) => matches[at]?.[0]);
}

type FolderEntry = Pick<WalkEntry, "kind"> & { readonly name: string };

async function entriesOf(place: ConfinedPath, options: Walk): Promise<FolderEntry[]> {
  options.signal.throwIfAborted();
  const entries: FolderEntry[] = [];
  await using folder = await openFolder(place);
  for await (const entry of await opendir(folder.at())) {
    if (options.left === 0) break;
    options.left -= 1;
    entries.push({ name: entry.name, kind: entryKind(entry) });
  }
  return entries.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

/** Sorting by this key sorts the paths of the whole walk. */
function sortKey({ name, kind }: FolderEntry): string {
  return kind === "folder" ? `${name}/` : name;
}

export function entryKind(
  entry: Pick<Dirent, "isFile" | "isDirectory" | "isSymbolicLink">,
): WalkEntry["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}
