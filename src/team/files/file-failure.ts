/** What the system says of the files of a team, as errors that people can do something about. */
import { CortexError } from "../../model/errors.ts";

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(error.code as string);
}

export function unreadable(path: string, why: string, cause?: unknown): CortexError {
  return new CortexError("team_unreadable", `${path} cannot be read: ${why}`, {
    hint: "Check its permissions and that it is a text in UTF-8; `cortex team lint` names all such files.",
    cause,
  });
}

/** Wraps what went wrong while a file was written. An error of ours stays as it is. */
export function unwritable(path: string, cause: unknown): unknown {
  if (cause instanceof CortexError || !(cause instanceof Error)) return cause;
  const isFull = hasCode(cause, "ENOSPC", "EDQUOT", "EFBIG");
  return new CortexError(
    "team_unwritable",
    `${path} cannot be written: ${isFull ? "the disk is full" : cause.message}`,
    {
      hint: isFull
        ? "Free some space, then do it again; the file is as it was."
        : "Check its permissions and those of its folder; the file is as it was.",
      transient: isFull,
      cause,
    },
  );
}

export function readOnly(path: string): CortexError {
  return new CortexError("team_unwritable", `${path} is read-only`, {
    hint: "Allow writing again (`chmod u+w`), or leave this file to those who can change it.",
  });
}

export function full(path: string, excess: string): CortexError {
  return new CortexError("team_unwritable", `${path} would have ${excess}`, {
    hint: "Take out tasks that are done: `cortex team housekeeping` removes those older than a week.",
  });
}

export function missing(path: string): CortexError {
  return new CortexError("team_unwritable", `There is no file ${path} in the team directory`, {
    hint: "It may have been moved or removed; `cortex team undo` puts back what it held, `cortex team register` makes a member.",
  });
}

export function restless(path: string): CortexError {
  return new CortexError("state_conflict", `${path} is changed by somebody else all the time`, {
    hint: "Do it again when the other program is done.",
    transient: true,
  });
}
