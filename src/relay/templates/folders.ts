/** The folders of the files of relays: agents, templates, shells and prompts. */
import { readdirSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import type { Folders } from "../../config/config.ts";
import { PROMPT_FOLDERS } from "../prompts/files.ts";
import { ENTRY_KINDS, TEMPLATES_FILE, TEMPLATES_FOLDER } from "./files.ts";

type HomeFolders = Pick<Folders, "home" | "config">;

/** Files are often changed together, and editors write in several steps: wait until they are done. */
export const TEMPLATES_DEBOUNCE_MS = 300;

/** How many subfolders of each prompt folder are watched. Changes in further ones are found by polling. */
const MAX_WATCHED_FOLDERS = 100;

/** Some of them may not exist. */
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
    return []; // missing or unreadable
  }
}

/** The path of a relay file relative to the home. Undefined: the file belongs to something else. */
export function templateFile(path: string, { home, config }: HomeFolders): string | undefined {
  const isOurs =
    path === join(config, TEMPLATES_FILE) ||
    [join(config, TEMPLATES_FOLDER), join(home, "prompts")].some((folder) => path.startsWith(folder + sep));
  return isOurs && extname(path) !== "" ? relative(home, path) : undefined;
}
