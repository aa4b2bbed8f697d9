/** `npm run fuzz -- --cases N [--from S] [--parser NAME]`: so many texts for every reader of others' texts, on all cores. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { type Failure, fuzz, TARGETS } from "./fuzz.ts";

const { values } = parseArgs({
  options: {
    cases: { type: "string", default: "10000" },
    from: { type: "string", default: "1" },
    parser: { type: "string" },
    /** Which part of the cases this process runs: `<first>/<of how many>`. */
    lane: { type: "string" },
  },
});
const cases = Number(values.cases);
const from = Number(values.from);
const targets = values.parser === undefined ? TARGETS : TARGETS.filter((name) => name === values.parser);
if (!Number.isInteger(cases) || cases < 1 || !Number.isInteger(from)) {
  console.error("Expected whole numbers: npm run fuzz -- --cases 10000 --from 1");
  process.exit(2);
}
if (targets.length === 0) {
  console.error(`Unknown parser "${values.parser}". Parsers: ${TARGETS.join(", ")}`);
  process.exit(2);
}

if (values.lane === undefined) await runLanes();
else await runLane(values.lane);

async function runLanes(): Promise<void> {
  const startedAtMs = Date.now();
  const lanes = Math.min(availableParallelism(), cases);
  const failures: Failure[] = [];
  let lost = 0;
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const args = [...process.argv.slice(2), "--lane", `${lane}/${lanes}`];
      const child = fork(fileURLToPath(import.meta.url), args);
      child.on("message", (failure: Failure) => failures.push(failure));
      const [code] = (await once(child, "exit")) as [number | null];
      if (code !== 0) lost++;
    }),
  );
  for (const { parser, at, text, error } of failures) {
    console.error(`${parser}, case ${at}: ${String(error)}\n${JSON.stringify(text)}`);
    console.error(`Again: npm run fuzz -- --parser ${JSON.stringify(parser)} --from ${at} --cases 1\n`);
  }
  if (lost > 0) console.error(`${lost} of ${lanes} processes died`);
  const failed = new Set(failures.map(({ parser }) => parser)).size;
  const seconds = Math.round((Date.now() - startedAtMs) / 1_000);
  console.log(`${cases} cases for each of ${targets.length} parsers, ${seconds} s`);
  console.log(`${targets.length - failed} passed, ${failed + lost} failed`);
  process.exitCode = failed + lost === 0 ? 0 : 1;
}

async function runLane(lane: string): Promise<void> {
  const [first = 0, stride = 1] = lane.split("/").map(Number);
  for (const name of targets) {
    const failure = await fuzz(name, { from: from + first, cases: cases - first, stride });
    if (failure !== undefined) {
      const { message, stack = message } = failure.error;
      process.send?.({ ...failure, error: stack });
    }
  }
  process.disconnect?.();
}
