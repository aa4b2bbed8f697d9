// From nothing to the first answer, as the README has it: cloned into an empty folder, installed, started, asked.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { type Report, under } from "../goal.ts";
import { table } from "../table.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const GOAL_S = 60;
const CAP_MS = 300_000;

export async function benchClone(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "cortex-clone-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const clone = join(folder, "cortex");
  const env = newcomerEnvironment(join(folder, "home"));
  const run = (cwd: string, program: string, ...args: string[]): string =>
    execFileSync(program, args, {
      cwd,
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", 2],
      timeout: CAP_MS,
    });

  const parts = new Map<string, number>();
  const timed = async <T>(name: string, work: () => T | Promise<T>): Promise<T> => {
    const startedMs = performance.now();
    const result = await work();
    parts.set(name, (performance.now() - startedMs) / 1_000);
    return result;
  };
  await timed("git clone", () => run(folder, "git", "clone", "--quiet", ROOT, clone));
  await timed("npm ci", () => run(clone, "npm", "ci"));
  stack.use(await timed("npm start, until it is ready", () => startServer(clone, env)));
  const answer = await timed('npx cortex send --wait "hello"', () =>
    run(clone, "npx", "cortex", "send", "--wait", "hello"),
  );
  if (!answer.includes("offline model")) throw new Error(`The first answer is not one: ${answer}`);

  const allS = [...parts.values()].reduce((sum, seconds) => sum + seconds, 0);
  return {
    text: table(["part", "s"], [...parts, ["all", allS]]),
    goals: [under({ what: "from `git clone` to the first answer", value: allS, limit: GOAL_S, unit: "s" })],
  };
}

/** The npm of the machine, not one that `npm run` has put first, and a home where nothing is set up. */
function newcomerEnvironment(home: string): NodeJS.ProcessEnv {
  const folders = process.env["PATH"]!.split(delimiter);
  const PATH = folders.filter((each) => !each.includes("node_modules")).join(delimiter);
  return { ...process.env, PATH, CORTEX_HOME: home, CORTEX_PROFILE: "offline" };
}

async function startServer(cwd: string, env: NodeJS.ProcessEnv): Promise<AsyncDisposable> {
  const child = spawn("npm", ["start", "--silent", "--", "--port", "0", "--json"], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  const noted = text(child.stderr);
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), "line"), ended]);
  if (typeof line !== "string") throw new Error(`\`npm start\` ended before it was ready: ${await noted}`);
  const { pid } = JSON.parse(line) as { pid: number };
  return {
    async [Symbol.asyncDispose]() {
      process.kill(pid, "SIGTERM"); // the shell between npm and it would not pass a signal on
      await ended;
    },
  };
}
