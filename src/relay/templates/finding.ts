import type { Mistake, Path } from "../../config/problem.ts";

/** A problem with an entry of the files: an error makes it unusable, a warning is a probable mistake. */
export interface EntryFinding extends Mistake {
  readonly severity: "error" | "warning";
}

export function errorAt(path: Path, message: string, hint: string): EntryFinding {
  return { severity: "error", path, at: "value", message, hint };
}

export function warningAt(path: Path, message: string, hint: string): EntryFinding {
  return { severity: "warning", path, at: "value", message, hint };
}

/** An unknown field is harmless and may belong to a later version. */
export function fromMistake(mistake: Mistake): EntryFinding {
  return { ...mistake, severity: mistake.at === "key" ? "warning" : "error" };
}

export function isError({ severity }: EntryFinding): boolean {
  return severity === "error";
}
