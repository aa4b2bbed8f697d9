/** The files that a backup contains besides the database. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

import { codeOf } from "../model/error-code.ts";
import { CortexError } from "../model/errors.ts";
import { type ArchivedFile, MAX_ARCHIVED_BYTES } from "../store/sqlite/backup-archive.ts";

/** Files that are recreated, belong to a process or can be downloaded: by path below the home, or by name at any depth. */
const LEFT_OUT: ReadonlySet<string> = new Set(["data", "logs", "tmp"]);
const LEFT_OUT_ANYWHERE: ReadonlySet<string> = new Set(["node_modules"]);
/** Exceptions: attachments of events, and files of relays. */
const KEPT = ["data/artifacts", "data/attachments", "data/relay-files", "tmp/threads"];
/** API keys. */
const KEYS_FILE = "config/.env";

export interface LeftOut {
  readonly name: string;
  readonly why: "keys" | "large" | "special" | "unreadable";
}

/**
 * Reads the files one by one. Silently skips files that were deleted meanwhile, as agents may be running. `leaveOut` is
 * called for other skipped files.
 */
export function* homeFiles(
  home: string,
  { withKeys, leaveOut }: { withKeys: boolean; leaveOut: (left: LeftOut) => void },
): Generator<ArchivedFile> {
  for (const name of readdirSync(home).toSorted()) if (!LEFT_OUT.has(name)) yield* walk(name);
  for (const name of KEPT) yield* walk(name);

  function* walk(name: string): Generator<ArchivedFile> {
    if (LEFT_OUT_ANYWHERE.has(name.slice(name.lastIndexOf("/") + 1))) return;
    const found = look(join(home, name));
    switch (found?.kind) {
      case undefined:
        return;
      case "folder":
        for (const inner of found.names) yield* walk(`${name}/${inner}`);
        return;
      case "left out":
        leaveOut({ name, why: found.why });
        return;
      case "file":
      case "link":
        if (name === KEYS_FILE && !withKeys) leaveOut({ name, why: "keys" });
        else yield { ...found, name };
    }
  }
}

/** Whether a backup may contain this path below the home. */
function belongsToBackup(name: string): boolean {
  if (!LEFT_OUT.has(name.replace(/\/.*$/s, ""))) return true;
  return KEPT.some((kept) => name === kept || name.startsWith(`${kept}/`));
}

/**
 * Returns a check for the files of one backup, in the order of their names. Backups are untrusted: they must not write
 * outside of a home, through their own links, or over files that Cortex creates itself, such as the token.
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
  return new CortexError("path_forbidden", `${backup} contains a forbidden path: ${JSON.stringify(name)}`, {
    hint: "The backup was modified after Cortex wrote it. Use another one; nothing was changed.",
  });
}

type HomeEntry =
  | { readonly kind: "folder"; readonly names: readonly string[] }
  | { readonly kind: "left out"; readonly why: LeftOut["why"] }
  | Omit<Extract<ArchivedFile, { kind: "file" }>, "name">
  | Omit<Extract<ArchivedFile, { kind: "link" }>, "name">;

/** Undefined: deleted meanwhile. */
function look(path: string): HomeEntry | undefined {
  try {
    const stats = lstatSync(path);
    const { mode, mtimeMs } = stats;
    if (stats.isDirectory()) return { kind: "folder", names: readdirSync(path).toSorted() };
    if (stats.isSymbolicLink()) return { kind: "link", mode, mtimeMs, target: readlinkSync(path) };
    if (!stats.isFile()) return { kind: "left out", why: "special" };
    if (stats.size > MAX_ARCHIVED_BYTES) return { kind: "left out", why: "large" };
    return { kind: "file", mode, mtimeMs, content: readFileSync(path) };
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === "EACCES" || code === "EPERM") return { kind: "left out", why: "unreadable" };
    throw error;
  }
}
