/**
 * The files that prompts refer to by `file:`. Each field has a folder of its own below `prompts/`, and none leads out
 * of it: not by its name, and not by a link.
 */
import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { join, normalize, posix, sep, win32 } from "node:path";
import { CortexError } from "../../model/errors.ts";
import { type ComposedPrompt, composePrompt, type PromptSource } from "./language.ts";

/** The fields that may refer to files, and the folders they refer to. */
export const PROMPT_FOLDERS = {
  directive: "directives",
  promptTemplate: "promptTemplates",
  systemPrompt: "systemPrompts",
} as const;

export type PromptField = keyof typeof PROMPT_FOLDERS;

export const MAX_PROMPT_FILE_BYTES = 1024 * 1024;

const REFERENCE = "file:";
/** What `extends` names is looked for here, below the folder of the field. */
const BASES = "templates";

/** The text of a field: itself, or what the file makes that it refers to. Throws `config_invalid`. */
export async function readPrompt(value: string, field: PromptField, home: string): Promise<ComposedPrompt> {
  if (!value.startsWith(REFERENCE)) return { text: value, warnings: [] };
  const folder = join("prompts", PROMPT_FOLDERS[field]);
  const source = await readInside(value.slice(REFERENCE.length).trim(), folder, home);
  return composePrompt(source, (base) => readInside(base, join(folder, BASES), home));
}

/** A file in a folder of the home. It is called by its path from the home. */
async function readInside(name: string, folder: string, home: string): Promise<PromptSource> {
  const file = join(folder, normalize(name));
  const isOutside = posix.isAbsolute(name) || win32.isAbsolute(name) || !file.startsWith(folder + sep);
  if (name === "" || name.includes("\0") || isOutside) {
    throw refuse(`${JSON.stringify(name)} is not a file in ${folder}`, `Write its path from ${folder}.`);
  }
  try {
    const [real, root] = await Promise.all([realpath(join(home, file)), realpath(join(home, folder))]);
    if (!real.startsWith(root + sep)) {
      throw refuse(`${file} is a link out of ${folder}`, "Put the file itself there.");
    }
    return { file, text: await readText(real, file) };
  } catch (cause) {
    if (cause instanceof CortexError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR")
      throw refuse(`there is no ${file}`, "Write it, or name another.", cause);
    throw refuse(`${file} cannot be read (${code ?? String(cause)})`, "Check its permissions.", cause);
  }
}

async function readText(path: string, file: string): Promise<string> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  await using handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const stats = await handle.stat();
  if (!stats.isFile()) throw refuse(`${file} is not a file`, "Put a file in its place.");
  if (stats.size > MAX_PROMPT_FILE_BYTES) {
    const message = `${file} has ${stats.size} bytes, ${MAX_PROMPT_FILE_BYTES} are allowed`;
    throw refuse(message, "Let the agent read long texts from files.");
  }
  const bytes = await handle.readFile();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refuse(`${file} is not UTF-8`, "Save it with the encoding UTF-8."); // the only way in which decoding fails
  }
}

function refuse(message: string, hint: string, cause?: unknown): CortexError {
  return new CortexError("config_invalid", message, { hint, cause });
}
