import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, type Mock, test, vi } from "vitest";

import { type Round, WakeLoop, type WakeLoopOptions } from "./wake-loop.ts";

const POLL_MS = 1_000;
const RETRY_MS = 100;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
});

afterEach(() => {
  vi.useRealTimers();
});

test("starting runs a round, and so does each poll", async () => {
  const { loop, rounds } = played();
  loop.start();
  expect(rounds).toHaveLength(1);
  await rounds[0]!.end();
  await vi.advanceTimersByTimeAsync(POLL_MS - 1);
  expect(rounds).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(rounds).toHaveLength(2);
  expect(rounds.map(({ isPoll }) => isPoll)).toEqual([true, true]);
});

test("a wake-up starts a round at once, and is no poll", async () => {
  const { loop, rounds, wake } = played();
  loop.start();
  await rounds[0]!.end();
  wake();
  expect(rounds.map(({ isPoll }) => isPoll)).toEqual([true, false]);
});

test("wake-ups during a round lead to one more", async () => {
  const { loop, rounds, wake } = played();
  loop.start();
  wake();
  wake();
  expect(rounds).toHaveLength(1);
  await rounds[0]!.end();
  expect(rounds).toHaveLength(2);
  await rounds[1]!.end();
  expect(rounds).toHaveLength(2);
});

test.each(Array.from({ length: 12 }, (_, at) => at))(
  "a wake-up is not lost that comes %i microtasks after the end of a round",
  async (microtasks) => {
    const { loop, rounds, wake } = played();
    loop.start();
    const ended = rounds[0]!.end();
    for (let left = microtasks; left > 0; left--) await Promise.resolve();
    wake();
    await ended;
    expect(rounds).toHaveLength(2);
  },
);

test("a round is a poll once a poll interval has passed, however often it was woken", async () => {
  const { loop, rounds, wake } = played();
  loop.start();
  await rounds[0]!.end();
  for (let at = 1; at <= 4; at++) {
    await vi.advanceTimersByTimeAsync(POLL_MS / 4);
    if (rounds.length === at) wake();
    await rounds[at]!.end();
  }
  expect(rounds.map(({ isPoll }) => isPoll)).toEqual([true, false, false, false, true]);
});

test("the next round starts when the last one said", async () => {
  const { loop, rounds } = played();
  loop.start();
  await rounds[0]!.end(300);
  await vi.advanceTimersByTimeAsync(299);
  expect(rounds).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(rounds).toHaveLength(2);
});

test("what a round said before does not count any more", async () => {
  const { loop, rounds, wake } = played();
  loop.start();
  await rounds[0]!.end(300);
  wake();
  await rounds[1]!.end();
  await vi.advanceTimersByTimeAsync(POLL_MS - 1);
  expect(rounds).toHaveLength(2);
});

test.each([Infinity, 2 ** 40, POLL_MS + 1])("what is due in %d ms is left to the poll", async (dueMs) => {
  const { loop, rounds } = played();
  loop.start();
  await rounds[0]!.end(dueMs);
  await vi.advanceTimersByTimeAsync(POLL_MS - 1);
  expect(rounds).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(rounds).toHaveLength(2);
});

