/** Sets and removes entries of `cortex.json`, all or none of them. */
import { isDeepStrictEqual } from "node:util";

import { CortexError } from "../model/errors.ts";
import { entryAt, removeEntry, setEntry } from "./edit-entry.ts";
import type { EntryPath } from "./insert-entry.ts";
import type { ConfigInput, LoadedConfig } from "./read.ts";
import { rewriteConfig } from "./rewrite-config.ts";

/** What an entry is to become, and what it was when that was decided. Undefined: not there. */
export interface EntryChange {
  readonly path: EntryPath;
  readonly before: unknown;
  readonly after: unknown;
}

/** Throws `state_conflict` if an entry is not what it was, and what `rewriteConfig` throws. */
export async function changeEntries(
  sources: ConfigInput,
  changes: readonly EntryChange[],
): Promise<LoadedConfig> {
  const edit = (text: string): string => changes.reduce(changed, text);
  const names = changes.map(({ path }) => path.join(".")).join(", ");
  return rewriteConfig(sources, { edit, otherwise: `${names} was not changed` });
}

function changed(text: string, { path, before, after }: EntryChange): string {
  if (!isDeepStrictEqual(entryAt(text, path), before)) throw changedMeanwhile(path);
  return after === undefined ? removeEntry(text, path) : setEntry(text, path, after);
}

function changedMeanwhile(path: EntryPath): CortexError {
  return new CortexError("state_conflict", `${path.join(".")} was changed in cortex.json by another program`, {
    hint: "Nothing was written to it. Run the command again.",
  });
}
