import * as fc from "fast-check";
import { expect, test } from "vitest";

import { MINUTE_MS } from "../../model/durations.ts";
import { startOfMinute } from "../../model/schedule.ts";
import { Timer, type TimerEvent } from "./timer.ts";

const START_MS = Date.UTC(2026, 10, 15, 9);

/** A ledger that takes each minute once, and a clock that the test moves; timers come and go beside it. */
function ledger() {
  const minutes = new Map<number, TimerEvent>();
  const world = { nowMs: START_MS, isWanted: true, isFull: false };
  const problems: unknown[] = [];
  const open = (): Timer =>
    new Timer({
      clock: () => world.nowMs,
      isWanted: () => world.isWanted,
      lastBefore: async (minuteMs) => {
        const before = [...minutes.keys()].filter((atMs) => atMs < minuteMs);
        return before.length === 0 ? undefined : Math.max(...before);
      },
      accept: async (event) => {
        if (world.isFull) throw new Error("The disk is full");
        if (!minutes.has(event.sourceId.atMs)) minutes.set(event.sourceId.atMs, event);
      },
      onProblem: (error) => problems.push(error),
    });
  const missed = (atMs: number) => minutes.get(atMs)?.metadata.missed;
  return { minutes, world, problems, open, missed };
}

test("every minute has one event, from its beginning on", async () => {
  const { minutes, world, open } = ledger();
  await using timer = open();
  for (let second = 0; second < 150; second++) {
    world.nowMs = START_MS + second * 1_000;
    await timer.look();
  }
  expect([...minutes.keys()]).toEqual([START_MS, START_MS + MINUTE_MS, START_MS + 2 * MINUTE_MS]);
  expect(minutes.get(START_MS + MINUTE_MS)).toEqual({
    adapter: "timer",
    sourceId: { kind: "minute", atMs: START_MS + MINUTE_MS },
    channel: "timer",
    content: null,
    contentType: "timer",
    metadata: {},
    timestampMs: START_MS + MINUTE_MS,
  });
});

test("the minute of a start has its event, however late in it", async () => {
  const { minutes, world, open } = ledger();
  await using timer = open();
  world.nowMs = START_MS + 59_999;
  await timer.look();
  expect([...minutes.keys()]).toEqual([START_MS]);
});

test("after a time in which nothing ran, the first event says which minutes were missed, and the next does not", async () => {
  const { world, open, missed } = ledger();
  await using before = open();
  await before.look();

  await using after = open();
  world.nowMs = START_MS + 10 * MINUTE_MS + 5_000;
  await after.look();
  expect(missed(START_MS + 10 * MINUTE_MS)).toEqual({
    fromMs: START_MS + MINUTE_MS,
    toMs: START_MS + 9 * MINUTE_MS,
  });
  world.nowMs += MINUTE_MS;
  await after.look();
  expect(missed(START_MS + 11 * MINUTE_MS)).toBeUndefined();
});

test("a restart within the same or the next minute misses nothing", async () => {
  const { world, open, minutes, missed } = ledger();
  for (const second of [1, 30, 59, 61]) {
    await using timer = open();
    world.nowMs = START_MS + second * 1_000;
    await timer.look();
  }
  expect(minutes.size).toBe(2);
  expect(missed(START_MS + MINUTE_MS)).toBeUndefined();
});

test("a clock that is put forward has skipped minutes as if nothing had run", async () => {
  const { world, open, missed } = ledger();
  await using timer = open();
  await timer.look();
  world.nowMs += 60 * MINUTE_MS;
  await timer.look();
  expect(missed(START_MS + 60 * MINUTE_MS)).toEqual({
    fromMs: START_MS + MINUTE_MS,
    toMs: START_MS + 59 * MINUTE_MS,
  });
});

