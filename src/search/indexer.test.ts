import { expect, test } from "vitest";

import { openTestStore, type TestStore } from "../../test/support/open-store.ts";
import { event } from "../../test/support/sample.ts";
import { CortexError } from "../model/errors.ts";
import type { IndexStep } from "../store/store.ts";
import { Indexer, type IndexerOptions, STEP_EVENTS } from "./indexer.ts";

const PATIENT = { interval: 5 };

/** The real store, with a look at what is asked of it. */
function watched(opened: TestStore, before: () => void = () => {}) {
  const steps: IndexStep[] = [];
  const problems: unknown[] = [];
  const parts: IndexerOptions = {
    store: {
      onWake: (topic, listener) => opened.store.onWake(topic, listener),
      events: {
        async index(max) {
          before();
          const step = await opened.store.events.index(max);
          steps.push(step);
          return step;
        },
      },
    },
    onProblem: (error) => problems.push(error),
    restMs: 0,
    retryMs: 0,
  };
  const total = (): number => steps.reduce((sum, { indexed }) => sum + indexed, 0);
  return { parts, steps, problems, total };
}

async function accept(opened: TestStore, from: number, to: number): Promise<void> {
  const numbers = Array.from({ length: to - from }, (_, i) => String(from + i));
  await Promise.all(numbers.map((name) => opened.store.events.accept(event(name, { content: name }))));
}

test("what was there before and what comes later is indexed, in small steps", async () => {
  await using opened = await openTestStore();
  const { parts, steps, total } = watched(opened);
  await accept(opened, 0, 150);
  await using indexer = new Indexer(parts);
  indexer.start();
  await expect.poll(total, PATIENT).toBe(150);
  await accept(opened, 150, 160);
  await expect.poll(total, PATIENT).toBe(160);
  expect(Math.max(...steps.map(({ indexed }) => indexed))).toBe(STEP_EVENTS);
});

test("a failure is told of once, and does not end it", async () => {
  await using opened = await openTestStore();
  let failures = 3;
  const { parts, problems, total } = watched(opened, () => {
    if (failures-- > 0) throw new CortexError("store_full", "The disk is full", { hint: "Make room." });
  });
  await accept(opened, 0, 5);
  await using indexer = new Indexer(parts);
  indexer.start();
  await expect.poll(total, PATIENT).toBe(5);
  expect(problems).toEqual([expect.objectContaining({ code: "store_full" })]);
});

test("it ends while it rests, and after the next start the rest is done", async () => {
  await using opened = await openTestStore();
  await accept(opened, 0, 5);
  const resting = watched(opened);
  const indexer = new Indexer({ ...resting.parts, restMs: 3_600_000 });
  indexer.start();
  await indexer[Symbol.asyncDispose]();
  expect(resting.steps).toEqual([]);

  const { parts, total } = watched(opened);
  await using next = new Indexer(parts);
  next.start();
  await expect.poll(total, PATIENT).toBe(5);
});
