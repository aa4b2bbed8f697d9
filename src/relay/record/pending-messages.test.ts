import * as fc from "fast-check";
import { expect, test } from "vitest";

import { testRecord } from "../../../test/support/relays.ts";
import { addPending, MAX_PENDING_MESSAGES, pendingOf, withoutPending } from "./pending-messages.ts";

const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => `message ${from + at}`);

test("messages wait in the order in which they came", () => {
  const record = numbered(3).reduce(addPending, testRecord());
  expect(pendingOf(record)).toEqual({ messages: numbered(3), dropped: 0 });
});

test("of too many messages the oldest are dropped and counted", () => {
  const record = numbered(MAX_PENDING_MESSAGES + 2).reduce(addPending, testRecord());
  expect(pendingOf(record)).toEqual({ messages: numbered(MAX_PENDING_MESSAGES, 2), dropped: 2 });
});

test("messages that a step was given do not wait any longer, and other metadata stays", () => {
  const record = addPending(testRecord({ metadata: { trigger: "user" } }), "hello");
  expect(withoutPending(record, pendingOf(record)).metadata).toEqual({ trigger: "user" });
  const bare = addPending(testRecord(), "hello");
  expect(withoutPending(bare, pendingOf(bare)).metadata).toBeNull();
});

test("what comes while a step is given its messages waits for the next one, however much it is", () => {
  fc.assert(
    fc.property(fc.nat(25), fc.nat(25), (before, meanwhile) => {
      const then = numbered(before).reduce(addPending, testRecord());
      const now = numbered(meanwhile, before).reduce(addPending, then);
      expect(pendingOf(withoutPending(now, pendingOf(then)))).toEqual(
        pendingOf(numbered(meanwhile, before).reduce(addPending, testRecord())),
      );
    }),
  );
});
