import { expect, test } from "vitest";

import { type Answer, deliveriesOf, parseDelivery } from "./address.ts";

const source = { channel: "telegram", account: "second", place: "dm-1", topic: "t-9", messageId: "m-7" };
const here = { channel: "telegram", account: "second", place: "dm-1", topic: "t-9" };

function deliveries(fields: Partial<Answer>) {
  return deliveriesOf({ text: "Done.", source, mintId: () => "delivery-1", ...fields });
}

test("an answer goes to where its event came from", () => {
  expect(deliveries({})).toEqual([{ id: "delivery-1", target: here }]);
});

test.each(["http", "cli", "timer", "webhook", "files"])(
  "an event of %s that has no place gets none",
  (channel) => {
    expect(deliveries({ source: { channel } })).toEqual([]);
  },
);

test("an event without a place is answered where the hook says", () => {
  const delivery = { channel: "discord", place: 42, topic: "thread" };
  expect(deliveries({ source: { channel: "timer" }, delivery })).toEqual([
    { id: "delivery-1", target: { channel: "discord", place: "42", topic: "thread" } },
  ]);
});

test("what a hook says wins field by field, and nothing of one place is used in another", () => {
  const targetOf = (delivery: Answer["delivery"]) => deliveries({ delivery })[0]!.target;
  expect(targetOf(null)).toEqual(here);
  expect(targetOf({ topic: "t-1" })).toEqual({ ...here, topic: "t-1" });
  expect(targetOf({ place: "dm-2" })).toEqual({ channel: "telegram", account: "second", place: "dm-2" });
  expect(targetOf({ channel: "slack", place: "dm-1" })).toEqual({ channel: "slack", place: "dm-1" });
});

test("a reply names the message that it answers, and its tag is not sent", () => {
  const [delivery] = deliveries({ text: "[[reply_to_current]] Done." });
  expect(delivery).toMatchObject({ replyTo: "m-7", content: "Done." });
  expect(deliveries({ text: "[[reply_to:m-3]] Done." })[0]).toMatchObject({
    replyTo: "m-3",
    content: "Done.",
  });
});

test("without a tag the hook decides what is replied to", () => {
  expect(deliveries({ delivery: { replyTo: "m-5" } })[0]).toMatchObject({ replyTo: "m-5", target: here });
});

test("the current message is not replied to from another place", () => {
  const [delivery] = deliveries({ text: "[[reply_to_current]] Done.", delivery: { place: "dm-2" } });
  expect(delivery).toEqual({
    id: "delivery-1",
    target: { channel: "telegram", account: "second", place: "dm-2" },
    content: "Done.",
  });
});

test.each(["NO_REPLY", "", "[[reply_to_current]]"])("the answer %j is sent nowhere", (text) => {
  expect(deliveries({ text })).toEqual([]);
});

test.each(["telegram", 7, ["telegram"], { channel: "telegram" }, { place: "" }, { place: { id: 1 } }])(
  "the delivery %j is refused",
  (delivery) => {
    expect(() => parseDelivery(delivery)).toThrow(
      expect.objectContaining({ code: "target_invalid", hint: expect.any(String) }),
    );
  },
);
