import type { BigIntStats } from "node:fs";
import { readFile, stat } from "node:fs/promises";

import { MAX_SCRIPT_BYTES, parseScript, type Script, scriptInvalid } from "./script.ts";

/** How many scripts are kept read: the one that was read first makes room. */
export const MAX_SCRIPTS_KEPT = 32;

/** Reads scripts, each again only after its file has changed, so that a demo can be written while it plays. */
export function createScriptReader(): (file: string) => Promise<Script> {
  const kept = new Map<string, { readonly version: string; readonly script: Script }>();
  return async (file) => {
    const unreadable = (cause: unknown): never => {
      throw scriptInvalid(file, ["the file cannot be read"], cause);
    };
    const version = versionOf(file, await stat(file, { bigint: true }).catch(unreadable));
    const known = kept.get(file);
    if (known?.version === version) return known.script;

    // A change after the version was read only means that the file is read once more.
    const script = await parseScript(await readFile(file, "utf8").catch(unreadable), file);
    kept.delete(file);
    kept.set(file, { version, script });
    if (kept.size > MAX_SCRIPTS_KEPT) kept.delete(kept.keys().next().value!);
    return script;
  };
}

function versionOf(file: string, found: BigIntStats): string {
  if (!found.isFile()) throw scriptInvalid(file, ["it is not a file"]);
  if (found.size > MAX_SCRIPT_BYTES) {
    throw scriptInvalid(file, [`it has ${found.size} bytes, and ${MAX_SCRIPT_BYTES} are allowed`]);
  }
  return `${found.ino} ${found.size} ${found.mtimeNs}`;
}
