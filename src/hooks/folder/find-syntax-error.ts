import { runToEnd } from "../../programs/run-group.ts";

/** Enough for the largest allowed file. */
const TIMEOUT_MS = 20_000;

/** Runs in a separate process, because the parser is large and rarely used. Syntax that only Node rejects is not an error. */
const PROGRAM = `
  const { stripTypeScriptTypes } = require("node:module");
  try {
    stripTypeScriptTypes(require("node:fs").readFileSync(0, "utf8"));
  } catch (error) {
    if (error.code !== "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") process.stdout.write(String(error.message));
  }
`;

/** The syntax error of a TypeScript source, if any, found without running it. */
export async function findSyntaxError(source: string): Promise<string | undefined> {
  const args = ["--disable-warning=ExperimentalWarning", "--eval", PROGRAM];
  const run = { file: process.execPath, args, environment: {}, input: source, timeoutMs: TIMEOUT_MS };
  const { exitCode, signal, output, errors } = await runToEnd(run);
  if (exitCode !== 0) throw new Error(`The syntax check exited with ${exitCode ?? signal}: ${errors.trim()}`);
  const problem = output.toString().trim();
  return problem === "" ? undefined : problem;
}
