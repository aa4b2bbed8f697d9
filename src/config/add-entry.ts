/** Adds an agent or a persona to `cortex.json`. */
import { CortexError } from "../model/errors.ts";
import { insertEntry } from "./insert-entry.ts";
import type { ConfigInput, LoadedConfig } from "./read.ts";
import { rewriteConfig } from "./rewrite-config.ts";

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
  { section, name, value }: NewEntry,
  times: { pauseMs?: number } = {},
): Promise<LoadedConfig> {
  const edit = (text: string, { config }: LoadedConfig): string => {
    if (Object.hasOwn(config[section], name)) throw taken(section, name);
    return insertEntry(text, [section, name], value);
  };
  return rewriteConfig(sources, { edit, otherwise: `${section}.${name} was not added` }, times);
}

function taken(section: NewEntry["section"], name: string): CortexError {
  const what = section === "agents" ? "an agent" : "a persona";
  return new CortexError("state_conflict", `"${name}" is already ${what}`, {
    hint: `Choose another name, or edit ${section}.${name} in cortex.json.`,
  });
}
