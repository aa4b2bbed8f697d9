/** What is in a folder, so that it can be compared with what is there later. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { compareTexts, type FileChange, MAX_DIFFED_CHARACTERS } from "./file-changes.ts";

export interface SnapshotLimits {
  /** Files beyond these are not looked at. */
  readonly maxFiles: number;
  /** Texts are kept for later up to so much, all together. */
  readonly maxCharacters: number;
}

const SNAPSHOT_LIMITS: SnapshotLimits = { maxFiles: 5000, maxCharacters: 32 * 1024 * 1024 };

/** Folders that tools fill, and people do not read. */
const SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules"]);

/** Files by their path. */
export type FolderSnapshot = ReadonlyMap<string, FileSnapshot>;

interface FileSnapshot {
  /** Of the content; of a link, where it leads. */
  readonly hash: string;
  /** Undefined: it is not kept, because of this. */
  readonly text: string | undefined;
  readonly whyNoText: "binary" | "too large" | "a link" | "unreadable" | undefined;
}

/** Links are not followed. A folder that is not there has nothing in it. */
export async function snapshotFolder(
  folder: string,
  { maxFiles, maxCharacters }: SnapshotLimits = SNAPSHOT_LIMITS,
): Promise<FolderSnapshot> {
  const files = new Map<string, FileSnapshot>();
  let room = maxCharacters;
  for await (const path of filesIn(folder)) {
    if (files.size >= maxFiles) break;
    const file = await snapshotFile(path, room);
    room -= file.text?.length ?? 0;
    files.set(path, file);
  }
  return files;
}

/** In the order of their names. */
async function* filesIn(folder: string): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []); // one that cannot be read is empty
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isFile() || entry.isSymbolicLink()) yield path;
    else if (entry.isDirectory() && !SKIPPED.has(entry.name)) yield* filesIn(path);
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

/** The files that are new, gone or different, in the order of their paths. */
export async function compareSnapshots(
  before: FolderSnapshot,
  after: FolderSnapshot,
): Promise<readonly FileChange[]> {
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  const changed = paths.filter((path) => before.get(path)?.hash !== after.get(path)?.hash);
  return Promise.all(
    changed.map(async (path) => ({
      path,
      shown: await compareFiles(path, before.get(path), after.get(path)),
    })),
  );
}

function compareFiles(
  path: string,
  before: FileSnapshot | undefined,
  after: FileSnapshot | undefined,
): Promise<FileChange["shown"]> | FileChange["shown"] {
  const why = after?.whyNoText ?? before?.whyNoText;
  if (why !== undefined) return { kind: "unavailable", why };
  return compareTexts(path, before?.text ?? "", after?.text ?? "");
}
