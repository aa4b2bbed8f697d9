/** Errors of a team directory and its files, and whether a folder holds a team at all. */
import { existsSync } from "node:fs";
import { join } from "node:path";

import { hasCode } from "../../model/error-code.ts";
import { CortexError } from "../../model/errors.ts";

/** An empty folder is not a team yet. */
export function hasTeam(folder: string): boolean {
  return existsSync(join(folder, "agents"));
}

export function teamMissing(folder: string, cause?: unknown): CortexError {
  return new CortexError("team_missing", `No team in ${folder}`, {
    hint: "Run `cortex team init` to create one, or set `team_dir` in config.yaml, --team-dir or CORTEX_TEAM_DIR.",
    cause,
  });
}

export function unreadable(path: string, why: string, cause?: unknown): CortexError {
  return new CortexError("team_unreadable", `Cannot read ${path}: ${why}`, {
    hint: "Check its encoding (UTF-8) and permissions; `cortex team lint` lists all such files.",
    cause,
  });
}

/** Wraps a failed write. A CortexError is returned as it is. */
export function unwritable(path: string, cause: unknown): unknown {
  if (cause instanceof CortexError || !(cause instanceof Error)) return cause;
  const isFull = hasCode(cause, "ENOSPC", "EDQUOT", "EFBIG");
  return new CortexError(
    "team_unwritable",
    `Cannot write ${path}: ${isFull ? "the disk is full" : cause.message}`,
    {
      hint: isFull
        ? "Free some space and try again; the file is unchanged."
        : "Check the permissions of the file and its folder; the file is unchanged.",
      transient: isFull,
      cause,
    },
  );
}

export function readOnly(path: string): CortexError {
  return new CortexError("team_unwritable", `${path} is read-only`, {
    hint: "Make it writable (`chmod u+w`), or leave this file to its owner.",
  });
}

export function fileTooLarge(path: string, excess: string): CortexError {
  return new CortexError("team_unwritable", `${path} would exceed its limit: ${excess}`, {
    hint: "Remove finished tasks: `cortex team housekeeping` removes those older than a week.",
  });
}

export function fileMissing(path: string): CortexError {
  return new CortexError("team_unwritable", `No file ${path} in the team directory`, {
    hint: "If it was moved or removed, `cortex team undo` restores its content; `cortex team register` adds a member.",
  });
}

export function fileBusy(path: string): CortexError {
  return new CortexError("state_conflict", `Another program keeps changing ${path}`, {
    hint: "Retry once the other program has finished.",
    transient: true,
  });
}
