// The server as its owner meets it: how soon it is there, what it holds, what it adds to a message, and how it
// bears a crowd. It is the built program on a real disk, asked over HTTP.

import { loadavg } from "node:os";
import type { Report } from "../goal.ts";
import { buildCortex } from "./build.ts";
import { benchCrowd } from "./crowd.ts";
import { benchOverhead } from "./overhead.ts";
import { benchStart } from "./start.ts";

export async function benchServer(): Promise<Report> {
  const program = await buildCortex();
  const load = loadavg()[0]!.toFixed(1);
  const parts: Report[] = [];
  for (const bench of [benchStart, benchOverhead, benchCrowd]) parts.push(await bench(program));
  return {
    text: [`Load of the machine when it began: ${load}.\n`, ...parts.map(({ text }) => text)].join("\n"),
    goals: parts.flatMap(({ goals }) => goals),
  };
}
