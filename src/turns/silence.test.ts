import { expect, test, vi } from "vitest";

import { watchSilence, type Watched, type WatchOptions } from "./silence.ts";

const never = new Promise<string>(() => {});

/** Works under a clock that the test moves. */
function watch(work: (watched: Watched) => Promise<string>, options: Partial<WatchOptions> = {}) {
  vi.useFakeTimers();
  const signal = new AbortController().signal;
  const watching = watchSilence(work, { signal, silenceMs: 1_000, graceMs: 100, ...options });
  const settled = watching.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  return { settled, [Symbol.dispose]: () => void vi.useRealTimers() };
}

const SILENT = {
  error: { code: "model_failed", transient: true, message: expect.stringContaining("for 1 s") },
};

test("what ends is given back", async () => {
  using watched = watch(async () => "done");
  expect(await watched.settled).toEqual({ value: "done" });
  expect(vi.getTimerCount()).toBe(0);
});

test("what makes no progress is told to end, and has failed for now", async () => {
  using watched = watch(
    ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("partial"))),
  );
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await watched.settled).toMatchObject(SILENT);
});

test("what fails because it was told to end has fallen silent all the same", async () => {
  using watched = watch(
    ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("x")))),
  );
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await watched.settled).toMatchObject(SILENT);
});

test("what does not even end when it is told to is left behind", async () => {
  using watched = watch(() => never);
  await vi.advanceTimersByTimeAsync(1_100);
  expect(await watched.settled).toMatchObject(SILENT);
});

test("what makes progress may take as long as it likes", async () => {
  using watched = watch(async ({ touch, signal }) => {
    for (let i = 0; i < 10; i++) {
      await new Promise((resolve) => setTimeout(resolve, 900));
      touch();
    }
    return String(signal.aborted);
  });
  await vi.advanceTimersByTimeAsync(9_000);
  expect(await watched.settled).toEqual({ value: "false" });
});

test("a tool may be silent; what comes after it may not", async () => {
  using watched = watch(async ({ pause }) => {
    await pause(() => new Promise((resolve) => setTimeout(resolve, 60_000)));
    return never;
  });
  let ended = false;
  void watched.settled.then(() => (ended = true));
  await vi.advanceTimersByTimeAsync(60_900);
  expect(ended).toBe(false);
  await vi.advanceTimersByTimeAsync(300);
  expect(await watched.settled).toMatchObject(SILENT);
});

test("what does not end when its run is aborted is left behind, and has not failed", async () => {
  const controller = new AbortController();
  using watched = watch(() => never, { signal: controller.signal });
  controller.abort();
  await vi.advanceTimersByTimeAsync(100);
  expect(await watched.settled).toEqual({ value: undefined });
});
