import type { Mistake, Path } from "../../config/problem.ts";

/** Something about an entry of the files: what makes it unusable, or what is probably not meant. */
export interface Finding extends Mistake {
  readonly severity: "error" | "warning";
}

export function wrong(path: Path, message: string, hint: string): Finding {
  return { severity: "error", path, at: "value", message, hint };
}

export function doubtful(path: Path, message: string, hint: string): Finding {
  return { severity: "warning", path, at: "value", message, hint };
}

/** A field that nobody knows does no harm, and may belong to a later version. */
export function fromMistake(mistake: Mistake): Finding {
  return { ...mistake, severity: mistake.at === "key" ? "warning" : "error" };
}

export function isError({ severity }: Finding): boolean {
  return severity === "error";
}
