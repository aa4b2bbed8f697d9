/** A relay that has failed or was cancelled, and is resumed: it goes on where it was, and leaves nothing out. */
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
import type { RelayId } from "../../model/ids.ts";
import { finish, reopenRelay } from "../record/ending.ts";
import { updateRelay } from "../record/kept-relay.ts";
import type { RelayRecord } from "../record/record.ts";

const notes = (name: string) => ({ command: `cat > /dev/null; echo ${name} >> told.txt; true` });
const hooks = { onStart: notes("start"), onTransition: notes("transition"), onEnd: notes("end") };

/** A fan-out, a join, an agent that runs until its marker is there, and a script at each moment. */
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
  { hooks },
);

/** The same for the same agent, however often it is asked. */
function speaks(stage: () => Stage): (asked: Asked) => Played {
  return ({ name, session }) => {
    const before = stage().asked.filter((asked) => asked.session === session && asked.name === name).length;
    const isDone = name === "coder:implement" && before > 1;
    return { says: `${name} says`, writes: isDone ? "[DONE]\n" : `${name} was here\n` };
  };
}

function told({ home }: Stage): string[] {
  const file = join(home, "told.txt");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

const completed = ({ steps }: RelayRecord) =>
  steps
    .filter(({ status }) => status === "completed")
    .map(({ agentSlotId, stage }) => (stage === null ? agentSlotId : `${agentSlotId}:${stage}`));

async function resumed(stage: Stage, id: RelayId): Promise<RelayRecord> {
  await updateRelay(id, stage.store, ({ record }) => ({ record: reopenRelay(record, stage.clock()) }));
  return stage.ended(id);
}

async function cancel(stage: Stage, id: RelayId): Promise<void> {
  await updateRelay(id, stage.store, ({ record }) => ({
    record: finish(record, { stopReason: "cancelled" }, stage.clock()),
    stop: "cancelled",
  }));
  stage.engine.interrupt(id);
}

const ALL_STEPS = ["a", "b", "c", "coder:implement", "coder:implement", "coder:review"];
const ARTIFACT =
  "a was here\n\n## b\n\nb was here\n\n## c\n\nc was here\ncoder:implement was here\n[DONE]\ncoder:review was here\n";

/** Two for each of its six scripts, and one for each step but the last. */
const SAVES = 16;
const MOMENTS = Array.from({ length: SAVES }, (_, at) => [
  { save: at + 1, when: "before" as const },
  { save: at + 1, when: "after" as const },
]).flat();

test.each(MOMENTS)(
  "ended $when save $save, it has failed, and resumed it leaves no step and no script out",
  async ({ save, when }) => {
    let stage: Stage | undefined;
    await using opened = (stage = await openStage(
      CONFIG,
      speaks(() => stage!),
    ));
    opened.crashAt(save, when);
    const id = await opened.run();
    await Promise.race([opened.crashed, opened.ended(id)]);
    await opened.reopen("fail");
    const failed = await opened.ended(id);
    const record = failed.status === "failed" ? await resumed(opened, id) : failed;
    expect(record).toMatchObject({ status: "completed", stopReason: "no_matching_transition", error: null });
    expect(completed(record).toSorted()).toEqual(ALL_STEPS);
    expect(await opened.artifact(id)).toBe(ARTIFACT);
    expect(record.iterationCounts).toEqual({ "coder:implement→coder:review": 1 });
    // One that a crash cut off is among the steps instead.
    const cutOff = record.steps.filter(({ kind }) => kind === "script").map(({ agentSlotId }) => agentSlotId);
    const begun = [...told(opened), ...cutOff.map((slot) => slot.replace("hook-", ""))];
    expect(begun.filter((name) => name === "start").length).toBeGreaterThanOrEqual(1);
    expect(told(opened).filter((name) => name === "start").length).toBeLessThanOrEqual(1);
    expect(begun.filter((name) => name === "transition").length).toBeGreaterThanOrEqual(4);
    expect(told(opened).filter((name) => name === "transition").length).toBeLessThanOrEqual(4);
  },
);

test("what a step that was cut off had written does not abort the relay that was resumed", async () => {
  let isHeld = true;
  await using stage = await openStage(relayConfig([always("a", "b")]), ({ name }) =>
    name === "a" && isHeld ? { writes: "[ABORT: no key]\n", holds: true } : {},
  );
  const id = await stage.run();
  await stage.reached(1);
  await cancel(stage, id);
  expect(await stage.ended(id)).toMatchObject({ status: "cancelled" });
  isHeld = false;
  expect(await resumed(stage, id)).toMatchObject({ status: "completed", abortReason: null });
});
