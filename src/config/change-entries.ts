/** Sets and removes entries of `cortex.json`, all or none of them. */
import { isDeepStrictEqual } from "node:util";

import { CortexError } from "../model/errors.ts";
import { entryAt, removeEntry, setEntry } from "./edit-entry.ts";
import type { EntryPath } from "./insert-entry.ts";
import type { ConfigInput, LoadedConfig } from "./read.ts";
import { composeConfig, type ConfigEdit, rewriteConfig } from "./rewrite-config.ts";

/** What an entry is to become, and what it was when that was decided. Undefined: not there. */
export interface EntryChange {
  readonly path: EntryPath;
  readonly before: unknown;
  readonly after: unknown;
}

/** Throws what `changeEntries` would throw. */
export async function checkEntries(sources: ConfigInput, changes: readonly EntryChange[]): Promise<void> {
  await composeConfig(sources, editOf(changes));
}

/** Throws `state_conflict` if an entry is not what it was, and what `rewriteConfig` throws. */
export async function changeEntries(
  sources: ConfigInput,
  changes: readonly EntryChange[],
): Promise<LoadedConfig> {
  return rewriteConfig(sources, editOf(changes));
}

function editOf(changes: readonly EntryChange[]): ConfigEdit {
  const names = changes.map(({ path }) => path.join(".")).join(", ");
  return {
    edit: (text) => changes.reduce(changed, text),
    otherwise: `${names} was not changed`,
  };
}

function changed(text: string, { path, before, after }: EntryChange): string {
  if (!isDeepStrictEqual(entryAt(text, path), before)) throw changedMeanwhile(path);
  return after === undefined ? removeEntry(text, path) : setEntry(text, path, after);
}

function changedMeanwhile(path: EntryPath): CortexError {
  return new CortexError(
    "state_conflict",
    `${path.join(".")} was changed in cortex.json by another program`,
    {
      hint: "Nothing was written to it. Run the command again.",
    },
  );
}
