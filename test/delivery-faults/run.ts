/** `npm run deliver -- --deliveries N [--seed S]`: sends are cut off, the store is crashed, and nothing is lost. */
import { parseArgs } from "node:util";

import { deliver, faultsIn } from "./deliver.ts";

const { values } = parseArgs({
  options: {
    deliveries: { type: "string", default: "5000" },
    seed: { type: "string", default: "1" },
  },
});
const deliveries = Number(values.deliveries);
const seed = Number(values.seed);
if (!Number.isInteger(deliveries) || deliveries < 1 || !Number.isInteger(seed)) {
  console.error("Give whole numbers: npm run deliver -- --deliveries 5000 --seed 1");
  process.exit(2);
}

const startedAtMs = Date.now();
const figures = await deliver({ deliveries, seed });
const seconds = Math.round((Date.now() - startedAtMs) / 1_000);
console.log(
  `${figures.deliveries} deliveries, ${figures.crashes} crashes, ${figures.cut} sends cut, ` +
    `${figures.received} received, ${figures.lost} lost, ${figures.duplicates} duplicates, ` +
    `${figures.unmarked} duplicates not marked, ${figures.disordered} out of order, ${seconds} s`,
);
process.exitCode = faultsIn(figures) === 0 ? 0 : 1;
