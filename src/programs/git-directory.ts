/**
 * Recognises git directories, also where no `.git` says so: whoever writes into one decides what git runs there. Nothing
 * of git is run for it.
 */
import { lstatSync } from "node:fs";
import { dirname, join, parse } from "node:path";

/** Characters that some file systems pass over in names. */
const PASSED_OVER = /[\u200C-\u200F\u202A-\u202E\u206A-\u206F\uFEFF]/g;
/** `.git` as all file systems may read it: with other letters, with dots and blanks after it, by its short name. */
const GIT_NAME = /^(\.git|git~\d)[. ]*(:.*)?$/i;

function isGitName(name: string): boolean {
  return GIT_NAME.test(name.replaceAll(PASSED_OVER, ""));
}

/**
 * The git directory, or the `.git` file that leads to one, that a path is, is inside of, or would complete if something were
 * written there. The path is absolute and without links, and nothing needs to be there.
 */
export function gitDirectoryOf(path: string): string | undefined {
  const { root } = parse(path);
  let found: string | undefined;
  for (let at = path; at !== root; at = dirname(at)) {
    const folder = dirname(at);
    const name = at.slice(folder.length).replace(/^[\\/]/, "");
    if (isGitName(name)) found = at;
    else if (isGitDirectory(folder, name)) found = folder;
  }
  return found;
}

/** Whether git would take a folder for a repository; with something that is not there yet, where that is named. */
function isGitDirectory(folder: string, added?: string): boolean {
  const has = (name: string): boolean =>
    name.toLowerCase() === added?.toLowerCase() ||
    lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined;
  return has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
}
