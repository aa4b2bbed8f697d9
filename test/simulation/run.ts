/** `npm run simulate -- --seeds N [--from S]`: many seeds, or one again with `--seed S`. */
import { parseArgs } from "node:util";

import { simulate } from "./simulate.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
  },
});
const from = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;
if (!Number.isInteger(from) || !Number.isInteger(count) || count < 1) {
  console.error("Give whole numbers: npm run simulate -- --seeds 20000 --from 1");
  process.exit(2);
}

let failed = 0;
for (let seed = from; seed < from + count; seed++) {
  try {
    await simulate(seed);
  } catch (error) {
    failed++;
    console.error(error);
    console.error(`Again: npm run simulate -- --seed ${seed}`);
  }
  if ((seed - from + 1) % 1_000 === 0) console.log(`${seed - from + 1} seeds`);
}
console.log(`${count - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
