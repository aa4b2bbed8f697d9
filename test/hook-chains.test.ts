/** What leads to what, and where it ends. */
import { expect, test } from "vitest";

import { ANSWER_ADAPTER } from "../src/model/event.ts";
import { eventId } from "../src/model/event-id.ts";
import type { EventId } from "../src/model/ids.ts";
import { MAIN_SESSION } from "../src/model/session-key.ts";
import type { Cortex } from "../src/runtime/cortex.ts";
import { explain } from "../src/insight/why.ts";
import { openTestCortex } from "./support/home.ts";
import { judge } from "./support/judged.ts";
import { PATIENT } from "./support/server.ts";
import { ended } from "./support/small-relays.ts";

const ECHO = `export const filter = { directions: ["sent"] };
export default async () => ({ fire: true, routing: { session: "main" } });`;

/** Until nothing is left to be judged, queued or run. */
async function settled({ store }: Cortex): Promise<void> {
  const isSettled = async (): Promise<boolean> => {
    const before = await store.counts();
    const unjudged = await store.hooks.unjudged();
    const after = await store.counts(); // what was judged between two looks is queued, runs or is a turn by now
    return unjudged.length + after.queued + after.running === 0 && before.turns === after.turns;
  };
  await expect.poll(isSettled, PATIENT).toBe(true);
}

test("a hook that fires on answers ends after as many as a chain may have, with a reason and one notice", async () => {
  const lines: string[] = [];
  const admin = { channel: "http", place: "desk" };
  await using cortex = await openTestCortex(
    { cortex: { admin }, hooks: { "echo.ts": ECHO } },
    { log: (line) => void lines.push(line) },
  );
  const { item } = await cortex.send({ content: "hello" });
  await cortex.outcome(item, AbortSignal.timeout(60_000));
  await settled(cortex);
  const { maxChain } = cortex.config().broker;
  expect(maxChain).toBe(8);
  expect(await cortex.store.counts()).toMatchObject({ turns: maxChain });

  const head = (await cortex.store.sessions.get(MAIN_SESSION))!.head!;
  const last = `${ANSWER_ADAPTER}:${head}` as EventId;
  expect(await cortex.store.events.get(last)).toMatchObject({ depth: maxChain });
  const { turns, chain } = await explain(cortex.store, last);
  expect(turns.at(-1)!.hooks).toMatchObject([
    {
      hook: "echo",
      fired: false,
      error: expect.stringContaining("The event chain reached its limit: 8 internal events"),
    },
  ]);
  expect(chain.map(({ depth }) => depth)).toEqual([7, 6, 5, 4, 3, 2, 1, 0]);
  expect(await cortex.store.hooks.get("echo")).toMatchObject({ consecutiveErrors: 1 });
  expect(lines.filter((line) => line.includes("Stopped the event chain that began with http:"))).toHaveLength(
    1,
  );
  const told = await cortex.store.outbox.list({ limit: 10 });
  expect(told.items.filter(({ target }) => target.place === "desk")).toHaveLength(1);
});

test("a hook that runs into the end of chains again and again is paused, and why names it", async () => {
  await using cortex = await openTestCortex({
    cortex: { broker: { maxChain: 3 } }, // it fires twice, and then fails
    hooks: { "echo.ts": ECHO },
  });
  for (let count = 0; count < 5; count++) {
    const { item } = await cortex.send({ content: `hello ${count}` });
    await cortex.outcome(item, AbortSignal.timeout(60_000));
    await settled(cortex);
  }
  expect(await cortex.store.hooks.get("echo")).toMatchObject({ state: "open" });
  const { event, item } = await cortex.send({ content: "hello once more" });
  await cortex.outcome(item, AbortSignal.timeout(60_000));
  await settled(cortex);
  const { turns } = await explain(cortex.store, event);
  expect(turns[0]!.hooks).toMatchObject([
    { hook: "echo", skipped: expect.stringContaining("paused after repeated failures") },
  ]);
});

test("what a timer causes counts, and the timer itself begins a chain", async () => {
  const tick = `export const filter = { channels: ["timer"] };
export default async () => ({ fire: true, routing: { session: "main" }, context: { prompt: "tick" } });`;
  await using cortex = await openTestCortex({ hooks: { "tick.ts": tick } });
  const id = eventId("timer", { kind: "minute", atMs: 0 });
  const minute = { id, channel: "timer", direction: "received", content: null, atMs: 0 } as const;
  await cortex.store.events.accept(minute, { judge: true });
  await settled(cortex);
  expect(await cortex.store.events.get(id)).toMatchObject({ depth: 0 });
  const answers = await cortex.store.query(
    "select depth, cause_id from events where direction = 'sent' and cause_id = ?",
    [id],
  );
  expect(answers).toEqual([{ depth: 1, cause_id: id }]);
});

test("a relay of fifty steps that a hook starts is no long chain", PATIENT, async () => {
  const asks = (promptTemplate: string) => ({ profile: "__active__", persistSession: false, promptTemplate });
  const always = { type: "always" };
  const relays = {
    agents: { ping: asks("PING"), pong: asks("PONG") },
    templates: {
      rally: {
        description: "Back and forth",
        agents: ["ping", "pong"],
        transitions: [
          { from: "ping", to: "pong", condition: always },
          { from: "pong", to: "ping", condition: always },
        ],
        entryAgent: "ping",
        maxTotalSteps: 50,
      },
    },
  };
  const player = { channel: "court", sender: "ada" };
  const serve = `export const filter = { channels: ["court"] };
export default async () => ({ fire: true, routing: { relay: "rally" } });`;
  const lines: string[] = [];
  await using cortex = await openTestCortex(
    {
      relays,
      hooks: { "serve.ts": serve },
      cortex: { broker: { maxChain: 2 }, channels: { paired: [player] } },
    },
    { log: (line) => void lines.push(line) },
  );
  const { event, runs } = await judge(cortex, { ...player, content: "serve" });
  expect(runs).toMatchObject([{ hook: "serve", fired: true, error: undefined }]);
  const [relay] = (await cortex.relays.list()).items;
  const record = await ended(cortex, relay!);
  expect(record.steps).toHaveLength(50);
  await settled(cortex);
  const steps = await cortex.store.query(
    "select depth, count(*) as count from events where cause_id = ? group by depth",
    [event],
  );
  expect(steps).toContainEqual({ depth: 1, count: 50 });
  expect(lines.filter((line) => line.includes("The chain of events"))).toEqual([]);
});
