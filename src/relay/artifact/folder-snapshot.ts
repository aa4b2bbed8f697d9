/** The content of folders, for comparison with their content later. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { compareTexts, MAX_DIFFED_CHARACTERS } from "../../model/compare-texts.ts";
import { hasCode } from "../../model/error-code.ts";
import { MAX_DIFF_CHARACTERS, MAX_DIFFS_CHARACTERS, MAX_SHOWN_FILES } from "./changes.ts";
import type { FileChange } from "./file-changes.ts";

export interface SnapshotLimits {
  /** Further files are left out. */
  readonly maxFiles: number;
  /** For all texts together. */
  readonly maxCharacters: number;
  /** Files not reached by then are left out. */
  readonly maxMs: number;
}

const SNAPSHOT_LIMITS: SnapshotLimits = { maxFiles: 5_000, maxCharacters: 8 * 1024 * 1024, maxMs: 2_000 };

/** Folders that tools manage. */
const SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules"]);

export interface FolderSnapshot {
  /** By path. */
  readonly files: ReadonlyMap<string, FileSnapshot>;
  /** False: a limit was reached, and files may be missing. */
  readonly isWhole: boolean;
}

export interface FileSnapshot {
  /** Of the content; for a link, its target. */
  readonly hash: string;
  /** Undefined: omitted for the reason in `whyNoText`. */
  readonly text?: string | undefined;
  readonly whyNoText?: "binary" | "too large" | "a link" | "unreadable" | undefined;
}

export interface SnapshotPlace {
  /** In order of precedence for the limits. A missing folder counts as empty. */
  readonly folders: readonly string[];
  /** Subfolders to leave out. */
  readonly without?: readonly string[];
}

/** Does not follow links. */
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
      if (files.has(path)) continue; // folders may be nested
      if (files.size >= maxFiles || clock() > endMs) return { files, isWhole: false };
      const file = await snapshotFile(path, room);
      room -= file.text?.length ?? 0;
      files.set(path, file);
    }
  }
  return { files, isWhole: true };
}

/** Sorted by name. */
async function* filesIn(folder: string, without: ReadonlySet<string>): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []); // an unreadable folder counts as empty
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
    if (size > MAX_DIFFED_CHARACTERS) return { hash: `${size} bytes at ${mtimeMs}`, whyNoText: "too large" };
    const bytes = await handle.readFile();
    const hash = createHash("sha256").update(bytes).digest("hex");
    if (bytes.includes(0)) return { hash, whyNoText: "binary" };
    const text = bytes.toString();
    return text.length > room ? { hash, whyNoText: "too large" } : { hash, text };
  } catch (error) {
    if (!hasCode(error, "ELOOP")) return { hash: "", whyNoText: "unreadable" };
    return { hash: await readlink(path).catch(() => ""), whyNoText: "a link" };
  }
}

/**
 * New, removed and changed files, sorted by path. A file missing from an incomplete snapshot is left out, because it may
 * have existed.
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
    // Nothing beyond these limits is shown, so it is not compared either.
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
