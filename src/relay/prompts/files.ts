/**
 * The files that prompts refer to with `file:`. Each field has its own folder below `prompts/`, and neither a path nor a
 * link can leave it.
 */
import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { join, normalize, posix, sep, win32 } from "node:path";
import { codeOf } from "../../model/error-code.ts";
import { CortexError } from "../../model/errors.ts";
import { type ComposedPrompt, composePrompt, type PromptSource } from "./language.ts";

/** The fields that may refer to files. */
export const PROMPT_FIELDS = ["directive", "promptTemplate", "systemPrompt"] as const;

export type PromptField = (typeof PROMPT_FIELDS)[number];

export const PROMPT_FOLDERS: Readonly<Record<PromptField, string>> = {
  directive: "directives",
  promptTemplate: "promptTemplates",
  systemPrompt: "systemPrompts",
};

export const MAX_PROMPT_FILE_BYTES = 1024 * 1024;

const REFERENCE = "file:";
/** Where `extends` looks for files, below the folder of the field. */
const BASES = "templates";

/** The text of a field: its value, or the composed prompt of the file it refers to. Throws `config_invalid`. */
export async function readPrompt(value: string, field: PromptField, home: string): Promise<ComposedPrompt> {
  if (!value.startsWith(REFERENCE)) return { text: value, warnings: [] };
  const folder = join("prompts", PROMPT_FOLDERS[field]);
  const source = await readInside(value.slice(REFERENCE.length).trim(), folder, home);
  return composePrompt(source, (base) => readInside(base, join(folder, BASES), home));
}

/** A file in a folder of the home, named by its path relative to the home. */
async function readInside(name: string, folder: string, home: string): Promise<PromptSource> {
  const file = join(folder, normalize(name));
  const isOutside = posix.isAbsolute(name) || win32.isAbsolute(name) || !file.startsWith(folder + sep);
  if (name === "" || name.includes("\0") || isOutside) {
    throw invalid(`${JSON.stringify(name)} is not a file in ${folder}`, `Use a path relative to ${folder}.`);
  }
  try {
    const [real, root] = await Promise.all([realpath(join(home, file)), realpath(join(home, folder))]);
    if (!real.startsWith(root + sep)) {
      throw invalid(`${file} is a link to a file outside ${folder}`, "Replace the link with the file.");
    }
    return { file, text: await readText(real, file) };
  } catch (cause) {
    if (cause instanceof CortexError) throw cause;
    const code = codeOf(cause);
    if (code === "ENOENT" || code === "ENOTDIR")
      throw invalid(`${file} does not exist`, "Create it, or name another file.", cause);
    throw invalid(`cannot read ${file} (${code ?? String(cause)})`, "Check its permissions.", cause);
  }
}

async function readText(path: string, file: string): Promise<string> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  await using handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const stats = await handle.stat();
  if (!stats.isFile()) throw invalid(`${file} is not a file`, "Replace it with a file.");
  if (stats.size > MAX_PROMPT_FILE_BYTES) {
    const message = `${file} has ${stats.size} bytes, more than the limit of ${MAX_PROMPT_FILE_BYTES}`;
    throw invalid(message, "Let the agent read long texts from files.");
  }
  const bytes = await handle.readFile();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalid(`${file} is not UTF-8`, "Save it as UTF-8."); // decoding fails for no other reason
  }
}

function invalid(message: string, hint: string, cause?: unknown): CortexError {
  return new CortexError("config_invalid", message, { hint, cause });
}
