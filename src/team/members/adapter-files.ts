/** The files of a project that an adapter may write: read whole, replaced in one step, never through a link that leads out. */
import { randomUUID } from "node:crypto";
import { chmod, mkdir, open, readFile, realpath, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { CortexError } from "../../model/errors.ts";
import { hasCode, unreadable, unwritable } from "../files/file-failure.ts";

/** Files of instructions are short. One that is not is not such a file. */
export const MAX_ADAPTED_BYTES = 4 * 1024 * 1024;

export interface ProjectFile {
  /** Below the project. */
  readonly path: string;
  /** Itself, where a link leads to it: AGENTS.md is often one. */
  readonly real: string;
  /** Undefined: there is none. */
  readonly text: string | undefined;
}

/** Throws `path_forbidden` and `team_unreadable`. */
export async function readProjectFile(project: string, path: string): Promise<ProjectFile> {
  const root = await realpath(project);
  const real = await realPath(join(root, path));
  if (!real.startsWith(root + sep)) {
    throw new CortexError(
      "path_forbidden",
      `${join(project, path)} is a link that leads to ${real}, out of the project`,
      {
        hint: "Put a file in its place; what is elsewhere is not changed.",
      },
    );
  }
  return { path, real, text: await readText(real) };
}

/** Undefined removes it. Throws `team_unwritable`; the file is then as it was. */
export async function writeProjectFile(
  { real }: ProjectFile,
  text: string | undefined,
  { isExecutable = false }: { isExecutable?: boolean } = {},
): Promise<void> {
  const draft = `${real}.${randomUUID()}.new`;
  try {
    if (text === undefined) return await rm(real, { force: true });
    await mkdir(dirname(real), { recursive: true });
    const mode = await modeOf(real);
    const handle = await open(draft, "wx", mode ?? (isExecutable ? 0o755 : 0o644));
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (mode !== undefined) await chmod(draft, mode); // the mask of the process does not apply to what was there
    await rename(draft, real);
  } catch (error) {
    await rm(draft, { force: true });
    throw unwritable(real, error);
  }
}

/** Folders that were made for a file go with it, as long as nothing else is in them. */
export async function removeEmptyFolders(project: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    try {
      await rmdir(join(project, path));
    } catch (error) {
      if (hasCode(error, "ENOENT", "ENOTEMPTY", "EEXIST", "ENOTDIR")) continue;
      throw unwritable(path, error);
    }
  }
}

async function readText(path: string): Promise<string | undefined> {
  try {
    const { size } = await stat(path);
    if (size > MAX_ADAPTED_BYTES) throw unreadable(path, `it has more than ${MAX_ADAPTED_BYTES} bytes`);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readFile(path));
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    if (error instanceof CortexError) throw error;
    throw unreadable(path, error instanceof TypeError ? "it is not UTF-8" : String(error), error);
  }
}

async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasCode(error, "ENOENT", "ENOTDIR")) throw unreadable(path, String(error), error);
    return join(await realPath(dirname(path)), path.slice(dirname(path).length + 1));
  }
}

async function modeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mode & 0o777;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}
