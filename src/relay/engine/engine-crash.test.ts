/** A relay whose process ends at any save goes on as if it had not, or has failed: as is configured. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import {
  always,
  type Asked,
  openStage,
  type Played,
  relayConfig,
  type Stage,
} from "../../../test/support/played-relays.ts";
import { readKept } from "../artifact/artifact.ts";
import { INTERRUPTED } from "../record/ending.ts";
import type { RelayRecord } from "../record/record.ts";

/** A fan-out, a join, and an agent that runs until its marker is there. */
const CONFIG = relayConfig(
  [
    always("a", ["b", "c"]),
    always(["b", "c"], "coder:implement"),
    {
      from: "coder:implement",
      to: "coder:review",
      condition: { type: "convergence", marker: "[DONE]", maxIterations: 3 },
    },
  ],
  { hooks: { onEnd: { command: "echo ended >> ended.txt; cat > /dev/null #" } } },
);

/** The same for the same question, whenever it is asked. */
const speaks = ({ name, step }: Asked): Played => ({
  says: `${name} says`,
  costUsd: 0.25,
  writes: name === "coder:implement" && step >= 4 ? "[DONE]\n" : `${name} ${step}\n`,
});

/** All that counts of what a relay has done. */
async function outcome(stage: Stage, record: RelayRecord) {
  const artifact = await stage.artifact(record.id);
  return {
    status: record.status,
    stopReason: record.stopReason,
    totalCostUsd: record.totalCostUsd,
    iterationCounts: record.iterationCounts,
    steps: record.steps.map(({ agentSlotId, stage: name, kind, status, output }) => [
      agentSlotId,
      name,
      kind,
      status,
      output,
    ]),
    done: stage.done.map((event) => Number(event.split(":").at(-1))).toSorted((a, b) => a - b),
    artifact,
    ended: toldOfEnd(stage),
    last: await readKept(stage.home, record.steps.at(-1)!.artifactHash ?? ""),
  };
}

function toldOfEnd({ home }: Stage): number {
  const file = join(home, "ended.txt");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
}

async function undisturbed() {
  await using stage = await openStage(CONFIG, speaks);
  const record = await stage.ended(await stage.run());
  expect(stage.problems).toEqual([]);
  expect(record.steps.map(({ error }) => error)).toEqual(Array.from({ length: 6 }, () => null));
  return await outcome(stage, record); // before the stage is gone
}

const plain = await undisturbed();

test("without a crash it does what the template says", () => {
  expect(plain).toMatchObject({
    status: "completed",
    stopReason: "no_matching_transition",
    iterationCounts: { "coder:implement→coder:review": 1 },
    done: [0, 1, 2, 3, 4, 5],
    ended: 1,
  });
});

/** One to begin with, one for each of six steps, two for the script at the end; two that run side by side may need one more. */
const SAVES = 10;
const MOMENTS = Array.from({ length: SAVES }, (_, at) => [
  { save: at + 1, when: "before" as const },
  { save: at + 1, when: "after" as const },
]).flat();

test.each(MOMENTS)("ended $when save $save, it comes to the same end", async ({ save, when }) => {
  await using stage = await openStage(CONFIG, speaks);
  stage.crashAt(save, when);
  const id = await stage.run();
  await Promise.race([stage.crashed, stage.ended(id)]);
  await stage.reopen("resume");
  const found = await outcome(stage, await stage.ended(id));
  // A script for the end that had begun is not begun again: nobody knows what it did.
  const isUnknown = found.steps.at(-1)![2] === "script";
  expect(found.ended).toBeLessThanOrEqual(1);
  expect(
    isUnknown ? { ...found, steps: found.steps.slice(0, -1), ended: 1, last: plain.last } : found,
  ).toEqual(plain);
});

test("where relays are to fail, one that was cut off has failed, and its end is told once", async () => {
  await using stage = await openStage(CONFIG, ({ name }) => (name === "a" ? { holds: true } : {}));
  const id = await stage.run();
  await stage.reached(1);
  await stage.reopen("fail");
  const record = await stage.ended(id);
  expect(record).toMatchObject({ status: "failed", stopReason: "failed", error: INTERRUPTED });
  expect(record.steps).toMatchObject([{ status: "failed" }]);
  expect(toldOfEnd(stage)).toBe(1);
});

test("a step that was under way is done again, and those before it are not", async () => {
  let isHeld = true;
  await using stage = await openStage(CONFIG, (asked) =>
    asked.name === "coder:implement" && isHeld ? { holds: true } : speaks(asked),
  );
  const id = await stage.run();
  await stage.reached(4);
  isHeld = false;
  await stage.reopen("resume");
  expect(await outcome(stage, await stage.ended(id))).toEqual(plain);
  expect(stage.asked.map(({ step }) => step).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 3, 4, 5]);
});
