/** What is in some folders, so that it can be compared with what is there later. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { MAX_DIFF_CHARACTERS, MAX_DIFFS_CHARACTERS, MAX_SHOWN_FILES } from "./changes.ts";
import { compareTexts, type FileChange, MAX_DIFFED_CHARACTERS } from "./file-changes.ts";

export interface SnapshotLimits {
  /** Files beyond these are not looked at. */
  readonly maxFiles: number;
  /** Texts are kept for later up to so much, all together. */
  readonly maxCharacters: number;
  /** After that no more files are looked at. */
  readonly maxMs: number;
}

const SNAPSHOT_LIMITS: SnapshotLimits = { maxFiles: 5_000, maxCharacters: 8 * 1024 * 1024, maxMs: 2_000 };

/** Folders that tools fill, and people do not read. */
const SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules"]);

export interface FolderSnapshot {
  /** By their paths. */
  readonly files: ReadonlyMap<string, FileSnapshot>;
  /** False: a limit was reached, so that there may be more files. */
  readonly isWhole: boolean;
}

export interface FileSnapshot {
  /** Of the content; of a link, where it leads. */
  readonly hash: string;
  /** Undefined: it is not kept, because of this. */
  readonly text?: string | undefined;
  readonly whyNoText?: "binary" | "too large" | "a link" | "unreadable" | undefined;
}

export interface SnapshotPlace {
  /** Looked at in this order. One that is not there has nothing in it. */
  readonly folders: readonly string[];
  /** Folders in them that are left out. */
  readonly without?: readonly string[];
}

/** Links are not followed. */
export async function snapshotFolders(
  { folders, without = [] }: SnapshotPlace,
  clock: () => number,
  { maxFiles, maxCharacters, maxMs }: SnapshotLimits = SNAPSHOT_LIMITS,
): Promise<FolderSnapshot> {
  const files = new Map<string, FileSnapshot>();
  const endMs = clock() + maxMs;
  let room = maxCharacters;
  for (const folder of folders) {
    for await (const path of filesIn(folder, new Set(without))) {
      if (files.has(path)) continue; // one folder may be in another
      if (files.size >= maxFiles || clock() > endMs) return { files, isWhole: false };
      const file = await snapshotFile(path, room);
      room -= file.text?.length ?? 0;
      files.set(path, file);
    }
  }
  return { files, isWhole: true };
}

/** In the order of their names. */
async function* filesIn(folder: string, without: ReadonlySet<string>): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []); // one that cannot be read is empty
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isFile() || entry.isSymbolicLink()) yield path;
    else if (entry.isDirectory() && !SKIPPED.has(entry.name) && !without.has(path))
      yield* filesIn(path, without);
  }
}

async function snapshotFile(path: string, room: number): Promise<FileSnapshot> {
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    await using handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const { size, mtimeMs } = await handle.stat();
    if (size > MAX_DIFFED_CHARACTERS)
      return { hash: `${size} bytes at ${mtimeMs}`, text: undefined, whyNoText: "too large" };
    const bytes = await handle.readFile();
    const hash = createHash("sha256").update(bytes).digest("hex");
    if (bytes.includes(0)) return { hash, text: undefined, whyNoText: "binary" };
    const text = bytes.toString();
    return text.length > room
      ? { hash, text: undefined, whyNoText: "too large" }
      : { hash, text, whyNoText: undefined };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ELOOP")
      return { hash: "", text: undefined, whyNoText: "unreadable" };
    const target = await readlink(path).catch(() => "");
    return { hash: target, text: undefined, whyNoText: "a link" };
  }
}

/**
 * The files that are new, gone or different, in the order of their paths. Where one of the snapshots is not whole, nobody
 * knows whether a file that it lacks was there.
 */
export async function compareSnapshots(
  before: FolderSnapshot,
  after: FolderSnapshot,
): Promise<readonly FileChange[]> {
  const paths = [...new Set([...before.files.keys(), ...after.files.keys()])].toSorted();
  const changes: FileChange[] = [];
  let room = MAX_DIFFS_CHARACTERS;
  for (const path of paths) {
    const [was, is] = [before.files.get(path), after.files.get(path)];
    const isKnown = (was !== undefined || before.isWhole) && (is !== undefined || after.isWhole);
    if (was?.hash === is?.hash || !isKnown) continue;
    // No more is shown than that, so that no more is compared.
    const shown =
      changes.length < MAX_SHOWN_FILES && room > 0 ? await compareFiles(path, was, is) : TOO_MANY_CHANGES;
    if (shown.kind === "diff") room -= Math.min(shown.diff.length, MAX_DIFF_CHARACTERS);
    changes.push({ path, shown });
  }
  return changes;
}

const TOO_MANY_CHANGES: FileChange["shown"] = { kind: "unavailable", why: "too many changes" };

function compareFiles(
  path: string,
  before: FileSnapshot | undefined,
  after: FileSnapshot | undefined,
): Promise<FileChange["shown"]> | FileChange["shown"] {
  const why = after?.whyNoText ?? before?.whyNoText;
  if (why !== undefined) return { kind: "unavailable", why };
  return compareTexts(path, before?.text ?? "", after?.text ?? "");
}
