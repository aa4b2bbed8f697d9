import { join } from "node:path";

import { CortexError } from "../model/errors.ts";

export type Path = readonly (string | number)[];

/** Something wrong in a value, independent of its source. */
export interface Mistake {
  readonly path: Path;
  /** Whether the key or its value is wrong. */
  readonly at: "key" | "value";
  readonly message: string;
  readonly hint: string;
}

/** A mistake and its location. */
export interface Problem {
  /** `cortex.json:3:14`, `environment CORTEX_PORT` or `flag --port`. */
  readonly source: string;
  /** `agents.main.role`; empty for the whole file. */
  readonly path: string;
  readonly message: string;
  readonly hint: string;
}

/** More would not help to fix the file. */
export const MAX_PROBLEMS_LISTED = 100;

/** One error for all problems, so that they can be fixed together. */
export function configInvalid(folder: string, problems: readonly Problem[]): CortexError {
  const [first, ...others] = problems;
  if (first !== undefined && others.length === 0)
    return new CortexError("config_invalid", describe({ ...first, source: placeOf(first, folder) }), {
      hint: first.hint,
    });
  const lines = problems
    .slice(0, MAX_PROBLEMS_LISTED)
    .map((problem) => `  ${describe(problem)}. ${problem.hint}`);
  const more = problems.length - lines.length;
  const text = [`The configuration in ${folder} has ${problems.length} problems:`, ...lines];
  if (more > 0) text.push(`and ${more} more`);
  return new CortexError("config_invalid", text.join("\n"), {
    hint: "Fix them all; each line ends with a suggestion.",
  });
}

/** `agents.main.tools[0]`; a name with other characters is written `profiles["gpt-4.1"]`. */
export function formatPath(path: Path): string {
  return path.map(formatStep).join("").replace(/^\./, "");
}

/** Strings and numbers as written, shortened if long; anything else by its kind. */
export function quote(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= MAX_QUOTED ? text : `${text.slice(0, MAX_QUOTED)}…`;
}

const MAX_QUOTED = 60;

function placeOf({ source }: Problem, folder: string): string {
  return /^(flag|environment) /.test(source)
    ? source.slice(0, 1).toUpperCase() + source.slice(1)
    : join(folder, source);
}

function describe({ source, path, message }: Problem): string {
  return `${source}${path === "" ? "" : ` ${path}`}: ${message}`;
}

function formatStep(step: string | number): string {
  if (typeof step === "number") return `[${step}]`;
  return /^[\w$-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}
