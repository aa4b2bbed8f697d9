import * as fc from "fast-check";
import { expect, test } from "vitest";

import { splitEventId } from "./event.ts";
import { eventId, type EventSource, MAX_SOURCE_ID_LENGTH } from "./event-id.ts";
import type { Json } from "./json.ts";

const content: Extract<EventSource, { kind: "content" }> = {
  kind: "content",
  timestampMs: 1_763_197_980_000,
  payload: { a: 1, b: [2] },
};
const file: Extract<EventSource, { kind: "file" }> = {
  kind: "file",
  path: "/inbox/a.txt",
  modifiedMs: 1_763_197_980_000,
  change: "created",
  sha256: "ab",
};

// The hashes were computed with sha256sum: an id that changed would let old events in a second time.
test.each<[string, EventSource, string]>([
  ["telegram", { kind: "id", sourceId: "default:123:456" }, "telegram:default:123:456"],
  ["email", { kind: "id", sourceId: "<a b@example.org>" }, "email:<a b@example.org>"],
  ["webhook", content, "webhook:sha256:11801b4de54bd7f49d97eb740b667e22"],
  ["file", file, "file:sha256:39a2d4cb799c9ea6eab617f5e7a0420e"],
  ["timer", { kind: "minute", atMs: Date.UTC(2026, 10, 15, 9, 13) }, "timer:2026-11-15T09:13Z"],
  ["timer", { kind: "minute", atMs: 0 }, "timer:1970-01-01T00:00Z"],
])("an event of %s from %j has the id %s", (adapter, source, id) => {
  expect(eventId(adapter, source)).toBe(id);
});

test("all moments of a minute are the same tick, and the next minute is another", () => {
  const start = Date.UTC(2026, 10, 15, 9, 13);
  const tick = (atMs: number): string => eventId("timer", { kind: "minute", atMs });
  fc.assert(
    fc.property(fc.nat({ max: 59_999 }), (ms) => {
      expect(tick(start + ms)).toBe("timer:2026-11-15T09:13Z");
    }),
  );
  expect(tick(start + 59_999.9)).toBe("timer:2026-11-15T09:13Z");
  expect(tick(start + 60_000)).toBe("timer:2026-11-15T09:14Z");
  expect(tick(start - 1)).toBe("timer:2026-11-15T09:12Z");
});

test.each<[string, EventSource, EventSource]>([
  ["time", content, { ...content, timestampMs: content.timestampMs + 1 }],
  ["value in the payload", content, { ...content, payload: { a: 2, b: [2] } }],
  ["key in the payload", content, { ...content, payload: { c: 1, b: [2] } }],
  ["type in the payload", content, { ...content, payload: { a: "1", b: [2] } }],
  ["path", file, { ...file, path: "/inbox/b.txt" }],
  ["modification time", file, { ...file, modifiedMs: file.modifiedMs + 1 }],
  ["kind of change", file, { ...file, change: "deleted" }],
  ["content of the file", file, { ...file, sha256: "cd" }],
  ["source id", { kind: "id", sourceId: "1" }, { kind: "id", sourceId: "2" }],
])("another %s makes another event", (_, one, other) => {
  expect(eventId("x", one)).not.toBe(eventId("x", other));
});

test("another adapter makes another event", () => {
  expect(eventId("webhook", content)).not.toBe(eventId("github", content));
});

test("parts that run into each other are told apart", () => {
  expect(eventId("file", { ...file, path: "a", change: "bc" })).not.toBe(
    eventId("file", { ...file, path: "ab", change: "c" }),
  );
});

test("the same content has the same id, in whatever order its keys come", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (payload, timestampMs) => {
      const reversed = Object.fromEntries(Object.entries(payload).toReversed());
      const idOf = (payload: unknown): string =>
        eventId("webhook", { kind: "content", timestampMs, payload: payload as Json });
      expect(idOf(reversed)).toBe(idOf(payload));
      expect(idOf(payload)).toMatch(/^webhook:sha256:[0-9a-f]{32}$/);
    }),
  );
});

test.each(["", "Telegram", "tele gram", "telegram:bot", "-telegram", "télégram", "a\n", "x".repeat(65)])(
  "Invalid adapter name %j",
  (adapter) => {
    expect(() => eventId(adapter, content)).toThrow(
      expect.objectContaining({
        code: "event_invalid",
        message: expect.stringContaining(JSON.stringify(adapter)),
      }),
    );
  },
);

test.each(["a", "9", "telegram", "my_bot.2-x", "x".repeat(64)])("%s is the name of an adapter", (adapter) => {
  expect(eventId(adapter, { kind: "id", sourceId: "1" })).toBe(`${adapter}:1`);
});

test.each([
  ["nothing", ""],
  ["a line break", "a\nb"],
  ["a NUL", "a\u0000"],
  ["half a character, which no database keeps", "a\ud83d"],
  ["too much", "x".repeat(MAX_SOURCE_ID_LENGTH + 1)],
])("%s cannot identify an event", (_, sourceId) => {
  expect(() => eventId("x", { kind: "id", sourceId })).toThrow(
    expect.objectContaining({
      code: "event_invalid",
      message: expect.stringContaining(JSON.stringify(sourceId.slice(0, 80))),
    }),
  );
});

test("the longest source id is kept whole", () => {
  const sourceId = "x".repeat(MAX_SOURCE_ID_LENGTH);
  expect(eventId("x", { kind: "id", sourceId })).toBe(`x:${sourceId}`);
});

test.each([
  ["telegram:default:123:456", "telegram", "default:123:456"],
  ["webhook:pay:evt_1", "webhook:pay", "evt_1"],
  ["webhook:pay:sha256:00:x", "webhook:pay", "sha256:00:x"],
  ["webhook:evt_1", "webhook", "evt_1"],
  ["timer:2026-11-15T09:13Z", "timer", "2026-11-15T09:13Z"],
])("the id %s is of the adapter %s, and %s there", (id, adapter, sourceId) => {
  expect(splitEventId(id)).toEqual({ adapter, sourceId });
});

test("a webhook is an adapter with its name, and nothing else has a colon", () => {
  expect(eventId("webhook:pay", { kind: "id", sourceId: "1" })).toBe("webhook:pay:1");
  for (const adapter of ["webhook:", "webhook:a:b", "other:pay", "webhook:Pay"]) {
    expect(() => eventId(adapter, { kind: "id", sourceId: "1" })).toThrow(/Invalid adapter name/);
  }
});
