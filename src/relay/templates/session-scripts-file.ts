/** The session scripts in `config/session-hooks.json`. */
import { parseJsonFile, readText } from "../../config/json-file.ts";
import { sourceOf } from "../../config/part.ts";
import { formatPath, type Problem } from "../../config/problem.ts";
import { SESSION_SCRIPTS_FILE } from "../../config/read.ts";
import { validate } from "../../config/validate.ts";
import { sessionScriptsSchema } from "./schema.ts";
import type { RelayScript } from "./snapshot.ts";

export type SessionMoment = "onNew" | "onMessageEnd";

interface SessionScripts {
  readonly scripts: Readonly<Partial<Record<SessionMoment, RelayScript>>>;
  /** A script with a mistake is not run. */
  readonly problems: readonly Problem[];
}

/** Called for every use, so a change needs no restart. */
export async function readSessionScripts(configFolder: string): Promise<SessionScripts> {
  const file = parseJsonFile(SESSION_SCRIPTS_FILE, await readText(configFolder, SESSION_SCRIPTS_FILE));
  const { output, mistakes } = validate(sessionScriptsSchema, file.value);
  const wrong = new Set(mistakes.map(({ path }) => path[0]));
  const scripts: Partial<Record<SessionMoment, RelayScript>> = {};
  for (const moment of ["onNew", "onMessageEnd"] as const) {
    const entry = output[moment];
    if (entry === undefined || wrong.has(moment)) continue;
    const { timeout, ...script } = entry;
    scripts[moment] = { ...script, timeoutMs: timeout };
  }
  const problems = mistakes.map(({ path, at, message, hint }) => ({
    source: sourceOf(file, path, at),
    path: formatPath(path),
    message,
    hint,
  }));
  return { scripts, problems: [...file.problems, ...problems] };
}
