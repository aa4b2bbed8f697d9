/** The scripts of sessions, as `config/session-hooks.json` names them. */
import { z } from "zod";

import { env } from "../../config/cortex-schema.ts";
import { parseJsonFile, readText } from "../../config/json-file.ts";
import { sourceOf } from "../../config/part.ts";
import { formatPath, type Problem } from "../../config/problem.ts";
import { SESSION_SCRIPTS_FILE } from "../../config/read.ts";
import { validate } from "../../config/validate.ts";
import { schemaAddress, text } from "./agent-schema.ts";
import { MAX_SCRIPT_TIMEOUT_MS } from "./schema.ts";
import type { RelayScript } from "./snapshot.ts";

const DEFAULT_SESSION_SCRIPT_TIMEOUT_MS = 60_000;

const sessionScriptSchema = z
  .strictObject({
    command: text("What the shell runs, with its interpreter: node hooks/summary.mjs."),
    args: z.array(z.string()).describe("Arguments for the command.").default([]),
    timeout: z
      .int()
      .min(1)
      .max(MAX_SCRIPT_TIMEOUT_MS)
      .describe("How long it may take, in milliseconds.")
      .default(DEFAULT_SESSION_SCRIPT_TIMEOUT_MS),
    env: env.exactOptional(),
  })
  .describe("A command that is told of a session. What it writes is said to the agent of the session.");

export const sessionScriptsSchema = z.strictObject({
  $schema: schemaAddress,
  onNew: sessionScriptSchema.describe("Runs when somebody starts a session afresh.").exactOptional(),
  onMessageEnd: sessionScriptSchema
    .describe("Runs when the turn that answers a person is done.")
    .exactOptional(),
});

export type SessionMoment = "onNew" | "onMessageEnd";

export interface SessionScripts {
  readonly scripts: Readonly<Partial<Record<SessionMoment, RelayScript>>>;
  /** A script with a mistake in it is not run. */
  readonly problems: readonly Problem[];
}

/** Read anew for every use, so that no change needs a restart. */
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
