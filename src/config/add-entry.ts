/** Adds an agent or a persona to `cortex.json`. */
import { join } from "node:path";
import { CortexError } from "../model/errors.ts";
import { insertEntry } from "./insert-entry.ts";
import { MAX_FILE_BYTES } from "./json-file.ts";
import { type ConfigInput, configFolder, type LoadedConfig, loadConfig, readTexts } from "./read.ts";
import { type Composed, rewriteFile } from "./rewrite-file.ts";

export interface NewEntry {
  readonly section: "agents" | "personas";
  readonly name: string;
  readonly value: object;
}

/**
 * Returns the configuration with the entry. Throws `config_invalid` if it is or would become invalid, `state_conflict`
 * if the name is taken or another writer does not finish, and `home_unwritable`; then it writes nothing.
 */
export async function addEntry(
  sources: ConfigInput,
  entry: NewEntry,
  times: { pauseMs?: number } = {},
): Promise<LoadedConfig> {
  const path = join(configFolder(sources.home), "cortex.json");
  return rewriteFile(path, () => compose(sources, entry), times);
}

async function compose(
  sources: ConfigInput,
  { section, name, value }: NewEntry,
): Promise<Composed<LoadedConfig>> {
  const texts = await readTexts(sources.home);
  const { config } = loadConfig(sources, texts);
  if (Object.hasOwn(config[section], name)) throw taken(section, name);
  const old = texts.cortex !== undefined && "text" in texts.cortex ? texts.cortex.text : "";
  const text = insertEntry(old, { section, name, value });
  if (Buffer.byteLength(text) > MAX_FILE_BYTES) throw tooLarge(section, name);
  try {
    return { text, result: loadConfig(sources, { ...texts, cortex: { text } }) };
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    throw new CortexError(
      error.code,
      `${section}.${name} was not added because the file would be invalid: ${error.message}`,
      {
        hint: error.hint,
        cause: error,
      },
    );
  }
}

function taken(section: NewEntry["section"], name: string): CortexError {
  const what = section === "agents" ? "an agent" : "a persona";
  return new CortexError("state_conflict", `"${name}" is already ${what}`, {
    hint: `Choose another name, or edit ${section}.${name} in cortex.json.`,
  });
}

function tooLarge(section: NewEntry["section"], name: string): CortexError {
  return new CortexError(
    "config_invalid",
    `Adding ${section}.${name} would make cortex.json larger than ${MAX_FILE_BYTES} bytes`,
    { hint: "Move long texts to separate files, such as SOUL.md in the workspace." },
  );
}
