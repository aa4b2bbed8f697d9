/**
 * Makes a home from a backup. It grows beside the place where it is to be, and gets its name when it is whole: however
 * this is cut off, there is no home there, or all of it.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { CortexError } from "../model/errors.ts";
import {
  type ArchivedFile,
  checkBackup,
  type CheckedBackup,
  dropFiles,
  readFiles,
} from "../store/sqlite/backup-archive.ts";
import { syncPath } from "../store/sqlite/copy-database.ts";
import { databasePath } from "./home.ts";

export interface RestoreRequest {
  readonly file: string;
  readonly home: string;
  readonly onStep: (step: "checking" | "writing") => void;
}

/** Looks at a backup and changes nothing. Throws `store_corrupt`, `store_newer`, `store_foreign`. */
export function inspectBackup(file: string): CheckedBackup {
  if (!existsSync(file)) throw fileMissing(file);
  return checkBackup(file);
}

/** The home must not be there, or be empty. A plain copy of a database is taken too. */
export function restore({ file, home, onStep }: RestoreRequest): CheckedBackup {
  if (!existsSync(file)) throw fileMissing(file);
  if (!isFree(home)) throw homeExists(home);
  onStep("checking");
  const checked = checkBackup(file);
  onStep("writing");
  const place = existsSync(home) ? realpathSync(home) : home;
  const growing = `${place}.restoring`;
  rmSync(growing, { recursive: true, force: true }); // of one that was cut off
  try {
    writeHome(file, growing);
    renameSync(growing, place);
    syncPath(dirname(place));
  } catch (error) {
    rmSync(growing, { recursive: true, force: true });
    throw refusal(error, home);
  }
  return checked;
}

function writeHome(file: string, home: string): void {
  const path = databasePath(home);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  copyFileSync(file, path);
  const links: (ArchivedFile & { kind: "link" })[] = [];
  readFiles(path, (archived) => {
    checkName(archived.name, file);
    if (archived.kind === "link") links.push(archived);
    else writeArchived(join(home, archived.name), archived);
  });
  // Last, so that nothing is written through one of them.
  for (const { name, target } of links) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    symlinkSync(target, join(home, name));
  }
  dropFiles(path);
  syncPath(path);
}

function writeArchived(path: string, { content, mode, mtimeMs }: ArchivedFile & { kind: "file" }): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode: mode & 0o777, flag: "wx" });
  utimesSync(path, mtimeMs / 1_000, mtimeMs / 1_000);
}

/** A backup may come from anywhere, and must not write anywhere. */
function checkName(name: string, file: string): void {
  const parts = name.split("/");
  if (parts.every((part) => part !== "" && part !== "." && part !== "..")) return;
  throw new CortexError(
    "path_forbidden",
    `${file} has a file for ${JSON.stringify(name)}, outside of a home`,
    {
      hint: "It was not made by Cortex as it is. Take another backup; nothing was changed.",
    },
  );
}

function isFree(home: string): boolean {
  try {
    return readdirSync(home).length === 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return true;
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return false;
    throw error;
  }
}

/** An empty folder cannot always be replaced: not one on which a disk is mounted. */
function refusal(error: unknown, home: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOTEMPTY" || code === "EEXIST") return homeExists(home);
  if (code !== "EBUSY" && code !== "EXDEV") return error;
  return new CortexError(
    "home_unwritable",
    `${home} is a place of its own, which a home cannot be moved to`,
    {
      hint: `Restore to a folder in it: \`--home ${join(home, "cortex")}\`.`,
      cause: error,
    },
  );
}

function fileMissing(file: string): CortexError {
  return new CortexError("store_missing", `There is no backup at ${file}`, {
    hint: "`cortex backup <file>` makes one.",
  });
}

function homeExists(home: string): CortexError {
  return new CortexError("state_conflict", `${home} is not empty`, {
    hint: "Restore to a new place with --home, or move that folder away first. Nothing was changed.",
  });
}
