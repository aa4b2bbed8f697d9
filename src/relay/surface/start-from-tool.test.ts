/** Agents that start relays, and end them. */
import { expect, test } from "vitest";

import { openTestCortex, writeHome } from "../../../test/support/home.ts";
import { PATIENT } from "../../../test/support/server.ts";
import { ended, SMALL_RELAYS, SMALL_SCRIPT } from "../../../test/support/small-relays.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { answerTo, entry, plays, resultsOf } from "../../../test/support/workers.ts";
import type { ItemId } from "../../model/ids.ts";
import { MAIN_SESSION } from "../../model/session-key.ts";
import type { Cortex } from "../../runtime/cortex.ts";
import { MAX_OPEN_RELAYS, MAX_RELAY_DEPTH } from "./start-from-tool.ts";

function open(...entries: readonly string[]): Promise<Cortex> {
  return openTestCortex({ relays: SMALL_RELAYS, script: `${entries.join("")}${SMALL_SCRIPT}` });
}

const starts = (args: object): string => plays([["relay_start", args]], "done");

async function say(cortex: Cortex, content: string): Promise<string> {
  const { item } = await cortex.send({ content });
  return answerTo(cortex, item);
}

test("an agent waits for a relay, and its artifact is the result of the call", PATIENT, async () => {
  const wish = { template: "pair", message: "a letter", goal: "joy", doneWhen: "she smiles", wait: true };
  await using cortex = await open(entry("please", "main", starts(wish)));
  expect(await say(cortex, "please")).toBe("done");
  expect(await resultsOf(cortex)).toEqual([expect.stringContaining("written: a letter")]);
  const [relay] = (await cortex.relays.list()).items;
  expect(relay).toMatchObject({
    templateName: "pair",
    status: "completed",
    userMessage: "a letter\n\nGoal: joy\n\nDone when: she smiles",
    metadata: { trigger: "agent", depth: 0, contract: { goal: "joy", doneWhen: "she smiles" } },
  });
});

test("a relay that comes to no good end is an error, and says why", PATIENT, async () => {
  const wish = { agent: "writer", message: "give up", wait: true };
  await using cortex = await open(entry("please", "main", starts(wish)));
  await say(cortex, "please");
  const head = await cortex.store.sessions.head(MAIN_SESSION);
  const { toolCalls } = (await cortex.store.turns.read(head!))!;
  expect(toolCalls[0]).toMatchObject({
    status: "error",
    result: { text: expect.stringContaining("no ink") },
  });
});

test("an agent that does not wait is told of the end by a message", PATIENT, async () => {
  await using cortex = await open(
    entry("please", "main", starts({ template: "pair", message: "a letter" })),
    entry("written: a letter", "main", plays([], "thank you")),
  );
  await say(cortex, "please");
  expect(await resultsOf(cortex)).toEqual([expect.stringMatching(/^Relay thr_\w{8} has started/)]);
  const answers = async () => {
    const head = await cortex.store.sessions.head(MAIN_SESSION);
    return (await cortex.store.turns.read(head!))!.messages.at(-1)!.content;
  };
  await expect.poll(answers, PATIENT).toBe("thank you");
});

test("relay_abort ends the relay with its step", PATIENT, async () => {
  await using cortex = await open();
  const record = await ended(cortex, await cortex.relays.run({ name: "pair", message: "give up" }));
  expect(record).toMatchObject({ status: "aborted", stopReason: "aborted", abortReason: "no ink" });
  expect(record.steps).toHaveLength(1);
});

test("names that do not exist are told to the agent", PATIENT, async () => {
  await using cortex = await open(
    entry("please", "main", starts({ template: "nope", message: "x", wait: true })),
  );
  await say(cortex, "please");
  expect(await resultsOf(cortex)).toEqual([expect.stringContaining("nope")]);
});

test("a session has a number of relays under way, and no more", PATIENT, async () => {
  const calls = Array.from(
    { length: MAX_OPEN_RELAYS + 1 },
    () => ["relay_start", { agent: "writer", message: "slow" }] as const,
  );
  await using cortex = await open(entry("please", "main", plays(calls, "done")));
  await say(cortex, "please");
  const results = await resultsOf(cortex);
  expect(results.slice(0, -1)).toEqual(
    Array.from({ length: MAX_OPEN_RELAYS }, () => expect.stringContaining("has started")),
  );
  expect(results.at(-1)).toContain(`${MAX_OPEN_RELAYS} relays of this session are already running`);
  for (const { id } of (await cortex.relays.list()).items) await cortex.relays.cancel(id);
});

test("relays that start relays come to an end", PATIENT, async () => {
  await using cortex = await open(
    entry("WRITE deep", undefined, starts({ agent: "writer", message: "deep", wait: true })),
  );
  await ended(cortex, await cortex.relays.run({ name: "writer", message: "deep" }));
  const { items } = await cortex.relays.list();
  expect(items).toHaveLength(MAX_RELAY_DEPTH);
  expect(items.map(({ metadata }) => metadata?.["depth"])).toEqual([2, 1, undefined]);
});

test("a relay that a step starts may cost no more than the step may", PATIENT, async () => {
  const wish = { agent: "writer", message: "deep", budgetUsd: 50, wait: true };
  await using cortex = await open(entry("WRITE deep", undefined, starts(wish)));
  await ended(cortex, await cortex.relays.run({ name: "writer", message: "deep", budgetUsd: 2 }));
  const { items } = await cortex.store.relays.list();
  expect(items.map(({ detail }) => (detail as { budgetUsd: number }).budgetUsd)).toEqual([2, 2, 2]);
});

test.each([
  ["resume", /written: slow/],
  ["fail", /Interrupted by server restart/],
])(
  "a turn that waits for a relay goes on after a restart, as relay.onRestart says: %s",
  PATIENT,
  async (onRestart, told) => {
    using folder = temporaryFolder();
    const asks = entry("please", "main", starts({ template: "pair", message: "slow", wait: true }));
    const files = { relays: SMALL_RELAYS, cortex: { relay: { onRestart }, broker: { shutdownMs: 0 } } };
    writeHome(folder.path, { ...files, script: asks + SMALL_SCRIPT });
    let item: ItemId;
    {
      await using cortex = await openTestCortex({}, { home: folder.path });
      ({ item } = await cortex.send({ content: "please" }));
      const steps = async () => (await cortex.relays.list()).items.flatMap((relay) => relay.steps);
      await expect.poll(steps, PATIENT).toHaveLength(1);
      const waits = async () => (await cortex.store.sessions.get(MAIN_SESSION))?.wait;
      await expect.poll(waits, PATIENT).toBe("child");
    }
    writeHome(folder.path, { ...files, script: asks + SMALL_SCRIPT.replace("WRITE slow", "WRITE slower") });
    await using again = await openTestCortex({}, { home: folder.path });
    expect(await answerTo(again, item)).toBe("done");
    expect(await resultsOf(again)).toEqual([expect.stringMatching(told)]);
    expect((await again.relays.list()).items).toHaveLength(1);
  },
);
