/** Changes `cortex.json`, and nothing if the result would be invalid. */
import { join } from "node:path";

import { CortexError } from "../model/errors.ts";
import { MAX_FILE_BYTES } from "./json-file.ts";
import { type ConfigInput, configFolder, type LoadedConfig, loadConfig, readTexts } from "./read.ts";
import { type Composed, rewriteFile } from "./rewrite-file.ts";

export interface ConfigEdit {
  /** The new text. It is called again if the file changes meanwhile. */
  readonly edit: (text: string, current: LoadedConfig) => string;
  /** What is refused if the file would be invalid: "agents.vera was not added". */
  readonly otherwise: string;
}

/**
 * Returns the changed configuration. Throws `config_invalid` if it is or would become invalid, what `edit` throws, and
 * what `rewriteFile` throws; then it writes nothing.
 */
export async function rewriteConfig(
  sources: ConfigInput,
  edit: ConfigEdit,
  times: { pauseMs?: number } = {},
): Promise<LoadedConfig> {
  const path = join(configFolder(sources.home), "cortex.json");
  return rewriteFile(path, () => composeConfig(sources, edit), times);
}

/** What `rewriteConfig` would write. Throws as it does, and writes nothing. */
export async function composeConfig(
  sources: ConfigInput,
  { edit, otherwise }: ConfigEdit,
): Promise<Composed<LoadedConfig>> {
  const texts = await readTexts(sources.home);
  const current = loadConfig(sources, texts);
  const old = texts.cortex !== undefined && "text" in texts.cortex ? texts.cortex.text : "";
  const text = edit(old, current);
  if (Buffer.byteLength(text) > MAX_FILE_BYTES) throw tooLarge(otherwise);
  try {
    return { text, result: loadConfig(sources, { ...texts, cortex: { text } }) };
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    const message = `${otherwise} because the file would be invalid: ${error.message}`;
    throw new CortexError(error.code, message, { hint: error.hint, cause: error });
  }
}

function tooLarge(otherwise: string): CortexError {
  return new CortexError(
    "config_invalid",
    `${otherwise} because cortex.json would be larger than ${MAX_FILE_BYTES} bytes`,
    { hint: "Move long texts to separate files, such as SOUL.md in the workspace." },
  );
}
