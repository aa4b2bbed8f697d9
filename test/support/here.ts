/**
 * The command line and its server as `cli.ts` has them, in this process: a command takes a tenth of the time, a server a twentieth.
 * For tests of what commands do. Those of processes, signals and terminals use `cli.ts`.
 */
import { openCortex } from "../../src/runtime/cortex.ts";
import { serve } from "../../src/server/serve.ts";
import { type Ended, environmentOf, type NewHooks, prepareHooks, run as runApart } from "./cli.ts";
import { openWarmStore } from "./open-store.ts";
import { runHere } from "./run-here.ts";

/** Runs `cortex` to its end. What has something to read, or starts a server, is a process of its own. */
export async function run(
  home: string,
  args: readonly string[],
  input = "",
): Promise<Pick<Ended, "code" | "out" | "err">> {
  const isApart = input !== "" || args.includes("--start");
  return isApart ? runApart(home, args, input) : runHere(environmentOf(home), args);
}

export async function runJson(home: string, ...args: string[]): Promise<unknown> {
  const { code, out, err } = await run(home, [...args, "--json"]);
  if (code !== 0) throw new Error(`cortex ${args.join(" ")} ended with ${code}: ${err}`);
  return JSON.parse(out);
}

/** A server on a port of its own. */
export async function startServer(home: string, hooks: NewHooks = "none"): Promise<AsyncDisposable> {
  prepareHooks(home, hooks);
  const cortex = await openCortex({ home, environment: environmentOf(home), openStore: openWarmStore });
  const server = await serve(cortex, { host: "127.0.0.1", port: 0, log: () => {} });
  return {
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await cortex[Symbol.asyncDispose]();
    },
  };
}
