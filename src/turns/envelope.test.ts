import * as fc from "fast-check";
import { expect, test } from "vitest";

import { event } from "../../test/support/sample.ts";
import type { NewEvent, StoredEvent } from "../store/store.ts";
import { envelope, MAX_ENVELOPE_LENGTH } from "./envelope.ts";

function stored(fields: Partial<NewEvent>): StoredEvent {
  return { ...event("a", fields), receivedAtMs: 0, differing: 0, depth: 0, returned: 0 };
}

const at = (iso: string): Partial<NewEvent> => ({ atMs: Date.parse(iso), channel: "telegram", place: "42" });

test.each([
  ["2026-01-15T12:00:00Z", "UTC", "[Thu 2026-01-15 12:00Z telegram/42 from tyler]"],
  ["2026-01-15T00:00:00Z", "UTC", "[Thu 2026-01-15 00:00Z telegram/42 from tyler]"],
  ["2026-01-15T12:00:00Z", "Europe/Berlin", "[Thu 2026-01-15 13:00+01:00 telegram/42 from tyler]"],
  ["2026-03-29T00:59:00Z", "Europe/Berlin", "[Sun 2026-03-29 01:59+01:00 telegram/42 from tyler]"],
  ["2026-03-29T01:00:00Z", "Europe/Berlin", "[Sun 2026-03-29 03:00+02:00 telegram/42 from tyler]"],
  ["2026-10-25T00:30:00Z", "Europe/Berlin", "[Sun 2026-10-25 02:30+02:00 telegram/42 from tyler]"],
  ["2026-10-25T01:30:00Z", "Europe/Berlin", "[Sun 2026-10-25 02:30+01:00 telegram/42 from tyler]"],
  ["2026-01-15T12:00:00Z", "Asia/Kathmandu", "[Thu 2026-01-15 17:45+05:45 telegram/42 from tyler]"],
  ["2026-01-15T02:00:00Z", "America/New_York", "[Wed 2026-01-14 21:00-05:00 telegram/42 from tyler]"],
])("%s in %s is %s", (iso, timezone, line) => {
  expect(envelope(stored(at(iso)), timezone)).toBe(line);
});

test("what is not known is left out, and a topic stands after its place", () => {
  const { sender: _, place: __, ...plain } = stored({ channel: "timer", atMs: 0 });
  expect(envelope(plain, "UTC")).toBe("[Thu 1970-01-01 00:00Z timer]");
  expect(envelope({ ...plain, place: "p", topic: "t" }, "UTC")).toBe("[Thu 1970-01-01 00:00Z timer/p/t]");
});

test("it is one line of at most 120 characters, whatever a platform calls its people and places", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.constantFrom("a\nb", "\u2028", "\u0085", "🧠".repeat(99)),
  );
  const time = fc.integer({ min: -8.64e15, max: 8.64e15 });
  fc.assert(
    fc.property(text, text, text, time, (sender, place, topic, atMs) => {
      const line = envelope(stored({ sender, place, topic, atMs }), "Europe/Berlin");
      expect(line.length).toBeLessThanOrEqual(MAX_ENVELOPE_LENGTH);
      expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
      expect(line.startsWith("[") && line.endsWith("]")).toBe(true);
    }),
  );
});

test("a character is not cut in half", () => {
  for (let padding = 0; padding < 4; padding++) {
    const line = envelope(stored({ sender: "x".repeat(padding) + "🧠".repeat(99), atMs: 0 }), "UTC");
    expect(line.isWellFormed()).toBe(true);
  }
});
