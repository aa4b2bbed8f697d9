import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

export type Program = {
  readonly script: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** When to give up. The program is asked to stop first, so that it can stop its own servers. */
  readonly capMs?: number;
};

/** Long enough for a workload at its own cap of 60 s, and for its servers to start and stop. */
const defaultCapMs = 120_000;
const stopMs = 10_000;

/** Runs a script with this Node and returns what it printed, one value for each line of JSON. */
export async function runProgram<Line>(
  { script, args, env, capMs = defaultCapMs }: Program,
  isLine: (value: unknown) => value is Line,
): Promise<Line[]> {
  const child = spawn(process.execPath, [script, ...args], {
    env: env ?? process.env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const asked = setTimeout(() => child.kill("SIGTERM"), capMs);
  const forced = setTimeout(() => child.kill("SIGKILL"), capMs + stopMs);
  const stop = () => child.kill("SIGTERM");
  process.once("exit", stop);
  try {
    const ended = new Promise<string | undefined>((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (code, signal) => resolve(code === 0 ? undefined : `ended with ${signal ?? code}`));
    });
    const [output, trouble] = await Promise.all([text(child.stdout), ended]);
    if (trouble !== undefined) throw new Error(`${script} ${trouble}`);
    return output
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const value: unknown = JSON.parse(line);
        if (!isLine(value)) throw new Error(`${script} printed something unexpected: ${line}`);
        return value;
      });
  } finally {
    clearTimeout(asked);
    clearTimeout(forced);
    process.off("exit", stop);
  }
}