test("wake-ups are gathered, also those during a round that says more is due now", async () => {
  const { loop, rounds, wake } = played({ gatherMs: 200 });
  loop.start();
  wake();
  expect(rounds).toHaveLength(0);
  await vi.advanceTimersByTimeAsync(150);
  wake();
  await vi.advanceTimersByTimeAsync(50);
  expect(rounds).toHaveLength(1);
  wake();
  await rounds[0]!.end(0);
  await vi.advanceTimersByTimeAsync(199);
  expect(rounds).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(rounds).toHaveLength(2);
  await rounds[1]!.end(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(rounds).toHaveLength(3);
});

describe("a round that fails", () => {
  test("is retried, and a streak is reported once", async () => {
    const { loop, rounds, problems } = played();
    loop.start();
    await rounds[0]!.fail("first");
    await vi.advanceTimersByTimeAsync(RETRY_MS - 1);
    expect(rounds).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    await rounds[1]!.fail("second");
    await vi.advanceTimersByTimeAsync(RETRY_MS);
    await rounds[2]!.end();
    expect(problems).toEqual(["first"]);
    await vi.advanceTimersByTimeAsync(POLL_MS);
    await rounds[3]!.fail("third");
    expect(problems).toEqual(["first", "third"]);
  });

  test("waits for its retry though it was woken while it ran, and not once it is woken later", async () => {
    const { loop, rounds, wake } = played();
    loop.start();
    wake();
    await rounds[0]!.fail();
    expect(rounds).toHaveLength(1);
    wake();
    expect(rounds).toHaveLength(2);
  });

  test("is a poll again where it was one", async () => {
    const { loop, rounds, wake } = played();
    loop.start();
    await rounds[0]!.fail();
    wake();
    await rounds[1]!.end();
    wake();
    expect(rounds.map(({ isPoll }) => isPoll)).toEqual([true, true, false]);
  });

  test("is retried by the poll where nothing else is said", async () => {
    const { loop, rounds } = played({ retryMs: Infinity });
    loop.start();
    await rounds[0]!.fail();
    await vi.advanceTimersByTimeAsync(POLL_MS);
    expect(rounds).toHaveLength(2);
  });

  test("goes on though whoever is told of it throws", async () => {
    const { loop, rounds } = played({
      onProblem() {
        throw new Error("deaf");
      },
    });
    loop.start();
    await rounds[0]!.fail();
    await vi.advanceTimersByTimeAsync(RETRY_MS);
    expect(rounds).toHaveLength(2);
  });
});

describe("disposing", () => {
  test("aborts the round, waits for it, and starts no other", async () => {
    const { loop, rounds, wake, listeners, problems } = played();
    loop.start();
    wake();
    let isDisposed = false;
    const disposed = loop[Symbol.asyncDispose]().then(() => (isDisposed = true));
    expect(rounds[0]!.signal.aborted).toBe(true);
    expect(listeners.size).toBe(0);
    await vi.advanceTimersByTimeAsync(POLL_MS);
    expect(isDisposed).toBe(false);
    await rounds[0]!.fail();
    await disposed;
    loop.wake();
    await vi.advanceTimersByTimeAsync(POLL_MS);
    expect(rounds).toHaveLength(1);
    expect(problems).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("is possible twice, and before the start", async () => {
    const { loop, rounds } = played();
    await loop[Symbol.asyncDispose]();
    await loop[Symbol.asyncDispose]();
    expect(rounds).toEqual([]);
  });
});

test("a loop that was not started runs a round when it is woken, and settles after it", async () => {
  const { loop, rounds } = played();
  const settled = loop.settle().then(() => rounds.length);
  loop.wake();
  await rounds[0]!.end();
  await rounds[1]!.end();
  expect(await settled).toBe(2);
  await vi.advanceTimersByTimeAsync(POLL_MS);
  expect(rounds).toHaveLength(2);
});

test.each([true, false])("waiting keeps the process alive where that is wanted: %s", async (keepsAlive) => {
  vi.useRealTimers();
  const polls = vi.spyOn(globalThis, "setInterval");
  const dues = vi.spyOn(globalThis, "setTimeout");
  await using loop = new WakeLoop({ round: () => Promise.resolve(500_000), pollMs: 900_000, keepsAlive });
  loop.start();
  await new Promise(setImmediate);
  // Other timers of this process, which runs many tests, count for nothing.
  const own = [...madeFor(900_000, polls), ...madeFor(500_000, dues)];
  polls.mockRestore();
  dues.mockRestore();
  expect(own.map((timer) => timer.hasRef())).toEqual([keepsAlive, keepsAlive]);
});

function madeFor(ms: number, { mock }: Pick<Mock<typeof setTimeout>, "mock">): NodeJS.Timeout[] {
  return mock.calls.flatMap((args, call) =>
    args[1] === ms ? [mock.results[call]!.value as NodeJS.Timeout] : [],
  );
}

/** What can happen to a loop. Times are in units of 50 ms. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: "wake" } as const) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("pass" as const), units: fc.nat({ max: 30 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("end" as const), due: fc.option(fc.nat(30)) }) },
  { weight: 2, arbitrary: fc.constant({ kind: "fail" } as const) },
);

test("no wake-up is lost, no two rounds overlap, and none begins later than it may", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.constantFrom(0, 200), async (steps, gatherMs) => {
      const { loop, rounds, wake, mostAtOnce } = played({ gatherMs });
      const running = (): PlayedRound | undefined => rounds.find(({ endedAtMs }) => endedAtMs === undefined);
      /** Of each wake-up: which round answers it, and since when nothing else keeps that from beginning. */
      const wakes: { readonly round: number; readonly freeMs: () => number }[] = [];
      try {
        loop.start();
        for (const each of steps) {
          const current = running();
          if (each.kind === "pass") await vi.advanceTimersByTimeAsync(each.units * 50);
          else if (each.kind === "end") await current?.end(each.due === null ? undefined : each.due * 50);
          else if (each.kind === "fail") await current?.fail();
          else {
            const wokenMs = Date.now();
            wakes.push({ round: rounds.length, freeMs: () => current?.endedAtMs ?? wokenMs });
            wake();
          }
        }
        await running()?.end();
        await vi.advanceTimersByTimeAsync(Math.max(gatherMs, RETRY_MS));
        for (const { round, freeMs } of wakes) {
          expect(rounds.length).toBeGreaterThan(round);
          expect(rounds[round]!.beganAtMs).toBeLessThanOrEqual(freeMs() + Math.max(gatherMs, RETRY_MS));
        }
        const before = rounds.length;
        await running()?.end();
        await vi.advanceTimersByTimeAsync(POLL_MS + gatherMs);
        expect(rounds.length).toBeGreaterThan(before);
        expect(mostAtOnce()).toBe(1);
      } finally {
        const disposed = loop[Symbol.asyncDispose]();
        await running()?.end();
        await disposed;
      }
    }),
    { numRuns: 300 },
  );
});

