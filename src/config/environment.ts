import { parseEnv } from "node:util";

import type { Problem } from "./problem.ts";

/** Looks a variable up. A function, so that secrets are not printed along with whatever holds it. */
export type Environment = (name: string) => string | undefined;

export interface MergedEnvironment {
  readonly lookup: Environment;
  /** `environment` where the process had it, `.env` where only the file does. */
  originOf(name: string): "environment" | ".env";
  /** What the file holds, whether or not the process has it too. */
  readonly inFile: () => ReadonlyMap<string, string>;
}

/** The variables of the process, and below them those of `config/.env`. Nothing is put into the process. */
export function mergeEnvironment(
  real: Readonly<Record<string, string | undefined>>,
  fileText: string,
): MergedEnvironment {
  const file = new Map(Object.entries(parseEnv(fileText) as Record<string, string>));
  const isReal = (name: string): boolean => Object.hasOwn(real, name) && real[name] !== undefined;
  return {
    lookup: (name) => (isReal(name) ? real[name] : file.get(name)),
    originOf: (name) => (isReal(name) ? "environment" : ".env"),
    inFile: () => file,
  };
}

/** A value may go on over several lines where it is quoted. */
const QUOTED = /(?<==[ \t]{0,16})(["'`])[^]*?\1/g;
const ENTRY = /^\s*(#|$|(export\s+)?[\w.-]+\s*=)/;

/** The lines that mean nothing. They may be a key without its name, so they are not shown. */
export function findEnvProblems(fileText: string): Problem[] {
  const lines = fileText.replaceAll(QUOTED, (value) => value.replaceAll(/[^\n]/g, "")).split(/\r?\n/);
  return lines.flatMap((line, at) =>
    ENTRY.test(line)
      ? []
      : {
          source: `.env:${at + 1}`,
          path: "",
          message: "expected NAME=value or a comment",
          hint: "Write one NAME=value per line; comments start with #.",
        },
  );
}
