import { expect, test } from "vitest";

import { Checkpointer, QUIET_FRAMES } from "./checkpointer.ts";

test("while nobody waits for the writer, it copies a log of some length itself", () => {
  const checkpointer = new Checkpointer("unused", () => {});
  checkpointer.observe(QUIET_FRAMES - 1, true);
  checkpointer.observe(QUIET_FRAMES, false);
  expect(checkpointer.wantsFinish).toBe(false);
  checkpointer.observe(QUIET_FRAMES, true);
  expect(checkpointer.wantsFinish).toBe(true);
  expect(checkpointer.takeFinish()).toBe(true);
  checkpointer.observe(QUIET_FRAMES, true); // the reply still shows the old length
  expect(checkpointer.wantsFinish).toBe(false);
});
