/** `npm run redeliver -- --events N [--seed S]`: each event comes up to five times, and has one turn. */
import { parseArgs } from "node:util";

import { redeliver } from "./redeliver.ts";

const { values } = parseArgs({
  options: {
    events: { type: "string", default: "10000" },
    seed: { type: "string", default: "1" },
  },
});
const events = Number(values.events);
const seed = Number(values.seed);
if (!Number.isInteger(events) || events < 1 || !Number.isInteger(seed)) {
  console.error("Give whole numbers: npm run redeliver -- --events 100000 --seed 1");
  process.exit(2);
}

const startedAtMs = Date.now();
const figures = await redeliver({ events, seed });
const seconds = Math.round((Date.now() - startedAtMs) / 1_000);
const shown = Object.entries(figures).map(([name, value]) => `${value} ${name}`);
console.log(`${shown.join(", ")}, ${seconds} s`);
