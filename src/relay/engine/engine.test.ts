import { expect, test } from "vitest";

import {
  always,
  type Asked,
  openStage,
  type Played,
  relayConfig,
  type Stage,
} from "../../../test/support/played-relays.ts";
import { MAX_FAREWELL_LENGTH } from "./advance.ts";
import { readKept } from "../artifact/artifact.ts";
import { reopenRelay } from "../record/ending.ts";
import { updateRelay } from "../record/kept-relay.ts";
import type { RelayRecord } from "../record/record.ts";
import { MAX_OUTPUT_LENGTH } from "./record-ends.ts";

const path = ({ steps }: RelayRecord) =>
  steps.map(({ agentSlotId, stage }) => (stage === null ? agentSlotId : `${agentSlotId}:${stage}`));

/** What each agent writes and says, each time. */
const speaks = ({ name }: Asked): Played => ({ says: `${name} says`, writes: `${name} was here\n` });

async function play(stage: Stage, request: Parameters<Stage["run"]>[0] = {}): Promise<RelayRecord> {
  const record = await stage.ended(await stage.run(request));
  expect(stage.problems).toEqual([]);
  return record;
}

test("agents follow each other by the rules, and pass the artifact along", async () => {
  await using stage = await openStage(relayConfig([always("a", "b"), always("b", "c")]), speaks);
  const record = await play(stage);
  expect(record).toMatchObject({
    status: "completed",
    stopReason: "no_matching_transition",
    totalCostUsd: 0,
    currentStepIndex: 3,
    error: null,
  });
  expect(path(record)).toEqual(["a", "b", "c"]);
  expect(await stage.artifact(record.id as never)).toBe("a was here\nb was here\nc was here\n");
  expect(stage.asked.map(({ session }) => session)).toEqual([
    `thr:${record.id}:a:0`,
    `thr:${record.id}:b:1`,
    `thr:${record.id}:c:2`,
  ]);
});

test("what is due is looked for again and again, also where it could not be read", async () => {
  let isUnreadable = true;
  let looks = 0;
  await using stage = await openStage(relayConfig([]), speaks, {
    pollMs: 5,
    isUnreadable() {
      looks++;
      return isUnreadable;
    },
  });
  const id = await stage.run();
  for (let round = 1; round <= 3; round++) {
    const before = looks;
    await expect.poll(() => looks).toBeGreaterThan(before); // nothing is written that would wake it
  }
  expect(stage.problems).toHaveLength(1);
  isUnreadable = false;
  expect(await stage.ended(id)).toMatchObject({ status: "completed" });
});

test("the first agent is given the message, those after it what was answered before", async () => {
  await using stage = await openStage(relayConfig([always("a", "b")]), speaks);
  await play(stage);
  expect(stage.asked[0]!.prompt).toMatch(/on Do it$/);
  expect(stage.asked[1]!.prompt).toMatch(/on a says$/);
});

test("a step costs one save", async () => {
  await using stage = await openStage(relayConfig([always("a", "b"), always("b", "c")]), speaks);
  await play(stage);
  expect(stage.saves).toBe(4); // one begins the first step, each of the others ends one
});

test("an agent that keeps its session goes on in it, without being told again who it is", async () => {
  const config = relayConfig([always("a", "coder:implement"), always("coder:implement", "coder:review")]);
  await using stage = await openStage(config, speaks);
  const record = await play(stage);
  expect(path(record)).toEqual(["a", "coder:implement", "coder:review"]);
  const [, implement, review] = stage.asked;
  expect(implement!.session).toBe(`thr:${record.id}:coder`);
  expect(review!.session).toBe(implement!.session);
  expect(implement!.prompt).toMatch(/^You code\.\n\n\[Cortex Thread Protocol\]/);
  expect(review!.prompt).toMatch(/^Review in /);
});

const MARKER = "[DONE]";
const converge = (from: string, to: string, maxIterations = 5) => ({
  from,
  to,
  condition: { type: "convergence", marker: MARKER, maxIterations },
});

/** Writes the marker when it is asked for the n-th time. */
function marksAt(count: number, name: string) {
  let times = 0;
  return (asked: Asked): Played => {
    if (asked.name !== name) return {};
    times++;
    return { writes: times === count ? `${MARKER}\n` : "not yet\n" };
  };
}

test("forward, an agent runs again until the marker is there, and the relay goes on", async () => {
  await using stage = await openStage(relayConfig([converge("a", "b")]), marksAt(3, "a"));
  const record = await play(stage);
  expect(path(record)).toEqual(["a", "a", "a", "b"]);
  expect(record).toMatchObject({ stopReason: "no_matching_transition", iterationCounts: { "a→b": 2 } });
});

