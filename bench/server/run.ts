// The server as its owner meets it: how soon it is there, what it holds, what it adds to a message, and how it
// bears a crowd. It is the built program on a real disk, asked over HTTP.

import { loadavg } from "node:os";
import { buildCortex } from "./build.ts";
import { benchCommandLine } from "./command-line.ts";
import { benchCrowd } from "./crowd.ts";
import { benchOverhead } from "./overhead.ts";
import { benchStart } from "./start.ts";

export async function benchServer(): Promise<string> {
  const program = buildCortex();
  const load = loadavg()[0]!.toFixed(1);
  const parts: string[] = [`Load of the machine when it began: ${load}.\n`];
  for (const bench of [benchStart, benchCommandLine, benchOverhead, benchCrowd])
    parts.push(await bench(program));
  return parts.join("\n");
}
