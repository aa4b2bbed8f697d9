/** `npm run simulate -- --seeds N [--from S]`: many seeds on all cores; `--seed S` is one of them again. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { simulate } from "./simulate.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    /** Only every so manyth seed: how the cores share the work. */
    stride: { type: "string" },
  },
});
const from = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;
if (!Number.isInteger(from) || !Number.isInteger(count) || count < 1) {
  console.error("Give whole numbers: npm run simulate -- --seeds 20000 --from 1");
  process.exit(2);
}

if (values.stride === undefined && count > 1) await runLanes();
else await runLane(Number(values.stride ?? 1));

async function runLanes(): Promise<void> {
  const lanes = Math.min(availableParallelism(), count);
  const children = Array.from({ length: lanes }, (_, lane) => {
    const args = ["--from", from + lane, "--seeds", count - lane, "--stride", lanes].map(String);
    return fork(fileURLToPath(import.meta.url), args);
  });
  let done = 0;
  let failed = 0;
  for (const child of children) {
    child.on("message", ({ ok }: { ok: boolean }) => {
      if (!ok) failed++;
      if (++done % 1_000 === 0) console.log(`${done} seeds`);
    });
  }
  await Promise.all(children.map((child) => once(child, "exit")));
  console.log(`${done - failed} passed, ${failed + count - done} failed`);
  process.exitCode = failed === 0 && done === count ? 0 : 1;
}

async function runLane(stride: number): Promise<void> {
  for (let seed = from; seed < from + count; seed += stride) {
    let ok = true;
    try {
      await simulate(seed);
    } catch (error) {
      ok = false;
      console.error(error);
      console.error(`Again: npm run simulate -- --seed ${seed}`);
      process.exitCode = 1;
    }
    process.send?.({ ok });
    if (process.send === undefined) console.log(`Seed ${seed} ${ok ? "passes" : "fails"}.`);
  }
  process.disconnect?.();
}
