import { CortexError } from "../../model/errors.ts";

/** What SQLite and the file system report, in Cortex's words. `where` is the path of the database. */
export function storeFailure(cause: unknown, where: string): Error {
  const code = codeOf(cause);
  const why = cause instanceof Error ? cause.message : String(cause);
  // Ours already, or a mistake of ours that no hint would help against.
  if (
    cause instanceof Error &&
    !/^(SQLITE_(?!CONSTRAINT_(NOTNULL|FOREIGNKEY|CHECK|DATATYPE))|E[A-Z]+$)/.test(code)
  )
    return cause;
  if (isFull(cause)) {
    return new CortexError("store_full", `There is no room left on the disk of ${where}`, {
      hint: "Free some space. Nothing that was acknowledged is lost, and Cortex goes on by itself.",
      transient: true,
      cause,
    });
  }
  if (code.startsWith("SQLITE_NOTADB") || code.startsWith("SQLITE_CORRUPT")) {
    return new CortexError("store_corrupt", `${where} is damaged or is not a database: ${why}`, {
      hint: "Move the file away and put a backup in its place. Cortex has changed nothing in it.",
      cause,
    });
  }
  if (code.startsWith("SQLITE_BUSY")) {
    return new CortexError("store_locked", `Another program holds ${where} locked`, {
      hint: "Close the program that has the database open, then try again.",
      transient: true,
      cause,
    });
  }
  if (/^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)$/.test(code)) {
    return new CortexError("state_conflict", `An id was used for two things: ${why}`, {
      hint: "Make a new id for each new thing.",
      cause,
    });
  }
  return new CortexError("store_unwritable", `${where} cannot be written: ${why}`, {
    hint: "Check that the folder exists, that it may be written, and that its disk is well.",
    transient: code.startsWith("SQLITE_IOERR") || code === "EIO",
    cause,
  });
}

export function storeMissing(path: string): CortexError {
  return new CortexError("store_missing", `There is no ledger at ${path}`, {
    hint: "`cortex up` makes one; CORTEX_HOME names another home.",
  });
}

export function storeClosed(where: string): CortexError {
  return new CortexError("store_closed", `The store ${where} is closed`, { hint: "Open it again." });
}

/** Whether it is for lack of room. */
export function isFull(cause: unknown): boolean {
  return ["SQLITE_FULL", "ENOSPC", "EDQUOT"].includes(codeOf(cause));
}

function codeOf(cause: unknown): string {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : "";
  return typeof code === "string" ? code : "";
}
