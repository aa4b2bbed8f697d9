// How long a person waits for the command line, beside the least that a program in Node can take.

import { spawnSync } from "node:child_process";
import { type Report, under, written } from "../goal.ts";
import { median } from "../percentile.ts";
import { buildCortex } from "../server/build.ts";
import { makeHome, plainEnvironment, startCortex } from "../server/start-cortex.ts";
import { cpuMsOfChildren } from "../server/usage.ts";
import { table } from "../table.ts";

const ROUNDS = 21;
const GOAL_MS = 100;

interface Waited {
  readonly ms: number;
  readonly cpuMs: number | undefined;
}

export async function benchStartup(): Promise<Report> {
  const program = await buildCortex();
  const busy = makeHome();
  await using running = new AsyncDisposableStack();
  running.use(await startCortex({ program, home: busy }));
  const idle = makeHome();
  const commands: Record<string, () => Waited> = {
    "bare node": () => time(["-e", "0"], idle),
    "cortex --help": () => time([program, "--help"], idle),
    "cortex version": () => time([program, "version"], idle),
    "cortex status, a server runs": () => time([program, "status"], busy),
    "cortex status, none runs": () => time([program, "status"], idle),
  };
  const names = Object.keys(commands);
  for (const name of names) commands[name]!(); // what is compiled by then is kept, as it is for whoever uses it
  const times = new Map(names.map((name) => [name, [] as Waited[]]));
  // In turns, so that a slow moment of the machine is shared by all.
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of names) times.get(name)!.push(commands[name]!());
  }
  const medianMs = (name: string): number => median(times.get(name)!.map(({ ms }) => ms));
  const bareMs = medianMs("bare node");
  const rows = names.map((name) => {
    const ms = medianMs(name);
    return [
      name,
      Math.round(ms),
      Math.round(ms - bareMs),
      `${(ms / bareMs).toFixed(1)}×`,
      cpu(times.get(name)!),
    ];
  });
  return {
    text: table(["command", "ms", "over bare node, ms", "of bare node", "CPU ms"], rows),
    goals: names.slice(1).map((name) =>
      under({
        what: `${name}, beyond bare node`,
        value: medianMs(name) - bareMs,
        limit: GOAL_MS,
        unit: "ms",
        beside: `bare node: ${written(bareMs, "ms")}`,
      }),
    ),
  };
}

function time(args: readonly string[], home: string): Waited {
  const cpuBefore = cpuMsOfChildren();
  const startedMs = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env: plainEnvironment(home) });
  const ms = performance.now() - startedMs;
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}: ${stderr.toString()}`);
  return { ms, cpuMs: cpuBefore === undefined ? undefined : cpuMsOfChildren()! - cpuBefore };
}

/** The mean: each is told in steps of 10 ms, which even out over the rounds. */
function cpu(waits: readonly Waited[]): string {
  const each = waits.flatMap(({ cpuMs }) => cpuMs ?? []);
  return each.length === 0 ? "" : (each.reduce((sum, ms) => sum + ms, 0) / each.length).toFixed(0);
}
