/**
 * The artifact: the file that the agents of a relay pass along, in the relay's workspace.
 *
 * Agents can do anything to it: delete it, replace it with a folder or a link, or fill the disk with it. So it is read
 * as untrusted input: an unreadable artifact is a value with a reason, and the relay continues with the agents' answers.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readlink, realpath, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";

import { codeOf, hasCode } from "../../model/error-code.ts";
import { CortexError } from "../../model/errors.ts";
import { isRelayId } from "../../model/ids.ts";
import { forgetFiles, keepFile, readKeptFile } from "../../store/kept-files.ts";
import { writeWhole } from "../../store/write-whole.ts";

/** A larger artifact is not read: it would exceed any model's context. */
export const MAX_ARTIFACT_BYTES = 4 * 1024 * 1024;

export interface Workspace {
  readonly path: string;
  readonly artifact: string;
}

export function workspaceOf(home: string, id: string): Workspace {
  if (!isRelayId(id)) {
    throw new CortexError("id_invalid", `Invalid relay id "${id}"`, {
      hint: "A relay id is thr_ followed by 8 hexadecimal digits.",
    });
  }
  const path = join(home, "tmp", "threads", id);
  return { path, artifact: join(path, "artifact.md") };
}

/** Creates what is missing and leaves the rest unchanged. */
export async function makeWorkspace(home: string, id: string): Promise<Workspace> {
  const workspace = workspaceOf(home, id);
  try {
    await mkdir(workspace.path, { recursive: true });
    await realFolder(workspace.path);
    await writeFile(workspace.artifact, "", { flag: "wx" }).catch((error: unknown) => {
      if (codeOf(error) !== "EEXIST") throw error;
    });
    return workspace;
  } catch (cause) {
    throw unwritable(workspace.path, cause);
  }
}

/** Removes links in it without following them. */
export async function removeWorkspace(home: string, id: string): Promise<void> {
  await rm(workspaceOf(home, id).path, { recursive: true, force: true });
}

type ArtifactRead =
  | { readonly kind: "read"; readonly text: string; readonly hash: string }
  | { readonly kind: "missing" }
  /** The predicate of "the artifact". */
  | { readonly kind: "unreadable"; readonly reason: string };

/** Reads the artifact, or another file of the workspace. */
export async function readArtifact(
  { path: folder, artifact }: Workspace,
  file: string = artifact,
): Promise<ArtifactRead> {
  try {
    const [above, real] = await Promise.all([realpath(dirname(folder)), realpath(file)]);
    if (!isInside(real, join(above, basename(folder))))
      return unreadable("is a link out of the relay's workspace");
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    await using handle = await open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK); // opening a pipe would block
    const stats = await handle.stat();
    if (stats.isDirectory()) return unreadable("is a folder");
    if (!stats.isFile()) return unreadable("is not a file");
    if ((await locationOf(handle, real)) !== real) return unreadable("was moved while it was opened");
    const bytes = await readAtMost(handle, MAX_ARTIFACT_BYTES);
    if (bytes === undefined) return unreadable(`exceeds ${MAX_ARTIFACT_BYTES} bytes`);
    return { kind: "read", text: bytes.toString(), hash: createHash("sha256").update(bytes).digest("hex") };
  } catch (error) {
    const code = codeOf(error);
    return code === "ENOENT" || code === "ENOTDIR" ? { kind: "missing" } : unreadable(reasonOf(error));
  }
}

/** Replaces the whole artifact, or anything else in its place except a folder. */
export async function writeArtifact({ path: folder, artifact }: Workspace, text: string): Promise<void> {
  try {
    await realFolder(folder);
    await writeWhole(artifact, text, { flush: true });
  } catch (cause) {
    throw unwritable(artifact, cause);
  }
}

/** Creates the file that a step of a fan-out writes to, and returns its path. */
export async function makeSection({ path: folder }: Workspace, name: string): Promise<string> {
  const path = join(folder, name);
  try {
    const root = await realFolder(folder);
    await mkdir(dirname(path), { recursive: true });
    const parent = await realpath(dirname(path));
    if (!isInside(parent, root)) throw new Error("a link points outside the workspace");
    const { O_CREAT, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    await (await open(path, O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK)).close();
    return path;
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

export interface Section {
  /** The step that wrote it. */
  readonly title: string;
  readonly text: string;
}

/** Appends the sections of a fan-out to an artifact, in order. Merging the same sections again changes nothing. */
export function mergeSections(artifact: string, sections: readonly Section[]): string {
  const written = sections.filter(({ text }) => text.trim() !== "");
  if (written.length === 0) return artifact;
  const merged = written.map(({ title, text }) => `## ${title}\n\n${text.trim()}\n`).join("\n");
  if (artifact.endsWith(merged)) return artifact;
  const lead = artifact.trimEnd();
  return lead === "" ? merged : `${lead}\n\n${merged}`;
}

/** Does not trust the size of the file: it may grow during reading. */
async function readAtMost(handle: FileHandle, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of handle.createReadStream({ end: maxBytes, autoClose: false })) {
    const piece: Buffer = chunk;
    length += piece.length;
    chunks.push(piece);
  }
  return length > maxBytes ? undefined : Buffer.concat(chunks);
}

/** The real path of an open file: a parent folder may have become a link in the meantime. */
function locationOf(handle: FileHandle, path: string): Promise<string> {
  return process.platform === "linux" ? readlink(`/proc/self/fd/${handle.fd}`) : realpath(path);
}

/** Whether a workspace exists and is not a link. */
export function isInPlace(folder: string): Promise<boolean> {
  return realFolder(folder).then(
    () => true,
    () => false,
  );
}

/** The real path of a workspace. If an agent has replaced it with a link, nothing of ours is written to the link's target. */
async function realFolder(folder: string): Promise<string> {
  const [above, real] = await Promise.all([realpath(dirname(folder)), realpath(folder)]);
  if (real !== join(above, basename(folder))) throw new Error("it is a link");
  return real;
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`);
}

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  switch (code) {
    case undefined:
      throw error;
    case "EACCES":
    case "EPERM":
      return "is not readable: permission denied";
    case "EISDIR":
      return "is a folder";
    case "ELOOP":
      return "is a link that points to itself";
    default:
      return `cannot be read (${code})`;
  }
}

function unreadable(reason: string): ArtifactRead {
  return { kind: "unreadable", reason };
}

function unwritable(path: string, cause: unknown): CortexError {
  const why = codeOf(cause) ?? (cause instanceof Error ? cause.message : String(cause));
  return new CortexError("home_unwritable", `Cannot write ${path} (${why})`, {
    hint: "Cortex must be able to write to a relay's workspace: check its owner and the free disk space.",
    transient: hasCode(cause, "ENOSPC", "EDQUOT", "EMFILE", "ENFILE"),
    cause,
  });
}

/** Stores a copy by its content and returns the hash. */
export function keepArtifact(home: string, text: string): Promise<string> {
  return keepFile(folderOf(home), Buffer.from(text));
}

/** Undefined: the copy was removed. */
export async function readKept(home: string, hash: string): Promise<string | undefined> {
  return (await readKeptFile(folderOf(home), hash))?.toString("utf8");
}

/** Removes the copies that no step refers to. */
export async function forgetArtifacts(home: string, isNamed: (hash: string) => boolean): Promise<void> {
  await forgetFiles(folderOf(home), isNamed);
}

function folderOf(home: string): string {
  return join(home, "data", "artifacts");
}
