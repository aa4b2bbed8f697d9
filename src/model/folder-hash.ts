/**
 * One hash of everything in a folder, for programs of others that may only run as they were when the owner accepted them.
 *
 * A file counts with its path, its content and whether it is executable; a link with its path and target. A link must stay
 * inside the folder, so nothing that the folder refers to can change without its hash. The folder's own `.git` is left out if
 * it is a folder, because git rewrites it when it only looks; so no link may lead into it.
 */
import { createHash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { lstat, open, readdir, readlink, realpath } from "node:fs/promises";
import { join, sep } from "node:path";

import { codeOf } from "./error-code.ts";
import { CortexError } from "./errors.ts";

/** Files and folders together. */
export const MAX_HASHED_ENTRIES = 5_000;
export const MAX_HASHED_BYTES = 128 * 1024 * 1024;
export const MAX_HASHED_DEPTH = 32;

export interface FolderHash {
  /** The SHA-256 of `files` as JSON. */
  readonly sha256: string;
  /** `<kind> <sha256> <path>`, sorted by path. The kind is `file`, `program` (an executable file) or `link`. */
  readonly files: readonly string[];
}

/** Throws `file_unsafe`. */
export function sha256OfFolder(folder: string): Promise<FolderHash> {
  return new FolderHashes().of(folder);
}

/** A file whose change is younger than this when it is read can change again and keep its time. */
const TICK_MS = 3_000;

interface HashedFile {
  readonly stats: BigIntStats;
  readonly readAtMs: number;
  readonly line: string;
}

interface HashedFolder {
  readonly files: ReadonlyMap<string, HashedFile>;
  readonly hash: FolderHash;
}

export const MAX_KEPT_FOLDERS = 500;

/**
 * Hashes folders repeatedly: as long as no file's status has changed, none is read. A program that has mapped a file into
 * its memory can change it without changing its status.
 */
export class FolderHashes {
  readonly #known = new Map<string, HashedFolder>();

  /** Throws `file_unsafe`. */
  async of(folder: string): Promise<FolderHash> {
    try {
      const root = await realpath(folder);
      const hashed = await hashFolder(root, this.#known.get(root));
      this.#keep(root, hashed);
      return hashed.hash;
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined || error instanceof CortexError) throw error;
      throw unhashable(folder, `it cannot be read (${code})`, error);
    }
  }

  #keep(root: string, hashed: HashedFolder): void {
    this.#known.delete(root);
    this.#known.set(root, hashed);
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size > MAX_KEPT_FOLDERS) this.#known.delete(oldest);
  }
}

/** What was added to a folder, changed in it and removed from it, by path. */
export interface FolderChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export function compareFolders(before: FolderHash["files"], after: FolderHash["files"]): FolderChanges {
  const [old, now] = [byPath(before), byPath(after)];
  return {
    added: [...now.keys()].filter((path) => !old.has(path)),
    changed: [...now].flatMap(([path, line]) => (old.has(path) && old.get(path) !== line ? [path] : [])),
    removed: [...old.keys()].filter((path) => !now.has(path)),
  };
}

/** Whether a listing has a file of this path. */
export function hasFile(files: FolderHash["files"], path: string): boolean {
  return files.some((line) => pathOf(line) === path);
}

/** Whether a listing has a file of this path and with this content. A link is none. */
export function hasContent(files: FolderHash["files"], path: string, content: Uint8Array): boolean {
  const sha256 = createHash("sha256").update(content).digest("hex");
  return files.includes(`file ${sha256} ${path}`) || files.includes(`program ${sha256} ${path}`);
}

export function hashOfFiles(files: FolderHash["files"]): string {
  return createHash("sha256").update(JSON.stringify(files)).digest("hex");
}

function byPath(files: FolderHash["files"]): Map<string, string> {
  return new Map(files.map((line) => [pathOf(line), line]));
}

function pathOf(line: string): string {
  return line.slice(line.indexOf(" ", line.indexOf(" ") + 1) + 1);
}

async function hashFolder(root: string, known: HashedFolder | undefined): Promise<HashedFolder> {
  const found = await listFolder(root);
  let isSame = known !== undefined && known.files.size === found.size;
  const files = new Map<string, HashedFile>();
  for (const [path, stats] of found) {
    const before = known?.files.get(path);
    const now =
      before !== undefined && isUnchanged(before, stats) ? before : await hashFile(root, path, stats);
    if (now.line !== before?.line) isSame = false;
    files.set(path, now);
  }
  if (isSame && known !== undefined) return { files, hash: known.hash };
  const lines = [...files].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, { line }]) => line);
  return { files, hash: { sha256: hashOfFiles(lines), files: lines } };
}

