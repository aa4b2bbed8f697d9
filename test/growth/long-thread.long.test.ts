import { expect, test } from "vitest";

import { COMPACTED_ONCE, continueThread } from "../support/long-conversation.ts";

test("a thread of 10,000 turns goes on in a small window, and is compacted once", async () => {
  expect(await continueThread(10_000)).toEqual(COMPACTED_ONCE);
});
