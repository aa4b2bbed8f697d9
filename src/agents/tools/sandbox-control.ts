/**
 * Finds the files that a command in a session with text from others must not change: see `control-file.ts`. They are
 * mounted read-only, in the same way and within the same bounds as the files of git.
 *
 * A missing identity file would be created by a command, and followed by the next turn. So those of the workspace exist
 * while a command runs, empty, which means the same. Links cannot be mounted: a link that a command has replaced is put
 * back when it has ended, and what took its place is kept beside it.
 */
import { lstat, mkdir, readdir, readlink, rename, rmdir, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { hasCode } from "../../model/error-code.ts";
import { controlFile, type ControlledFolders, IDENTITY_FILES } from "./control-file.ts";

/** The bounds of the search, by depth, by number of folders, and by number of files. Beyond them, files are unprotected. */
export const MAX_CONTROL_DEPTH = 4;
export const MAX_CONTROL_FOLDERS = 1_000;
export const MAX_CONTROL_FILES = 500;

/** Programs find nothing in there that they would run by itself. */
const PASSED_OVER = "node_modules";

/** The control files and folders below a folder. A folder whose every file is one is named as a whole. */
export async function findControlFiles(
  root: string,
  folders: ControlledFolders,
  closed: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  let level = [root];
  let left = MAX_CONTROL_FOLDERS;
  for (let depth = 0; depth <= MAX_CONTROL_DEPTH && level.length > 0; depth++) {
    const next: string[] = [];
    for (const folder of level) {
      if (left-- <= 0 || found.length >= MAX_CONTROL_FILES) return found.slice(0, MAX_CONTROL_FILES);
      for (const entry of await entriesOf(folder)) {
        const path = join(folder, entry.name);
        if (closed.includes(path) || entry.name === PASSED_OVER) continue;
        if (entry.isDirectory()) {
          if (controlFile(join(path, "file"), folders) === undefined) next.push(path);
          else found.push(path);
        } else if (entry.isFile() && controlFile(path, folders) !== undefined) found.push(path);
      }
    }
    level = next;
  }
  return found.slice(0, MAX_CONTROL_FILES);
}

/** Made by us, to be removed when no command needs them any more. */
const placeholders = new Set<string>();

/** Makes sure that what agents are told is not created by a command. Returns what exists now. */
export async function makePlaceholders(workspace: string): Promise<string[]> {
  const made: string[] = [];
  for (const name of IDENTITY_FILES) {
    const path = join(workspace, name);
    if (await succeeds(writeFile(path, "", { flag: "wx" }))) made.push(path);
  }
  const skills = join(workspace, "skills");
  if (await succeeds(mkdir(skills))) made.push(skills);
  for (const path of made) placeholders.add(path);
  return made;
}

/** Removes those that are still empty. */
export async function removePlaceholders(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    if (!placeholders.delete(path)) continue;
    const stats = await lstat(path).catch(() => undefined); // it is gone
    if (stats?.isDirectory() === true) await succeeds(rmdir(path));
    else if (stats?.isFile() === true && stats.size === 0) await succeeds(unlink(path));
  }
}

/** The identity files of a workspace that are links, with their targets. */
export async function findLinks(workspace: string): Promise<ReadonlyMap<string, string>> {
  const links = new Map<string, string>();
  for (const name of [...IDENTITY_FILES, "skills"]) {
    const path = join(workspace, name);
    const target = await readlink(path).catch(() => undefined); // it is no link
    if (target !== undefined) links.set(path, target);
  }
  return links;
}

export async function restoreLinks(links: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, target] of links) {
    if ((await readlink(path).catch(() => undefined)) === target) continue;
    await succeeds(rename(path, `${path}.proposed`));
    await succeeds(symlink(target, path));
  }
}

/** If this fails, a command cannot do it either, or a person did it first. */
async function succeeds(done: Promise<unknown>): Promise<boolean> {
  return done.then(
    () => true,
    () => false,
  );
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR", "EACCES")) return [];
    throw error;
  }
}
