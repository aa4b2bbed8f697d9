/**
 * The artifact: the file that the agents of a relay pass along, in a folder of the relay's own.
 *
 * Agents write to it as they like. They may delete it, put a folder or a link in its place, or fill it without end. So it is
 * read as something foreign: what cannot be read is a value that says why, and the relay goes on by what agents answer.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readlink, realpath, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";

import { CortexError } from "../../model/errors.ts";
import { forgetFiles, keepFile, readKeptFile } from "../../store/kept-files.ts";
import { writeWhole } from "../../store/write-whole.ts";

/** A larger artifact is not read: no model takes a million tokens of it either. */
export const MAX_ARTIFACT_BYTES = 4 * 1024 * 1024;

export interface Workspace {
  readonly path: string;
  readonly artifact: string;
}

const RELAY_ID = /^thr_[0-9a-f]{8}$/;

export function workspaceOf(home: string, id: string): Workspace {
  if (!RELAY_ID.test(id)) {
    throw new CortexError("id_invalid", `"${id}" is not the id of a relay`, {
      hint: "It is thr_ and eight hexadecimal digits.",
    });
  }
  const path = join(home, "tmp", "threads", id);
  return { path, artifact: join(path, "artifact.md") };
}

/** Makes what is missing, and leaves what is there. */
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

/** With everything in it. Links in it are removed, not followed. */
export async function removeWorkspace(home: string, id: string): Promise<void> {
  await rm(workspaceOf(home, id).path, { recursive: true, force: true });
}

export type ArtifactRead =
  | { readonly kind: "read"; readonly text: string; readonly hash: string }
  | { readonly kind: "missing" }
  /** The reason follows "the artifact". */
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
    await using handle = await open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK); // a pipe would be waited for
    const stats = await handle.stat();
    if (stats.isDirectory()) return unreadable("is a folder");
    if (!stats.isFile()) return unreadable("is not a file");
    if ((await locationOf(handle, real)) !== real) return unreadable("was moved while it was opened");
    const bytes = await readAtMost(handle, MAX_ARTIFACT_BYTES);
    if (bytes === undefined) return unreadable(`is larger than ${MAX_ARTIFACT_BYTES} bytes`);
    return { kind: "read", text: bytes.toString(), hash: createHash("sha256").update(bytes).digest("hex") };
  } catch (error) {
    const code = codeOf(error);
    return code === "ENOENT" || code === "ENOTDIR" ? { kind: "missing" } : unreadable(reasonOf(error));
  }
}

/** Replaces the artifact as a whole, whatever is in its place but a folder. */
export async function writeArtifact({ path: folder, artifact }: Workspace, text: string): Promise<void> {
  try {
    await realFolder(folder);
    await writeWhole(artifact, text, { flush: true });
  } catch (cause) {
    throw unwritable(artifact, cause);
  }
}

/** Makes the file that a step of a fan-out writes to, and returns its path. */
export async function makeSection({ path: folder }: Workspace, name: string): Promise<string> {
  const path = join(folder, name);
  try {
    const root = await realFolder(folder);
    await mkdir(dirname(path), { recursive: true });
    const parent = await realpath(dirname(path));
    if (!isInside(parent, root)) throw new Error("a link leads out of the workspace");
    const { O_CREAT, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    await (await open(path, O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK)).close();
    return path;
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

export interface Section {
  /** Whose it is. */
  readonly title: string;
  readonly text: string;
}

/** An artifact with the sections of a fan-out after it, in their order. Those that were added already are not again. */
export function mergeSections(artifact: string, sections: readonly Section[]): string {
  const written = sections.filter(({ text }) => text.trim() !== "");
  if (written.length === 0) return artifact;
  const merged = written.map(({ title, text }) => `## ${title}\n\n${text.trim()}\n`).join("\n");
  if (artifact.endsWith(merged)) return artifact;
  const lead = artifact.trimEnd();
  return lead === "" ? merged : `${lead}\n\n${merged}`;
}

/** The size that a file claims is not trusted: it may grow while it is read. */
async function readAtMost(handle: FileHandle, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of handle.createReadStream({ end: maxBytes, autoClose: false })) {
    length += (chunk as Buffer).length;
    chunks.push(chunk as Buffer);
  }
  return length > maxBytes ? undefined : Buffer.concat(chunks);
}

/** Where an open file really is: a folder on the way to it may have become a link meanwhile. */
function locationOf(handle: FileHandle, path: string): Promise<string> {
  return process.platform === "linux" ? readlink(`/proc/self/fd/${handle.fd}`) : realpath(path);
}

/** Whether a workspace is there, and is no link to somewhere else. */
export function isInPlace(folder: string): Promise<boolean> {
  return realFolder(folder).then(
    () => true,
    () => false, // whatever it is, there is nothing of the relay's in it
  );
}

/** Where a workspace is. An agent may have put a link in its place: nothing of ours is written to where that leads. */
async function realFolder(folder: string): Promise<string> {
  const [above, real] = await Promise.all([realpath(dirname(folder)), realpath(folder)]);
  if (real !== join(above, basename(folder))) throw new Error("a link is in its place");
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
      return "may not be read";
    case "EISDIR":
      return "is a folder";
    case "ELOOP":
      return "is a link that leads in a circle";
    default:
      return `cannot be read (${code})`;
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function unreadable(reason: string): ArtifactRead {
  return { kind: "unreadable", reason };
}

const PASSING: ReadonlySet<string | undefined> = new Set(["ENOSPC", "EDQUOT", "EMFILE", "ENFILE"]);

function unwritable(path: string, cause: unknown): CortexError {
  return new CortexError(
    "home_unwritable",
    `${path} cannot be written (${codeOf(cause) ?? (cause as Error).message})`,
    {
      hint: "Cortex must be able to write to the workspace of a relay; see who owns it and whether the disk is full.",
      transient: PASSING.has(codeOf(cause)), // the relay goes on when there is room again
      cause,
    },
  );
}

/** Returns the hash. */
export function keepArtifact(home: string, text: string): Promise<string> {
  return keepFile(folderOf(home), Buffer.from(text));
}

/** Undefined: it is not kept any more. */
export async function readKept(home: string, hash: string): Promise<string | undefined> {
  return (await readKeptFile(folderOf(home), hash))?.toString("utf8");
}

/** Removes all that no step names. */
export async function forgetArtifacts(home: string, isNamed: (hash: string) => boolean): Promise<void> {
  await forgetFiles(folderOf(home), isNamed);
}

function folderOf(home: string): string {
  return join(home, "data", "artifacts");
}
