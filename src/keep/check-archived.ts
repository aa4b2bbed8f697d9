import { CortexError } from "../model/errors.ts";
import type { ArchivedFile } from "../store/sqlite/backup-archive.ts";
import { belongsToBackup } from "./home-files.ts";

/**
 * Makes a check for the files of one backup, in the order of their names. A backup may come from anywhere, and must
 * write nowhere but into a home: not through a link of its own, and not what Cortex makes for itself, such as the token.
 */
export function archivedChecker(backup: string): (file: ArchivedFile) => void {
  const names = new Set<string>();
  return ({ name }) => {
    const parts = name.split("/");
    const above = parts.slice(1).map((_, at) => parts.slice(0, at + 1).join("/"));
    const isPath = parts.every((part) => !["", ".", ".."].includes(part)) && !name.includes("\0");
    const isFree = [name, ...above].every((taken) => !names.has(taken));
    if (!isPath || !isFree || !belongsToBackup(name)) throw forbidden(backup, name);
    names.add(name);
  };
}

function forbidden(backup: string, name: string): CortexError {
  return new CortexError(
    "path_forbidden",
    `${backup} has a file for ${JSON.stringify(name)}, where none may be`,
    {
      hint: "It was not made by Cortex as it is. Take another backup; nothing was changed.",
    },
  );
}
