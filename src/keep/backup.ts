/**
 * A backup: everything that makes a home this home, in one file. It is made beside a Cortex that runs, checked as it
 * would be before it is restored, and has its name only then.
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
}

interface BackupRequest {
  readonly home: string;
  readonly file: string;
  /** With the keys to accounts in `config/.env`. */
  readonly withKeys: boolean;
  readonly nowMs: number;
  /** Told what is being done. */
  readonly onStep: (step: "copying" | "adding" | "checking") => void;
}

/** Blocks until it is done: for a process that does nothing else. Never overwrites a file. */
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
    // After the database: what its rows speak of is then there.
    const files = homeFiles(home, { withKeys, leaveOut: (left) => void leftOut.push(left) });
    addFiles(draft, files, nowMs);
    onStep("checking");
    const checked = checkBackup(draft, archivedChecker(draft));
    syncPath(draft);
    giveName(draft, file);
    return { ...checked, file, bytes: statSync(file).size, leftOut };
  } finally {
    rmSync(draft, { force: true });
  }
}

/** A rename would take the place of a file that somebody has made meanwhile. */
function giveName(draft: string, file: string): void {
  try {
    linkSync(draft, file);
    syncPath(dirname(file));
  } catch (error) {
    const code = codeOf(error) ?? "";
    if (code === "EEXIST") throw fileExists(file);
    // A disk without links: then it is a rename after all.
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(code)) throw error;
    renameSync(draft, file);
  }
}

/** Whether a path leads out of where it begins. */
function isAbove(path: string): boolean {
  return path === ".." || path.startsWith(`..${sep}`);
}

function fileExists(file: string): CortexError {
  return new CortexError("state_conflict", `There is a file at ${file} already`, {
    hint: "Name another one: a backup never takes the place of a file.",
  });
}

function folderMissing(file: string): CortexError {
  return new CortexError("state_conflict", `There is no folder ${dirname(file)}`, {
    hint: "Make it, or name a file in a folder that is there.",
  });
}

function insideHome(file: string): CortexError {
  return new CortexError("state_conflict", `${file} is in the home that is to be backed up`, {
    hint: "Name a file outside of it, best on another disk: each backup would hold those before it.",
  });
}
