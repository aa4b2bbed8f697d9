/** `npm run crash -- --kills N [--seed S]`: kills a writing process N times and checks what is left. */
import { parseArgs } from "node:util";

import { killAgainAndAgain } from "./harness.ts";

const { values } = parseArgs({
  options: { kills: { type: "string", default: "300" }, seed: { type: "string", default: "1" } },
});
const kills = Number(values.kills);
const seed = Number(values.seed);
if (!Number.isInteger(kills) || kills < 1 || !Number.isInteger(seed)) {
  console.error("Give whole numbers: npm run crash -- --kills 2000 --seed 1");
  process.exit(2);
}

const LANES = 2;
const reports = await Promise.all(
  Array.from({ length: LANES }, (_, lane) =>
    killAgainAndAgain({ kills: Math.ceil((kills - lane) / LANES), seed: seed * LANES + lane }),
  ),
);
const problems = reports.flatMap((report) => report.problems);
for (const problem of problems) console.error(problem);
const total = reports.reduce((sum, report) => sum + report.kills, 0);
const said = reports.reduce((sum, report) => sum + report.acknowledged, 0);
console.log(`${total} kills, ${said} acknowledgements kept, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
