import { expect, test } from "vitest";

import { event, session, START_MS } from "../../test/support/sample.ts";
import type { DispatchId, ItemId } from "../model/ids.ts";
import { promptText } from "../model/message.ts";
import type { DispatchInput, QueueItem } from "../store/store.ts";
import { toQuery } from "./query.ts";

function item(
  dispatches: readonly Partial<DispatchInput>[],
  content: string | null = " two\n lines ",
): QueueItem {
  return {
    id: "item-1" as ItemId,
    session: session("work"),
    state: "claimed",
    mode: "followup",
    dueMs: START_MS,
    queuedAtMs: START_MS + 5,
    event: { ...event("a", { content }), receivedAtMs: START_MS, differing: 0, depth: 0, returned: 0 },
    dispatches: dispatches.map((fields, i) => ({ id: `d${i}` as DispatchId, hook: `hook-${i}`, ...fields })),
  };
}

const ENVELOPE = "[Thu 2026-01-01 00:00Z test/dm-1 from tyler]";

test("what was said stays word for word, and the envelope is beside it", () => {
  expect(toQuery(item([{}]), "UTC")).toEqual({
    id: "item-1",
    role: "user",
    content: " two\n lines ",
    body: { envelope: ENVELOPE },
    atMs: START_MS + 5,
  });
});

test("what hooks gave along stands between, in their order, and the words come last", () => {
  const query = toQuery(
    item([
      { context: { prompt: "Be brief.", extracted: { order: 7 } } },
      { context: { extracted: "urgent" } },
      { context: null },
      { context: ["not", "an", "object"] },
      { context: { prompt: null } },
    ]),
    "UTC",
  );
  expect(promptText(query)).toBe(`${ENVELOPE}\nBe brief.\n{"order":7}\nurgent\n two\n lines `);
});

test("attachments are named before the words", () => {
  const first = item([{ context: { prompt: "Look." } }]);
  const attachments = [{ name: "a.png", type: "image/png", size: 9, path: "/data/a" }];
  const query = toQuery({ ...first, event: { ...first.event, attachments } }, "UTC");
  expect(promptText(query)).toBe(
    `${ENVELOPE}\nLook.\nAttachment: a.png, image/png, 9 bytes, /data/a\n two\n lines `,
  );
});

test("a hook's own message stands for the content of the event", () => {
  expect(toQuery(item([{}, { message: "Summarise." }, { message: "Not this." }]), "UTC").content).toBe(
    "Summarise.",
  );
});

test("an event that says nothing is an empty message", () => {
  expect(toQuery(item([{}], null), "UTC").content).toBe("");
});

test("it is the same each time it is made", () => {
  expect(toQuery(item([{ context: { extracted: [1] } }]), "UTC")).toEqual(
    toQuery(item([{ context: { extracted: [1] } }]), "UTC"),
  );
});