test("a clock that is put back makes no minute twice, and what it repeats was not missed", async () => {
  const { world, open, minutes, missed } = ledger();
  await using timer = open();
  const visit = async (minute: number): Promise<void> => {
    world.nowMs = START_MS + minute * MINUTE_MS;
    await timer.look();
  };
  for (let minute = 0; minute <= 30; minute++) await visit(minute);
  const first = new Map(minutes);
  for (let minute = 10; minute <= 20; minute++) await visit(minute);
  expect(minutes).toEqual(first);
  await visit(33);
  expect(missed(START_MS + 33 * MINUTE_MS)).toEqual({
    fromMs: START_MS + 31 * MINUTE_MS,
    toMs: START_MS + 32 * MINUTE_MS,
  });
});

test("whatever the clock does, every event's missed minutes have none, and no minute is told of twice", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: -300, max: 300 }), { maxLength: 40 }), async (jumps) => {
      const { world, open, minutes } = ledger();
      let timer = open();
      for (const seconds of jumps) {
        world.nowMs += seconds * 1_000;
        if (seconds % 7 === 0) timer = open(); // a restart
        const before = new Set(minutes.keys());
        await timer.look();
        const minuteMs = startOfMinute(world.nowMs);
        expect(minutes.has(minuteMs)).toBe(true);
        const gap = minutes.get(minuteMs)!.metadata.missed;
        if (gap === undefined || before.has(minuteMs)) continue;
        expect(before.has(gap.fromMs - MINUTE_MS)).toBe(true);
        for (let atMs = gap.fromMs; atMs <= gap.toMs; atMs += MINUTE_MS) expect(before.has(atMs)).toBe(false);
      }
    }),
  );
});

test("while nobody listens there are no events, and whoever comes then has missed nothing", async () => {
  const { world, open, minutes, missed } = ledger();
  await using timer = open();
  await timer.look();
  world.isWanted = false;
  for (let minute = 1; minute <= 5; minute++) {
    world.nowMs = START_MS + minute * MINUTE_MS;
    await timer.look();
  }
  expect(minutes.size).toBe(1);
  world.isWanted = true;
  world.nowMs += MINUTE_MS;
  await timer.look();
  expect(minutes.size).toBe(2);
  expect(missed(START_MS + 6 * MINUTE_MS)).toBeUndefined();
});

test("hooks that are loaded a little later still learn what was missed before the start", async () => {
  const { world, open, missed } = ledger();
  await using before = open();
  await before.look();
  await using after = open();
  world.nowMs = START_MS + 5 * MINUTE_MS;
  world.isWanted = false;
  await after.look();
  world.isWanted = true;
  await after.look();
  expect(missed(START_MS + 5 * MINUTE_MS)).toMatchObject({ fromMs: START_MS + MINUTE_MS });
});

test("an event that is not taken in is tried again in its minute, and the trouble is told once", async () => {
  const { world, open, minutes, problems } = ledger();
  await using timer = open();
  world.isFull = true;
  await timer.look();
  await timer.look();
  expect(problems).toHaveLength(1);
  world.isFull = false;
  await timer.look();
  expect([...minutes.keys()]).toEqual([START_MS]);
});

test("a timer that was started makes the event of every minute by itself, also after a failure, until it is closed", async () => {
  const { minutes, world, problems, open } = ledger();
  world.nowMs = START_MS + MINUTE_MS - 1; // it never waits longer than until the next minute, which is always near
  const timer = open();
  timer.start();
  await expect.poll(() => minutes.size).toBe(1);

  world.isFull = true;
  world.nowMs += MINUTE_MS;
  await expect.poll(() => problems).toHaveLength(1);
  world.isFull = false;
  await expect.poll(() => minutes.size).toBe(2);

  world.nowMs += MINUTE_MS;
  await expect.poll(() => minutes.size).toBe(3);
  expect([...minutes.keys()]).toEqual([START_MS, START_MS + MINUTE_MS, START_MS + 2 * MINUTE_MS]);
  expect([...minutes.values()].map(({ metadata }) => metadata)).toEqual([{}, {}, {}]);

  await timer[Symbol.asyncDispose]();
  world.nowMs += MINUTE_MS;
  await timer.look();
  expect(minutes.size).toBe(3);
});
