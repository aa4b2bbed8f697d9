import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { isAlive } from "../programs/is-alive.ts";

/**
 * Where something grows before it gets its name: beside it, and for this process alone, so that two at once do not meet.
 * Removes what others have left there that were cut off.
 */
export function draftBeside(path: string): string {
  const beginning = `${basename(path)}.unfinished-`;
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(beginning)) continue;
    const pid = name.slice(beginning.length).replace(/-journal$/, ""); // SQLite keeps one beside a database that grows
    const isMine = pid === String(process.pid); // of one before that had the same number
    if (isMine || (/^\d+$/.test(pid) && !isAlive(Number(pid)))) {
      rmSync(join(dirname(path), name), { recursive: true, force: true });
    }
  }
  return join(dirname(path), `${beginning}${process.pid}`);
}
