import { getEventListeners, once } from "node:events";
import { expect, test } from "vitest";

import { HOUR_MS } from "../model/durations.ts";
import { withTimeout } from "./with-timeout.ts";

test("the signal aborts when the time is over", async () => {
  const never = new AbortController().signal;
  const seen = await withTimeout(
    async (signal) => {
      await once(signal, "abort");
      return signal.aborted;
    },
    never,
    1,
  );
  expect(seen).toBe(true);
});

test("the signal aborts together with the outer one, also if that came first", async () => {
  const outer = new AbortController();
  const waiting = withTimeout((signal) => once(signal, "abort"), outer.signal, HOUR_MS);
  outer.abort();
  await waiting;
  expect(await withTimeout(async (signal) => signal.aborted, outer.signal, HOUR_MS)).toBe(true);
});

test("nothing is left on the outer signal, however it ended", async () => {
  const outer = new AbortController();
  await withTimeout(async () => "done", outer.signal, HOUR_MS);
  await expect(withTimeout(() => Promise.reject(new Error("no")), outer.signal, HOUR_MS)).rejects.toThrow(
    "no",
  );
  expect(getEventListeners(outer.signal, "abort")).toEqual([]);
});
