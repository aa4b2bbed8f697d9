/** The folders that hold what relays are made from: agents, templates, shells and prompts. */
import { extname, join, relative, sep } from "node:path";
import type { Folders } from "../config/config.ts";
import { PROMPT_FOLDERS } from "./prompt-files.ts";
import { ENTRY_KINDS, TEMPLATES_FILE, TEMPLATES_FOLDER } from "./template-files.ts";

type HomeFolders = Pick<Folders, "home" | "config">;

/** Several files are often changed together, and an editor writes in several steps: the last of them counts. */
export const TEMPLATES_DEBOUNCE_MS = 300;

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
    ...ofPrompts.map((folder) => join(folder, "templates")),
  ];
}

/** What a file of theirs is called, from the home on. Undefined: other files of the configuration lie there too. */
export function templateFile(path: string, { home, config }: HomeFolders): string | undefined {
  const isOurs =
    path === join(config, TEMPLATES_FILE) ||
    [join(config, TEMPLATES_FOLDER), join(home, "prompts")].some((folder) => path.startsWith(folder + sep));
  return isOurs && extname(path) !== "" ? relative(home, path) : undefined;
}