test("forward, an agent that never writes the marker ends the relay", async () => {
  await using stage = await openStage(relayConfig([converge("a", "b", 3)]), marksAt(99, "a"));
  const record = await play(stage);
  expect(path(record)).toEqual(["a", "a", "a"]);
  expect(record).toMatchObject({ status: "completed", stopReason: "max_iterations" });
});

test("back, the marker ends the relay, and without it the agent before runs again", async () => {
  await using stage = await openStage(relayConfig([always("a", "b"), converge("b", "a")]), marksAt(2, "b"));
  const record = await play(stage);
  expect(path(record)).toEqual(["a", "b", "a", "b"]);
  expect(record).toMatchObject({
    status: "completed",
    stopReason: "converged",
    iterationCounts: { "b→a": 1 },
  });
});

test("a relay does no more steps than its template allows", async () => {
  const config = relayConfig([always("a", "b"), always("b", "a")], { maxTotalSteps: 4 });
  await using stage = await openStage(config, speaks);
  const record = await play(stage);
  expect(path(record)).toEqual(["a", "b", "a", "b"]);
  expect(record.stopReason).toBe("max_iterations");
});

test("a relay ends when its money is spent, and each step may spend what is left", async () => {
  const config = relayConfig([always("a", "b"), always("b", "a")], { maxTotalCostUsd: 1 });
  await using stage = await openStage(config, () => ({ costUsd: 0.4 }));
  const record = await play(stage);
  expect(path(record)).toEqual(["a", "b", "a"]);
  expect(record.stopReason).toBe("cost_limit");
  expect(record.totalCostUsd).toBeCloseTo(1.2);
  const limits = await Promise.all(
    stage.asked.map(async ({ session }) => (await stage.store.sessions.get(session as never))?.worker),
  );
  expect(limits.map((worker) => (worker as { costUsd: number }).costUsd.toFixed(1))).toEqual([
    "1.0",
    "0.6",
    "0.2",
  ]);
});

test("whoever starts a relay can give it less to spend than its template does", async () => {
  const config = relayConfig([always("a", "b"), always("b", "a")], { maxTotalCostUsd: 1 });
  await using stage = await openStage(config, () => ({ costUsd: 0.4 }));
  const record = await play(stage, { budgetUsd: 0.5 });
  expect(path(record)).toEqual(["a", "b"]);
  expect(record.stopReason).toBe("cost_limit");
});

test("no step begins once all relays have spent what they may in a day", async () => {
  const config = relayConfig([always("a", "b"), always("b", "a")]);
  await using stage = await openStage(config, () => ({ costUsd: 0.4 }), { usdPerDay: 0.7 });
  expect(path(await play(stage))).toEqual(["a", "b"]);
  const next = await play(stage);
  expect(next).toMatchObject({ status: "completed", stopReason: "cost_limit", steps: [] });
});

test("a marker on a line of its own aborts the relay", async () => {
  await using stage = await openStage(relayConfig([always("a", "b")]), () => ({
    writes: "- **[ABORT: no data]**\n",
  }));
  const record = await play(stage);
  expect(record).toMatchObject({
    status: "aborted",
    stopReason: "aborted",
    abortReason: "no data",
    error: null,
  });
  expect(path(record)).toEqual(["a"]);
});

test("a marker that is quoted, in code, or was there before aborts nothing", async () => {
  const quoted = "The marker [ABORT: x] is\n```\n[ABORT: y]\n```\n";
  await using stage = await openStage(relayConfig([always("a", "b")]), () => ({ writes: quoted }));
  expect(await play(stage)).toMatchObject({ status: "completed", abortReason: null });
});

test("a tool aborts the relay too", async () => {
  await using stage = await openStage(relayConfig([always("a", "b")]), () => ({
    calls: [{ tool: "relay_abort", params: { reason: "out of reach" } }],
  }));
  expect(await play(stage)).toMatchObject({ status: "aborted", abortReason: "out of reach" });
});

test("a step that fails for good fails the relay, which can be resumed there", async () => {
  let isBroken = true;
  await using stage = await openStage(relayConfig([always("a", "b"), always("b", "c")]), ({ name }) =>
    name === "b" && isBroken ? { fails: "no connection" } : { writes: `${name}\n` },
  );
  const id = await stage.run();
  expect(await stage.ended(id)).toMatchObject({
    status: "failed",
    stopReason: "failed",
    error: "b: no connection",
  });
  isBroken = false;
  await resumeRelay(stage, id);
  const record = await stage.ended(id);
  expect(record).toMatchObject({ status: "completed", error: null });
  expect(record.steps.map(({ agentSlotId, status }) => `${agentSlotId} ${status}`)).toEqual([
    "a completed",
    "b failed",
    "b completed",
    "c completed",
  ]);
  expect(await stage.artifact(id)).toBe("a\nb\nc\n");
});

