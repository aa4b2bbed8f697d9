/** The folders that hold what relays are made from: agents, templates, shells and prompts. */
import { readdirSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import type { Folders } from "../../config/config.ts";
import { PROMPT_FOLDERS } from "../prompts/files.ts";
import { ENTRY_KINDS, TEMPLATES_FILE, TEMPLATES_FOLDER } from "./files.ts";

type HomeFolders = Pick<Folders, "home" | "config">;

/** Several files are often changed together, and an editor writes in several steps: the last of them counts. */
export const TEMPLATES_DEBOUNCE_MS = 300;

/** So many folders are watched below each folder of prompts. Those of more are found by the poll. */
const MAX_WATCHED_FOLDERS = 100;

/** Not all of them need to be there. */
export function templateFolders({ home, config }: HomeFolders): string[] {
  const templates = join(config, TEMPLATES_FOLDER);
  const prompts = join(home, "prompts");
  const ofPrompts = Object.values(PROMPT_FOLDERS).map((name) => join(prompts, name));
  return [
    config,
    templates,
    ...ENTRY_KINDS.map((kind) => join(templates, kind)),
    prompts,
    ...ofPrompts,
    ...ofPrompts.flatMap(foldersBelow),
  ];
}

function foldersBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isDirectory())
      .slice(0, MAX_WATCHED_FOLDERS)
      .map(({ parentPath, name }) => join(parentPath, name));
  } catch {
    return []; // there is no such folder yet, or nobody may look at it
  }
}

/** What a file of theirs is called, from the home on. Undefined: other files of the configuration lie there too. */
export function templateFile(path: string, { home, config }: HomeFolders): string | undefined {
  const isOurs =
    path === join(config, TEMPLATES_FILE) ||
    [join(config, TEMPLATES_FOLDER), join(home, "prompts")].some((folder) => path.startsWith(folder + sep));
  return isOurs && extname(path) !== "" ? relative(home, path) : undefined;
}
