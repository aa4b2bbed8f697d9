import { CortexError } from "../../model/errors.ts";

/** Turns errors of SQLite and the file system into CortexErrors. `where` is the path of the database. */
export function storeFailure(cause: unknown, where: string): Error {
  const code = codeOf(cause);
  const why = cause instanceof Error ? cause.message : String(cause);
  // A CortexError already, or a bug of ours that no hint would help with.
  if (
    cause instanceof Error &&
    !/^(SQLITE_(?!CONSTRAINT_(NOTNULL|FOREIGNKEY|CHECK|DATATYPE))|E[A-Z]+$)/.test(code)
  )
    return cause;
  if (isFull(cause)) {
    return new CortexError("store_full", `Disk full: cannot write ${where}`, {
      hint: "Free some space. Nothing acknowledged is lost, and Cortex resumes automatically.",
      transient: true,
      cause,
    });
  }
  if (code.startsWith("SQLITE_NOTADB") || code.startsWith("SQLITE_CORRUPT")) {
    return new CortexError("store_corrupt", `${where} is damaged or not a database: ${why}`, {
      hint: "Replace the file with a backup. Cortex has not changed it.",
      cause,
    });
  }
  if (code.startsWith("SQLITE_BUSY")) {
    return new CortexError("store_locked", `${where} is locked by another program`, {
      hint: "Close that program, then retry.",
      transient: true,
      cause,
    });
  }
  if (/^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)$/.test(code)) {
    return new CortexError("state_conflict", `Duplicate id: ${why}`, {
      hint: "Use a new id for each object.",
      cause,
    });
  }
  return new CortexError("store_unwritable", `Cannot write ${where}: ${why}`, {
    hint: "Check that the folder exists and is writable, and that the disk is healthy.",
    transient: code.startsWith("SQLITE_IOERR") || code === "EIO",
    cause,
  });
}

export function storeMissing(path: string): CortexError {
  return new CortexError("store_missing", `No ledger at ${path}`, {
    hint: "Run `cortex up` to create one, or set CORTEX_HOME to another home.",
  });
}

export function storeClosed(where: string): CortexError {
  return new CortexError("store_closed", `The store ${where} is closed`, { hint: "Open it again." });
}

/** Whether the disk is full. */
export function isFull(cause: unknown): boolean {
  return ["SQLITE_FULL", "ENOSPC", "EDQUOT"].includes(codeOf(cause));
}

function codeOf(cause: unknown): string {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : "";
  return typeof code === "string" ? code : "";
}
