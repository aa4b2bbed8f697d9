/**
 * Looks through folders for what a command changed, and for what is known by another path. Names are bytes here: a name
 * need not be valid text, and what has such a name must not be overlooked.
 */
import { isUtf8 } from "node:buffer";
import type { BigIntStats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

import { codeOf, hasCode } from "../model/error-code.ts";
import { type EntryWords, hashIfThere, nameWords, targetWords } from "./file-facts.ts";
import { isPathInside } from "./home-paths.ts";

/** A longer file has the label of the last record of its path, even if its content has changed. */
export const MAX_HASHED_BYTES = 256 * 1024 * 1024;
/** With more files, nothing is said about any. */
export const MAX_FILES_SCANNED = 20_000;
/** Of the record of a folder, a link or a special file: its hash is of words, not of a content. */
export const ENTRY_SIZE = -3;

export interface ScannedEntry {
  readonly path: string;
  readonly sha256: string;
  readonly size: number;
}

/** What is known by its path, and may be elsewhere now. */
export interface Contents {
  readonly sizes: ReadonlySet<number>;
  readonly hashes: ReadonlySet<string>;
  readonly paths: ReadonlySet<string>;
}

/** Where each folder was before a command ran. */
type FolderPlaces = ReadonlyMap<string, string>;

/** Undefined: there are too many files to tell, or some cannot be seen. */
export async function folderPlaces(folders: readonly string[]): Promise<FolderPlaces | undefined> {
  const entries = await entriesIn(folders, "folders");
  return entries && new Map(entries.map(({ path, stats }) => [identityOf(stats), path.toString()]));
}

export interface CommandTrace {
  readonly sinceMs: number;
  readonly before: FolderPlaces | undefined;
  readonly known: Contents;
  /** Whether a file that is at another place now, or looked at in another way, lost the label of its place. */
  readonly lostPlace: (was: string, is: string) => boolean;
}

/**
 * What a command changed, made or moved: a renamed folder leaves no trace in its files. Undefined: there are too many
 * files to tell, or some cannot be seen.
 */
export async function changedSince(
  folders: readonly string[],
  { sinceMs, before, known, lostPlace }: CommandTrace,
): Promise<readonly ScannedEntry[] | undefined> {
  const entries = before && (await entriesIn(folders));
  if (entries === undefined) return undefined;
  const changed: ScannedEntry[] = [];
  for (const entry of entries) {
    const [was, is] = [placeBefore(entry, before!), entry.path.toString()];
    const isChanged = entry.stats.isDirectory()
      ? was !== is
      : Number(entry.stats.ctimeMs) >= sinceMs || was === undefined || lostPlace(was, is);
    if (!isChanged && (was === is || !isAlike(entry, known))) continue;
    const scanned = await scan(entry);
    if (scanned === "unknown") return undefined;
    if (scanned === undefined || !(isChanged || known.hashes.has(scanned.sha256))) continue;
    if (!isUtf8(entry.path)) return undefined;
    changed.push({ ...scanned, path: is });
  }
  return changed;
}

/** Undefined: it is a new folder, or in one. */
function placeBefore({ path, folder, stats }: Entry, before: FolderPlaces): string | undefined {
  if (stats.isDirectory()) return before.get(identityOf(stats));
  if (folder === undefined) return path.toString();
  const place = before.get(identityOf(folder.stats));
  return place === undefined ? undefined : join(place, nameOf(path).toString());
}

/** Programs fill them with the same files everywhere, so that a copy there says nothing. */
const FILLED = new Set([".git", "node_modules"]);

/**
 * Copies of something known, apart from those in folders that programs fill. Undefined: there are too many files to tell,
 * or some cannot be seen.
 */
export async function copiesIn(
  folders: readonly string[],
  known: Contents,
): Promise<readonly string[] | undefined> {
  const entries = await entriesIn(folders, "by people");
  if (entries === undefined) return undefined;
  const copies: string[] = [];
  for (const entry of entries) {
    if (!isAlike(entry, known)) continue;
    const scanned = await scan(entry);
    if (scanned === undefined) continue;
    if (scanned !== "unknown" && !known.hashes.has(scanned.sha256)) continue;
    if (!isUtf8(entry.path)) return undefined;
    copies.push(entry.path.toString());
  }
  return copies;
}

interface Entry {
  readonly path: Buffer;
  readonly stats: BigIntStats;
  /** Undefined: it was asked for itself. */
  readonly folder: Entry | undefined;
}

/** Also files can be asked for. Links are not followed. */
async function entriesIn(
  asked: readonly string[],
  kind: "all" | "folders" | "by people" = "all",
): Promise<readonly Entry[] | undefined> {
  const outermost = new Set(asked.filter((path) => !asked.some((other) => isBelow(path, other))));
  try {
    const found = await entriesAt([...outermost].map((path) => Buffer.from(path)));
    for (let at = 0; at < found.length; at++) {
      const folder = found[at]!;
      if (!folder.stats.isDirectory()) continue;
      if (kind === "by people" && folder.folder !== undefined && FILLED.has(nameOf(folder.path).toString()))
        continue;
      const inside = await readdir(folder.path, { withFileTypes: true, encoding: "buffer" }).catch(ifGone);
      const wanted = (inside ?? []).filter((entry) => kind !== "folders" || entry.isDirectory());
      if (found.length + wanted.length > MAX_FILES_SCANNED + outermost.size) return undefined;
      const paths = wanted.map(({ name }) => Buffer.concat([folder.path, SLASH, name]));
      found.push(...(await entriesAt(paths, folder)));
    }
    return found;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined; // such as a folder that nobody may read, or a path longer than the system takes
  }
}

const SLASH = Buffer.from("/");

async function entriesAt(paths: readonly Buffer[], folder?: Entry): Promise<Entry[]> {
  const all = await Promise.all(paths.map((path) => lstat(path, { bigint: true }).catch(ifGone)));
  return all.flatMap((stats, at) => (stats === undefined ? [] : { path: paths[at]!, stats, folder }));
}

/** Of what goes away meanwhile, there is nothing to say. */
function ifGone(error: unknown): undefined {
  if (!hasCode(error, "ENOENT", "ENOTDIR")) throw error;
}

function isBelow(path: string, folder: string): boolean {
  return path !== folder && isPathInside(path, folder);
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

function nameOf(path: Buffer): Buffer {
  return path.subarray(path.lastIndexOf(SLASH) + 1);
}

/** Whether it can hold something known, which is not known of it. */
function isAlike({ path, stats }: Entry, { sizes, paths }: Contents): boolean {
  const isKind = stats.isFile() ? stats.size > 0 && sizes.has(Number(stats.size)) : sizes.has(ENTRY_SIZE);
  return isKind && !paths.has(path.toString());
}

type Scanned = Omit<ScannedEntry, "path"> | undefined | "unknown";

async function scan(entry: Entry): Promise<Scanned> {
  const size = Number(entry.stats.size);
  try {
    if (!entry.stats.isFile()) {
      const words = await wordsOf(entry);
      return words && { sha256: words.sha256, size: ENTRY_SIZE };
    }
    if (size > MAX_HASHED_BYTES) return "unknown";
    const sha256 = await hashIfThere(entry.path);
    return sha256 === undefined ? undefined : { sha256, size };
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return "unknown";
  }
}

async function wordsOf(entry: Entry): Promise<EntryWords | undefined> {
  if (!entry.stats.isSymbolicLink()) return nameWords(nameOf(entry.path));
  return targetWords(entry.path).catch(ifGone);
}
