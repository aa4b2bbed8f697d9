import { expect, test } from "vitest";

import { described, type SendResult } from "./send.ts";

const SENT: SendResult = { eventId: "cli:1", dispatchId: "d1", session: "work" };

test.each<[string, Partial<SendResult>]>([
  ["Sent to work.", {}],
  ["Done.", { text: "Done." }],
  ["The agent gave no reply.", { text: "" }],
  ["Queue mode: collect.\nDone.", { text: "Done.", reply: "Queue mode: collect." }],
  ['Dropped by policy "new".', { dropped: "new" }],
  [
    "Aborted: interrupted by a newer message (http:2).",
    { text: "", aborted: { reason: "interrupted by a newer message", by: "http:2" } },
  ],
  [
    "I begin.\nAborted: the owner asked for it.",
    { text: "I begin.", aborted: { reason: "the owner asked for it", by: null } },
  ],
])("says %j of a message", (text, sent) => {
  expect(described({ ...SENT, ...sent })).toBe(text);
});