interface PlayedRound extends Round {
  readonly beganAtMs: number;
  endedAtMs: number | undefined;
  readonly end: (dueMs?: number) => Promise<void>;
  readonly fail: (message?: string) => Promise<void>;
}

/** A loop whose rounds end when the test says so. */
function played(options: Partial<WakeLoopOptions> = {}) {
  const rounds: PlayedRound[] = [];
  const problems: string[] = [];
  const listeners = new Set<() => void>();
  let running = 0;
  let most = 0;
  const loop = new WakeLoop({
    async round(round) {
      const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
      const settle = async (how: () => void): Promise<void> => {
        playedRound.endedAtMs = Date.now();
        how();
        await vi.advanceTimersByTimeAsync(0);
      };
      const playedRound: PlayedRound = {
        ...round,
        beganAtMs: Date.now(),
        endedAtMs: undefined,
        end: (dueMs) => settle(() => resolve(dueMs)),
        fail: (message = "no") => settle(() => reject(new Error(message))),
      };
      rounds.push(playedRound);
      most = Math.max(most, ++running);
      try {
        return await promise;
      } finally {
        running--;
      }
    },
    listen(wake) {
      listeners.add(wake);
      return () => listeners.delete(wake);
    },
    pollMs: POLL_MS,
    retryMs: RETRY_MS,
    onProblem: (error) => problems.push((error as Error).message),
    ...options,
  });
  const wake = (): void => {
    for (const listener of listeners) listener();
  };
  return { loop, rounds, problems, listeners, wake, mostAtOnce: () => most };
}
