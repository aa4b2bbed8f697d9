// `npm run bench` runs all benchmarks, one after the other, `npm run bench -- depth` one of them. One that fails does
// not keep the others from running. With `--save` what was measured is written to RESULTS.md and results.json.

import { BENCHES } from "./benches.ts";
import { currentCommit, currentMinute, describeMachine, probeDiskSyncUs } from "./machine.ts";
import { readResults, type Result, saveResult, summarize } from "./results.ts";

const names = Object.keys(BENCHES);
const titles = Object.fromEntries(names.map((name) => [name, BENCHES[name]!.title]));
const given = process.argv.slice(2);
const save = given.includes("--save");
const named = given.filter((word) => word !== "--save");
const unknown = named.filter((word) => !Object.hasOwn(BENCHES, word));
if (unknown.length > 0) {
  const isHelp = unknown.every((word) => word === "--help");
  if (!isHelp) console.error(`There is no benchmark ${unknown.join(", ")}.`);
  console.error(`npm run bench -- [--save] [name …], where the names are ${names.join(", ")}.`);
  process.exit(isHelp ? 0 : 2);
}

const measured: Record<string, Result> = {};
const failed: string[] = [];
for (const name of named.length > 0 ? named : names) {
  try {
    measured[name] = await measure(name);
  } catch (error) {
    failed.push(name);
    console.error(`\nBENCHMARK FAILED: ${name}:`, error);
  }
}
console.log(`\n${summarize({ ...readResults(), ...measured }, names)}`);
if (failed.length > 0) {
  console.error(`Failed: ${failed.join(", ")}. The table has what was saved of them last.`);
  process.exitCode = 1;
}

async function measure(name: string): Promise<Result> {
  const { title, about, run } = BENCHES[name]!;
  const machine = `${describeMachine()}. fdatasync of 4 KiB on its disk: p50 ${probeDiskSyncUs()} µs.`;
  console.log(`\n${machine}`);
  const result = { measured: currentMinute(), commit: currentCommit() };
  const { text, goals } = await run();
  const section = [`## ${title}\n`, `${machine}\n`, `\`npm run bench -- ${name}\`. ${about}\n`, text].join(
    "\n",
  );
  console.log(`\n${section}`);
  // At once: what is measured is not lost with what fails later.
  if (save) saveResult({ name, result: { ...result, goals }, section }, titles);
  return { ...result, goals };
}
