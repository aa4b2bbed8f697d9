/** `npm run stress:team -- --edits N [--seed S]`: six writers and an editor that ignores locks, in the same files. */
import { parseArgs } from "node:util";

import { stressTeam } from "./stress.ts";

const { values } = parseArgs({
  options: {
    edits: { type: "string", default: "10000" },
    seed: { type: "string", default: "1" },
  },
});
const edits = Number(values.edits);
const seed = Number(values.seed);
if (!Number.isInteger(edits) || edits < 1 || !Number.isInteger(seed)) {
  console.error("Give whole numbers: npm run stress:team -- --edits 10000 --seed 1");
  process.exit(2);
}

const startedAtMs = Date.now();
const { problems, ...figures } = await stressTeam({ edits, seed });
const seconds = Math.round((Date.now() - startedAtMs) / 1_000);
const shown = Object.entries(figures).map(([name, value]) => `${value} ${name}`);
console.log(`${shown.join(", ")}, ${seconds} s`);
for (const problem of problems.slice(0, 20)) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
