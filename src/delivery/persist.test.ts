import { expect, test } from "vitest";

import { CortexError, type ErrorCode } from "../model/errors.ts";
import { persist } from "./persist.ts";

function failing(code: ErrorCode, times: number): { write: () => Promise<void>; calls: () => number } {
  let calls = 0;
  return {
    calls: () => calls,
    write: async () => {
      if (calls++ < times) throw new CortexError(code, "no", { hint: "wait" });
    },
  };
}

const never = new AbortController().signal;

test.each<ErrorCode>(["store_full", "store_busy"])(
  "what cannot be written because of %s is written later",
  async (code) => {
    const store = failing(code, 3);
    await persist(store.write, never, 0);
    expect(store.calls()).toBe(4);
  },
);

test.each<ErrorCode>(["lease_lost", "store_closed", "store_writer_lost"])(
  "%s is not waited out",
  async (code) => {
    const store = failing(code, 1);
    await expect(persist(store.write, never, 0)).rejects.toMatchObject({ code });
  },
);

test("when it is cut off it tries once more and gives up", async () => {
  const store = failing("store_full", Number.POSITIVE_INFINITY);
  const cut = new AbortController();
  const writing = persist(store.write, cut.signal, 3_600_000);
  cut.abort();
  await expect(writing).rejects.toMatchObject({ code: "store_full" });
  expect(store.calls()).toBeLessThanOrEqual(2);
});
