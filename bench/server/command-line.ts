// How long a person waits for the command line.

import { spawnSync } from "node:child_process";
import { median } from "../percentile.ts";
import { table } from "../table.ts";
import { makeHome, plainEnvironment, startCortex } from "./start-cortex.ts";

const ROUNDS = 15;
const GOAL_MS = 100;

export async function benchCommandLine(program: string): Promise<string> {
  const busy = makeHome();
  await using running = new AsyncDisposableStack();
  running.use(await startCortex({ program, home: busy }));
  const idle = makeHome();
  const commands: Record<string, () => number> = {
    "bare node": () => time(["-e", "0"], idle),
    "cortex --help": () => time([program, "--help"], idle),
    "cortex version": () => time([program, "version"], idle),
    "cortex status, a server runs": () => time([program, "status"], busy),
    "cortex status, none runs": () => time([program, "status"], idle),
  };
  const times = new Map(Object.keys(commands).map((name) => [name, [] as number[]]));
  // In turns, so that a slow moment of the machine is shared by all.
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, run] of Object.entries(commands)) times.get(name)!.push(run());
  }
  const bareMs = median(times.get("bare node")!);
  const rows = [...times].map(([name, each]) => {
    const ms = median(each);
    return [name, Number(ms.toFixed(0)), Number((ms - bareMs).toFixed(0)), `${(ms / bareMs).toFixed(1)}×`];
  });
  const over = (name: string): string => `${Math.round(median(times.get(name)!) - bareMs)} ms`;
  return [
    table(["command", "ms", "over bare node, ms", "of bare node"], rows),
    `- Over bare node: --help ${over("cortex --help")}, status ${over("cortex status, a server runs")} with a server and ${over("cortex status, none runs")} without (goal: ${GOAL_MS} ms).`,
    "",
  ].join("\n");
}

function time(args: readonly string[], home: string): number {
  const startedMs = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env: plainEnvironment(home) });
  const ms = performance.now() - startedMs;
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}: ${stderr.toString()}`);
  return ms;
}
