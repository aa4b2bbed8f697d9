import { runToEnd } from "../../programs/run-group.ts";

/** Of a file that may be as large as a hook may be. */
const TIMEOUT_MS = 20_000;

/** In a process of its own: the parser is large, and used now and then only. What only Node refuses is no error. */
const PROGRAM = `
  const { stripTypeScriptTypes } = require("node:module");
  try {
    stripTypeScriptTypes(require("node:fs").readFileSync(0, "utf8"));
  } catch (error) {
    if (error.code !== "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") process.stdout.write(String(error.message));
  }
`;

/** What keeps a text from being TypeScript, found without running it. Undefined: nothing does. */
export async function findSyntaxError(source: string): Promise<string | undefined> {
  const args = ["--disable-warning=ExperimentalWarning", "--eval", PROGRAM];
  const run = { file: process.execPath, args, environment: {}, input: source, timeoutMs: TIMEOUT_MS };
  const { exitCode, signal, output, errors } = await runToEnd(run);
  if (exitCode !== 0)
    throw new Error(`The check of its syntax ended with ${exitCode ?? signal}: ${errors.trim()}`);
  const problem = output.toString().trim();
  return problem === "" ? undefined : problem;
}
