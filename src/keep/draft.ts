import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { isAlive } from "../programs/is-alive.ts";

/**
 * The path of a draft next to the final path, unique to this process. Removes drafts left behind by killed processes.
 */
export function draftBeside(path: string): string {
  const beginning = `${basename(path)}.unfinished-`;
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(beginning)) continue;
    const pid = name.slice(beginning.length).replace(/-journal$/, ""); // SQLite's journal of a draft database
    const isMine = pid === String(process.pid); // of an earlier process with the same id
    if (isMine || (/^\d+$/.test(pid) && !isAlive(Number(pid)))) {
      rmSync(join(dirname(path), name), { recursive: true, force: true });
    }
  }
  return join(dirname(path), `${beginning}${process.pid}`);
}