/** Not hashed in the root, as a folder. */
const GIT = ".git";

/** Files and links by their path in the folder. */
async function listFolder(root: string): Promise<Map<string, BigIntStats>> {
  const found = new Map<string, BigIntStats>();
  let [entries, bytes] = [0, 0n];
  let level = [""];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_HASHED_DEPTH) throw unhashable(root, `it is more than ${MAX_HASHED_DEPTH} folders deep`);
    const next: string[] = [];
    for (const folder of level) {
      const names = await readdir(join(root, folder));
      entries += names.length;
      if (entries > MAX_HASHED_ENTRIES)
        throw unhashable(root, `it has more than ${MAX_HASHED_ENTRIES} files and folders`);
      const paths = names.map((name) => (folder === "" ? name : `${folder}/${name}`));
      const stats = await Promise.all(paths.map((path) => lstat(join(root, path), { bigint: true })));
      for (const [at, path] of paths.entries()) {
        const each = stats[at]!;
        if (path === GIT && each.isDirectory()) continue;
        if (path.includes("\uFFFD")) throw unhashable(root, `a name in it is not valid UTF-8: ${path}`);
        if (each.isDirectory()) next.push(path);
        else if (each.isFile() || each.isSymbolicLink()) found.set(path, each);
        else throw unhashable(root, `${path} is neither a file nor a folder`);
        bytes += each.isFile() ? each.size : 0n;
      }
    }
    level = next;
  }
  if (bytes > BigInt(MAX_HASHED_BYTES))
    throw unhashable(root, `it has more than ${MAX_HASHED_BYTES / 1024 / 1024} MiB`);
  return found;
}

async function hashFile(root: string, path: string, stats: BigIntStats): Promise<HashedFile> {
  const readAtMs = Date.now();
  const place = join(root, path);
  if (stats.isSymbolicLink()) {
    const wrong = await whyNotFollowed(root, place);
    if (wrong !== undefined) throw unhashable(root, `${path} is a symbolic link ${wrong}`);
    const target = createHash("sha256").update(await readlink(place));
    return { stats, readAtMs, line: `link ${target.digest("hex")} ${path}` };
  }
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  await using handle = await open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const opened = await handle.stat({ bigint: true });
  if (!opened.isFile()) throw unhashable(root, `${path} was replaced while it was read`);
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
    if (bytes > MAX_HASHED_BYTES)
      throw unhashable(root, `it has more than ${MAX_HASHED_BYTES / 1024 / 1024} MiB`);
  }
  const kind = (opened.mode & ANYONE_RUNS) === 0n ? "file" : "program";
  return { stats: opened, readAtMs, line: `${kind} ${hash.digest("hex")} ${path}` };
}

const ANYONE_RUNS = 0o111n;

async function whyNotFollowed(root: string, link: string): Promise<string | undefined> {
  try {
    const target = await realpath(link);
    if (!isWithin(target, root)) return OUTSIDE;
    const git = join(root, GIT);
    return isWithin(target, git) && (await lstat(git)).isDirectory() ? `into its ${GIT}` : undefined;
  } catch {
    return OUTSIDE; // it leads to nothing
  }
}

const OUTSIDE = "out of the folder, or to nothing";

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The status of a link says nothing about where its target leads by now. */
function isUnchanged({ stats: before, readAtMs }: HashedFile, stats: BigIntStats): boolean {
  return (
    !stats.isSymbolicLink() &&
    before.dev === stats.dev &&
    before.ino === stats.ino &&
    before.mode === stats.mode &&
    before.size === stats.size &&
    before.mtimeNs === stats.mtimeNs &&
    before.ctimeNs === stats.ctimeNs &&
    Number(stats.ctimeMs) < readAtMs - TICK_MS
  );
}

function unhashable(folder: string, why: string, cause?: unknown): CortexError {
  return new CortexError("file_unsafe", `Refusing to use ${folder}: ${why}`, {
    hint: "Use a folder that holds only its own files, within the limits of docs/plugins.md.",
    cause,
  });
}
