import { execFile } from "node:child_process";

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
  return new Promise((resolve, reject) => {
    const options = { env: {}, timeout: TIMEOUT_MS };
    const child = execFile(process.execPath, args, options, (error, output) => {
      if (error !== null) reject(error);
      else resolve(output.trim() === "" ? undefined : output.trim());
    });
    child.stdin!.on("error", () => {}); // it has ended early, which is told above
    child.stdin!.end(source);
  });
}
