/**
 * Backs up a home to a single file, also while a server is running. The backup is verified as for a restore before it gets
 * its name.
 */
import { existsSync, linkSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, relative, sep } from "node:path";

import { codeOf } from "../model/error-code.ts";
import { CortexError } from "../model/errors.ts";
import { addFiles, checkBackup, type CheckedBackup } from "../store/sqlite/backup-archive.ts";
import { copyDatabase, syncPath } from "../store/sqlite/copy-database.ts";
import { storeMissing } from "../store/sqlite/failure.ts";
import { archivedChecker, homeFiles, type LeftOut } from "./home-files.ts";
import { draftBeside } from "./draft.ts";
import { databasePath } from "../config/home.ts";

export interface Backup extends CheckedBackup {
  readonly file: string;
  readonly bytes: number;
  readonly leftOut: readonly LeftOut[];
  readonly madeAtMs: number;
}

interface BackupRequest {
  readonly home: string;
  readonly file: string;
  /** Whether to include `config/.env` with its API keys. */
  readonly withKeys: boolean;
  readonly nowMs: number;
  /** Reports progress. */
  readonly onStep: (step: "copying" | "adding" | "checking") => void;
}

/** Blocks the process until done. Never overwrites a file. */
export function backUp({ home, file, withKeys, nowMs, onStep }: BackupRequest): Backup {
  if (existsSync(file)) throw fileExists(file);
  if (!existsSync(dirname(file))) throw folderMissing(file);
  if (!existsSync(home)) throw storeMissing(databasePath(home));
  if (!isAbove(relative(realpathSync(home), realpathSync(dirname(file))))) throw insideHome(file);
  const draft = draftBeside(file);
  const leftOut: LeftOut[] = [];
  try {
    onStep("copying");
    copyDatabase(databasePath(home), draft);
    onStep("adding");
    // After the database, so that files its rows refer to exist.
    const files = homeFiles(home, { withKeys, leaveOut: (left) => void leftOut.push(left) });
    addFiles(draft, files, nowMs);
    onStep("checking");
    const checked = checkBackup(draft, archivedChecker(draft));
    syncPath(draft);
    giveName(draft, file);
    return { ...checked, madeAtMs: nowMs, file, bytes: statSync(file).size, leftOut };
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Uses a link, because a rename would overwrite a file created meanwhile. */
function giveName(draft: string, file: string): void {
  try {
    linkSync(draft, file);
    syncPath(dirname(file));
  } catch (error) {
    const code = codeOf(error) ?? "";
    if (code === "EEXIST") throw fileExists(file);
    // A file system without links: fall back to a rename.
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(code)) throw error;
    renameSync(draft, file);
  }
}

/** Whether a relative path leads outside. */
function isAbove(path: string): boolean {
  return path === ".." || path.startsWith(`..${sep}`);
}

function fileExists(file: string): CortexError {
  return new CortexError("state_conflict", `${file} already exists`, {
    hint: "Choose another name: a backup never overwrites a file.",
  });
}

function folderMissing(file: string): CortexError {
  return new CortexError("state_conflict", `Missing folder ${dirname(file)}`, {
    hint: "Create the folder, or choose an existing one.",
  });
}

function insideHome(file: string): CortexError {
  return new CortexError("state_conflict", `${file} is inside the home to be backed up`, {
    hint: "Choose a file outside the home, preferably on another disk: otherwise each backup would include the previous ones.",
  });
}
