// `npm run bench` runs all benchmarks, `npm run bench -- depth` one of them. With `--save` the tables are
// also written to RESULTS.md.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { benchBroker } from "./broker/run.ts";
import { benchDepth } from "./depth/run.ts";
import { describeMachine, probeDiskSyncUs } from "./machine.ts";

interface Bench {
  readonly title: string;
  readonly about: string;
  readonly run: () => Promise<string>;
}

const BENCHES: Readonly<Record<string, Bench>> = {
  broker: {
    title: "Broker: accept → lease → commit",
    about:
      "Each message is 2 KB, each turn 3 messages and 1 tool call of 2 KB. Everything lies in memory and every sync takes 1 ms (`slowsync.c`), so this ranks contenders and says nothing about a disk. Medians of 3 rounds, contenders in turn. Cortex also writes the dispatch, the queue item, the run, the answer's event and its delivery; the bare loop writes the same rows, the job queues do not. `loop p99` is the event-loop delay of the main thread; an idle one shows about 1.1.",
    run: benchBroker,
  },
  depth: {
    title: "Depth: one thread that grows",
    about: "About 430 bytes each way, syncs free. A turn is accept and commit, one after the other; medians.",
    run: benchDepth,
  },
};

const save = process.argv.includes("--save");
const named = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const unknown = named.filter((name) => BENCHES[name] === undefined);
if (unknown.length > 0) {
  console.error(
    `There is no benchmark ${unknown.join(", ")}. There are: ${Object.keys(BENCHES).join(", ")}.`,
  );
  process.exit(2);
}

const machine = `${describeMachine()}. fdatasync of 4 KiB on the disk of this machine, which the tables do not use: p50 ${probeDiskSyncUs()} µs.`;
console.log(machine);
const sections: string[] = [];
for (const name of named.length > 0 ? named : Object.keys(BENCHES)) {
  const { title, about, run } = BENCHES[name]!;
  const section = `## ${title}\n\n\`npm run bench -- ${name}\`. ${about}\n\n${await run()}`;
  console.log(`\n${section}`);
  sections.push(section);
}
if (save) {
  const text = [
    "# Results",
    "",
    machine,
    "",
    "Ratios are what counts; the absolute numbers are this machine's.",
    "",
  ];
  writeFileSync(join(import.meta.dirname, "RESULTS.md"), [...text, ...sections].join("\n"));
}
