/**
 * `npm run crash -- --kills N [--seed S]` kills a process that writes to the store N times and checks what is
 * left; with `--runtime`, a whole Cortex that serves senders; with `--relays R`, one that has R relays under way.
 */
import { parseArgs } from "node:util";

import { killAgainAndAgain } from "./harness.ts";
import { killRelays } from "./relays.ts";
import { killRuntime } from "./runtime/harness.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    runtime: { type: "boolean", default: false },
    relays: { type: "string" },
  },
});
const kills = Number(values.kills);
const seed = Number(values.seed);
if (!Number.isInteger(kills) || kills < 1 || !Number.isInteger(seed)) {
  console.error("Give whole numbers: npm run crash -- --kills 2000 --seed 1");
  process.exit(2);
}

const relays = values.relays === undefined ? undefined : Number(values.relays);
if (relays !== undefined && (!Number.isInteger(relays) || relays < 1)) {
  console.error("Give a whole number of relays: npm run crash -- --relays 100 --kills 20");
  process.exit(2);
}

const LANES = relays === undefined ? 2 : 1;
const startedAtMs = Date.now();
const kill =
  relays !== undefined
    ? (options: { kills: number; seed: number }) => killRelays({ ...options, relays })
    : values.runtime
      ? killRuntime
      : killAgainAndAgain;
const reports = await Promise.all(
  Array.from({ length: Math.min(LANES, kills) }, (_, lane) =>
    kill({ kills: Math.ceil((kills - lane) / LANES), seed: seed * LANES + lane }),
  ),
);
for (const problem of reports.flatMap(({ problems }) => problems)) console.error(problem);
const figures = new Map<string, number>();
for (const report of reports) {
  for (const [name, value] of Object.entries(report) as [string, number | readonly string[]][])
    figures.set(name, (figures.get(name) ?? 0) + (typeof value === "number" ? value : value.length));
}
const seconds = Math.round((Date.now() - startedAtMs) / 1_000);
console.log([...figures].map(([name, value]) => `${value} ${name}`).join(", ") + `, ${seconds} s`);
process.exitCode = figures.get("problems") === 0 ? 0 : 1;
