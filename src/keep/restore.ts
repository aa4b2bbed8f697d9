/**
 * Restores a home from a backup. The home is built as a draft next to its destination and renamed when complete, so an
 * interrupted restore leaves no home or a complete one.
 */
import {
  chmodSync,
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

import { codeOf, hasCode } from "../model/error-code.ts";
import { CortexError } from "../model/errors.ts";
import {
  type ArchivedFile,
  checkBackup,
  type CheckedBackup,
  dropFiles,
  readFiles,
} from "../store/sqlite/backup-archive.ts";
import { syncPath } from "../store/sqlite/copy-database.ts";
import { archivedChecker } from "./home-files.ts";
import { draftBeside } from "./draft.ts";
import { databasePath } from "../config/home.ts";

interface RestoreRequest {
  readonly file: string;
  readonly home: string;
  readonly onStep: (step: "checking" | "writing") => void;
}

/** Verifies a backup without changes. Throws `store_corrupt`, `store_newer` or `store_foreign`. */
export function inspectBackup(file: string): CheckedBackup {
  if (!existsSync(file)) throw fileMissing(file);
  return check(file);
}

/** The home must be missing or empty. Also accepts a plain copy of a database. */
export function restoreHome({ file, home, onStep }: RestoreRequest): CheckedBackup {
  if (!existsSync(file)) throw fileMissing(file);
  if (!isFree(home)) throw homeExists(home);
  onStep("checking");
  const checked = check(file);
  onStep("writing");
  const place = existsSync(home) ? realpathSync(home) : home;
  mkdirSync(dirname(place), { recursive: true });
  const draft = draftBeside(place);
  try {
    writeHome(file, draft);
    giveName(draft, place);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return checked;
}

function writeHome(file: string, home: string): void {
  const path = databasePath(home);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  copyFileSync(file, path);
  chmodSync(path, 0o600); // whatever mode the file had
  const check = archivedChecker(file);
  const links: (ArchivedFile & { kind: "link" })[] = [];
  readFiles(path, (archived) => {
    check(archived);
    if (archived.kind === "link") links.push(archived);
    else writeArchived(join(home, archived.name), archived);
  });
  // Last, so that no file is written through a link.
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

function isFree(home: string): boolean {
  try {
    return readdirSync(home).length === 0;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return true;
    if (hasCode(error, "ENOTDIR")) return false;
    throw error;
  }
}

/** An empty folder cannot be replaced if it is a mount point. */
function giveName(draft: string, home: string): void {
  try {
    renameSync(draft, home);
    syncPath(dirname(home));
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOTEMPTY" || code === "EEXIST") throw homeExists(home);
    if (code !== "EBUSY" && code !== "EXDEV") throw error;
    throw new CortexError("home_unwritable", `${home} is a mount point, which cannot be replaced`, {
      hint: `Restore to a folder inside it: \`--home ${join(home, "cortex")}\`.`,
      cause: error,
    });
  }
}

function check(file: string): CheckedBackup {
  try {
    return checkBackup(file, archivedChecker(file));
  } catch (error) {
    const code = error instanceof Error ? codeOf(error.cause) : undefined;
    throw /^SQLITE_(NOTADB|CANTOPEN|IOERR)/.test(code ?? "") ? noBackup(file, error) : error;
  }
}

function noBackup(file: string, cause: unknown): CortexError {
  return new CortexError("store_corrupt", `${file} is not a Cortex backup`, {
    hint: "Use a file written by `cortex backup <file>`. Nothing was changed.",
    cause,
  });
}

function fileMissing(file: string): CortexError {
  return new CortexError("store_missing", `Missing backup ${file}`, {
    hint: "Create one with `cortex backup <file>`.",
  });
}

function homeExists(home: string): CortexError {
  return new CortexError("state_conflict", `${home} is not empty`, {
    hint: "Restore to a new folder with --home, or move that folder away first. Nothing was changed.",
  });
}
