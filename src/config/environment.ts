import { parseEnv } from "node:util";

import type { Problem } from "./problem.ts";

/** Looks a variable up. It is a function so that secrets are not printed with the object that holds it. */
export type Environment = (name: string) => string | undefined;

export interface MergedEnvironment {
  readonly lookup: Environment;
  /** `environment` if the process has it, `.env` if only the file does. */
  originOf(name: string): "environment" | ".env";
  /** The variables of the file, even if the process has them too. */
  readonly inFile: () => ReadonlyMap<string, string>;
}

/** The variables of the process, then those of `config/.env`. The process's own environment stays unchanged. */
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

/** A quoted value may span several lines. */
const QUOTED = /(?<==[ \t]{0,16})(["'`])[^]*?\1/g;
const ENTRY = /^\s*(#|$|(export\s+)?[\w.-]+\s*=)/;

/** Invalid lines. They are not shown: one may be a key without its name. */
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
