// Relays without a model, and the same turns sent by hand, each when the one before it has its answer. Prints one line of
// JSON.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { RelayId } from "../../src/model/ids.ts";
import { openCortex } from "../../src/runtime/cortex.ts";
import { percentile } from "../percentile.ts";
import { openMemoryFolder } from "../slow-sync.ts";

const STEPS = 10;
const WARM_UP = 10;
const ROUNDS = 50;
const CROWD = 100;
const LOOK_MS = 5;
const NEVER = new AbortController().signal;

const { values } = parseArgs({ options: { part: { type: "string", default: "one" } } });

const agents = Array.from({ length: STEPS }, (_, step) => `agent-${step}`);
const home = openMemoryFolder("relay");
mkdirSync(join(home, "config"));
const write = (name: string, value: unknown): void =>
  writeFileSync(join(home, "config", name), JSON.stringify(value));
// By hand, turns are made as those of a step are: with nothing remembered, in a folder with little in it.
write("cortex.json", { agents: { main: { role: "worker", memory: false, workspace: "hand" } } });
write("script.yaml", [{ when: ".", plays: [{ say: "What came of this step, in a few words." }] }]);
write("profiles.json", {
  defaultProfile: "scripted",
  profiles: { scripted: { backend: "offline", script: "script.yaml" } },
});
write("thread-templates.json", {
  agents: Object.fromEntries(
    agents.map((name) => [
      name,
      {
        profile: "__active__",
        persistSession: false,
        promptTemplate: "{{input}} Go on in {{artifactPath}}.",
      },
    ]),
  ),
  templates: {
    chain: {
      description: "One after the other",
      agents,
      transitions: agents
        .slice(1)
        .map((to, step) => ({ from: agents[step], to, condition: { type: "always" } })),
      entryAgent: agents[0],
      maxTotalSteps: STEPS,
    },
  },
});

let prompts: Promise<readonly string[]> | undefined;
const cortex = await openCortex({ home, environment: {}, log: console.error });
const PARTS: Readonly<Record<string, () => Promise<object>>> = {
  one: measureOne,
  "crowd of relays": () => measureCrowd(async () => void (await relay())),
  "crowd by hand": () => measureCrowd(async (i) => void (await byHand(`crowd-${i}`, await promptsOfRelay()))),
};
console.log(JSON.stringify(await PARTS[values.part]!()));
await cortex.stop();

/** One after the other, in turn with the same turns by hand, so that what the machine does besides meets both. */
async function measureOne(): Promise<object> {
  const contents = await promptsOfRelay();
  const relays: number[] = [];
  const hands: number[] = [];
  for (let i = 0; i < WARM_UP + ROUNDS; i++) {
    const relayMs = (await relay()) / STEPS;
    const handMs = (await byHand(`hand-${i}`, contents)) / STEPS;
    if (i < WARM_UP) continue;
    relays.push(relayMs);
    hands.push(handMs);
  }
  return { relay: row(relays), hand: row(hands) };
}

async function measureCrowd(one: (i: number) => Promise<void>): Promise<object> {
  await promptsOfRelay(); // not in the time
  const { turns } = await cortex.store.counts();
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: CROWD }, (_, i) => one(i)));
  const allMs = performance.now() - startedMs;
  const made = (await cortex.store.counts()).turns - turns;
  return {
    asked: CROWD * STEPS,
    turns: made,
    finished: await countFinished(),
    allMs,
    peakMiB: process.resourceUsage().maxRSS / 1024,
  };
}

/** What the steps of a relay are asked. */
function promptsOfRelay(): Promise<readonly string[]> {
  return (prompts ??= readPrompts());
}

async function readPrompts(): Promise<readonly string[]> {
  const { id } = await cortex.relays.run({ name: "chain", message: "A task." });
  await untilEnded(id);
  return (await cortex.relays.get(id))!.steps.map(({ input }) => input);
}

/** Gives how long it took: from the moment it was kept to that of its end. */
async function relay(): Promise<number> {
  const { id } = await cortex.relays.run({ name: "chain", message: "A task." });
  return untilEnded(id);
}

/** Looks now and then, as waiting for it is not what is measured. */
async function untilEnded(id: RelayId): Promise<number> {
  for (;;) {
    const { state, createdAtMs, endedAtMs } = (await cortex.store.relays.get(id))!;
    if (endedAtMs !== undefined && state !== "completed") throw new Error(`A relay has ${state}`);
    if (endedAtMs !== undefined) return endedAtMs - createdAtMs;
    await sleep(LOOK_MS);
  }
}

async function byHand(session: string, contents: readonly string[]): Promise<number> {
  const startedMs = performance.now();
  for (const [step, content] of contents.entries()) {
    const { item } = await cortex.send({ content, session: `${session}-${step}` });
    const outcome = await cortex.outcome(item, NEVER);
    if (outcome?.kind !== "turn") throw new Error(`There is no turn: ${JSON.stringify(outcome)}`);
  }
  return performance.now() - startedMs;
}

/** Relays that have come to their end with each step once. */
async function countFinished(): Promise<number> {
  const { items } = await cortex.store.relays.list({ states: ["completed"], limit: 1_000 });
  let finished = 0;
  for (const { id } of items) {
    const steps = await cortex.store.relays.steps(id);
    const isWhole = steps.length === STEPS && steps.every(({ slot }, step) => slot === agents[step]);
    if (isWhole && steps.every(({ state }) => state === "ended")) finished++;
  }
  return finished - 1; // the one that was asked for its prompts
}

function row(times: readonly number[]): object {
  return { p50Ms: percentile(times, 50), p99Ms: percentile(times, 99) };
}