test("agents that work side by side write sections of their own, which are merged in the order of the rule", async () => {
  const config = relayConfig([always("a", ["c", "b"]), always(["b", "c"], "d")]);
  await using stage = await openStage(config, ({ name }) => ({
    says: `${name} says`,
    writes: `by ${name}\n`,
  }));
  const record = await play(stage);
  expect(record.steps.map(({ leg }) => leg)).toEqual([0, 1, 1, 2]);
  expect(path(record).toSpliced(1, 2)).toEqual(["a", "d"]);
  expect(await stage.artifact(record.id as never)).toBe("by a\n\n## c\n\nby c\n\n## b\n\nby b\nby d\n");
  expect(stage.asked.at(-1)!.prompt).toContain("[c]\n\nc says\n\n[b]\n\nb says");
});

test("one that fails of those that work side by side ends the others", async () => {
  const config = relayConfig([always("a", ["b", "c"]), always(["b", "c"], "d")]);
  await using stage = await openStage(config, ({ name }) =>
    name === "b" ? { holds: true } : name === "c" ? { fails: "no" } : {},
  );
  const record = await play(stage);
  expect(record).toMatchObject({ status: "failed", error: "c: no" });
  expect(record.steps.map(({ status }) => status)).toEqual(["completed", "failed", "failed"]);
});

test("what the artifact was like after each step is kept", async () => {
  await using stage = await openStage(relayConfig([always("a", "b")]), speaks);
  const { steps } = await play(stage);
  const texts = await Promise.all(steps.map(({ artifactHash }) => readKept(stage.home, artifactHash!)));
  expect(texts).toEqual(["a was here\n", "a was here\nb was here\n"]);
  expect(await readKept(stage.home, steps[0]!.artifactBefore!)).toBe("");
});

test("a prompt that is too long for a message fails the relay, and says so", async () => {
  await using stage = await openStage(relayConfig([]), speaks);
  const record = await play(stage, { message: "x".repeat(2_000_000) });
  expect(record).toMatchObject({ status: "failed", steps: [] });
  expect(record.error).toContain("bytes");
});

test("a prompt says which files the agent before has changed", async () => {
  const promptTemplate = "{{modifiedFiles}}\n{{modifiedFilesWithDiff}}";
  const config = relayConfig([always("a", "d"), always("d", "b")]) as { agents: Record<string, object> };
  config.agents["d"] = { ...config.agents["d"], promptTemplate };
  await using stage = await openStage(config, ({ name }) =>
    name === "a" ? { calls: [{ tool: "Write", params: { path: "notes.txt", content: "one\n" } }] } : {},
  );
  const { workspacePath } = await play(stage);
  const { prompt } = stage.asked[1]!;
  expect(prompt).toContain(`- ${workspacePath}/notes.txt\n### ${workspacePath}/notes.txt`);
  expect(prompt).toContain("+one");
});

test("of a very long answer the beginning is kept with the relay", async () => {
  await using stage = await openStage(relayConfig([]), () => ({ says: "x".repeat(MAX_OUTPUT_LENGTH + 1) }));
  const [step] = (await play(stage)).steps;
  expect(step!.output).toBe(`${"x".repeat(MAX_OUTPUT_LENGTH)}\n[…]`);
});

test("people are told of each step, and at the end what came of it", async () => {
  await using stage = await openStage(relayConfig([always("a", "b")]), speaks);
  await play(stage, { delivery: { channel: "test", place: "p" } });
  expect(stage.told.slice(0, 2)).toEqual(["Step 1: *a* starting", "Step 2: *b* starting (prev: a)"]);
  expect(stage.told[2]).toMatch(/^a was here\nb was here\n\n✅ Thread complete \| 2 steps/);
  expect((await stage.store.outbox.list()).items).toHaveLength(3);
});

test("of a very long artifact people are told the beginning, and where the rest is", async () => {
  await using stage = await openStage(relayConfig([]), () => ({
    writes: "x".repeat(MAX_FAREWELL_LENGTH + 1),
  }));
  const { artifactPath } = await play(stage, { delivery: { channel: "test", place: "p" } });
  const all = `${"x".repeat(MAX_FAREWELL_LENGTH)}\n[… full text in ${artifactPath}]\n\n`;
  expect(stage.told.at(-1)!.startsWith(all)).toBe(true);
});

test("a hundred relays at once lose no step and do none twice", async () => {
  await using stage = await openStage(relayConfig([always("a", "b"), always("b", "c")]), speaks);
  const ids = await Promise.all(Array.from({ length: 100 }, () => stage.run()));
  const records = await Promise.all(ids.map((id) => stage.ended(id)));
  expect(records.every((record) => record.status === "completed" && record.steps.length === 3)).toBe(true);
  expect(stage.asked).toHaveLength(300);
  expect(stage.problems).toEqual([]);
});

async function resumeRelay(stage: Stage, id: Parameters<Stage["read"]>[0]): Promise<void> {
  await updateRelay(id, stage.store, ({ record }) => ({ record: reopenRelay(record, stage.clock()) }));
}
