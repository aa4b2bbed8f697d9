/** The project files that an adapter may write: read whole, replaced atomically, never through a link that leads out. */
import { randomUUID } from "node:crypto";
import { chmod, mkdir, open, readFile, realpath, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { CortexError } from "../../model/errors.ts";
import { hasCode } from "../../model/error-code.ts";
import { unreadable, unwritable } from "../files/team-errors.ts";

/** Instruction files are short; a larger file is something else. */
export const MAX_ADAPTED_BYTES = 4 * 1024 * 1024;

export interface ProjectFile {
  /** Relative to the project. */
  readonly path: string;
  /** With links resolved: AGENTS.md is often a link. */
  readonly real: string;
  /** Undefined: no such file. */
  readonly text: string | undefined;
}

/** Throws `path_forbidden` and `team_unreadable`. */
export async function readProjectFile(project: string, path: string): Promise<ProjectFile> {
  const root = await realpath(project);
  const real = await realPath(join(root, path));
  if (!real.startsWith(root + sep)) {
    const message = `${join(project, path)} is a link to ${real}, outside the project`;
    throw new CortexError("path_forbidden", message, {
      hint: "Replace it with a file; Cortex changes nothing outside the project.",
    });
  }
  return { path, real, text: await readText(real) };
}

/** Undefined removes the file. Throws `team_unwritable`; the file is then unchanged. */
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
    {
      await using handle = await open(draft, "wx", mode ?? (isExecutable ? 0o755 : 0o644));
      await handle.writeFile(text);
      await handle.sync();
    }
    if (mode !== undefined) await chmod(draft, mode); // without the umask
    await rename(draft, real);
  } catch (error) {
    await rm(draft, { force: true });
    throw unwritable(real, error);
  }
}

/** Removes folders that were created for a file, unless something else is in them. */
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
    if (size > MAX_ADAPTED_BYTES) throw unreadable(path, `more than ${MAX_ADAPTED_BYTES} bytes`);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readFile(path));
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    if (error instanceof CortexError) throw error;
    throw unreadable(path, error instanceof TypeError ? "not UTF-8" : String(error), error);
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
