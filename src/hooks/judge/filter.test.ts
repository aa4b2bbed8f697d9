import { expect, test } from "vitest";

import { event, type TestEvent } from "../../../test/support/sample.ts";
import { MINUTE_MS } from "../../model/durations.ts";
import type { CortexError } from "../../model/errors.ts";
import {
  type Circumstances,
  compileFilter,
  matchPatterns,
  MAX_MATCHED_CONTENT,
  MAX_MATCH_LENGTH,
  missedMinute,
  passes,
} from "./filter.ts";

async function does(
  filter: unknown,
  fields: Partial<TestEvent>,
  given: Partial<Circumstances> = {},
): Promise<boolean | CortexError> {
  const stored = { ...event("a"), ...fields, receivedAtMs: 0, differing: 0, depth: 0, returned: 0 };
  const compiled = compileFilter(filter);
  if (!passes(compiled, stored, { timezone: "UTC", createdAtMs: 0, ...given })) return false;
  return (await matchPatterns([compiled], stored))[0]!;
}

test("without a filter everything that comes in passes, and nothing else", async () => {
  expect(await does(undefined, {})).toBe(true);
  expect(await does({}, { channel: "timer", content: null })).toBe(true);
  expect(await does(undefined, { direction: "sent" })).toBe(false);
  expect(await does({ directions: ["sent", "deleted"] }, { direction: "sent" })).toBe(true);
});

test("all that is given must hold", async () => {
  const filter = { channels: ["email"], senders: ["*@work.example"], match: "(?i)invoice" };
  const mail = { channel: "email", sender: "ada@work.example", content: "The Invoice" };
  expect(await does(filter, mail)).toBe(true);
  for (const other of [{ channel: "sms" }, { sender: "ada@home.example" }, { content: "hello" }])
    expect(await does(filter, { ...mail, ...other })).toBe(false);
});

test("types are those of the content or of the metadata", async () => {
  expect(await does({ types: ["image/*"] }, { contentType: "image/png" })).toBe(true);
  expect(await does({ types: ["reaction"] }, { metadata: { type: "reaction" } })).toBe(true);
  expect(await does({ types: ["reaction"] }, {})).toBe(false);
  expect(await does({ metadata: { a: { b: 1 } } }, { metadata: { a: { b: 1 }, c: 2 } })).toBe(true);
  expect(await does({ metadata: { a: { b: 1 } } }, { metadata: { a: { b: 2 } } })).toBe(false);
});

test("a pattern is found in what is said, up to a length, in a time that grows with it", async () => {
  expect(await does({ match: "x" }, { content: null })).toBe(false);
  expect(await does({ match: "end$" }, { content: `${"a".repeat(MAX_MATCHED_CONTENT)}end` })).toBe(false);
  expect(await does({ match: "(a+)+$" }, { content: `${"a".repeat(MAX_MATCHED_CONTENT - 1)}!` })).toBe(false);
});

test("a pattern that cannot be matched is an error of its own filter, and of no other", async () => {
  const filters = [{ match: "a" }, { match: "(?=a)" }, {}, { match: "b" }].map(compileFilter);
  expect(await matchPatterns(filters, { content: "a" })).toEqual([
    true,
    expect.objectContaining({ code: "pattern_refused" }),
    true,
    false,
  ]);
});

test("a schedule lets the minutes of the timer through that it names", async () => {
  const nine = { channel: "timer", content: null, atMs: Date.UTC(2026, 6, 1, 9) };
  expect(await does({ cron: "0 9 * * *" }, nine)).toBe(true);
  expect(await does({ cron: "0 9 * * *" }, nine, { timezone: "Europe/Berlin" })).toBe(false);
  expect(await does({ cron: "0 11 * * *", timezone: "Europe/Berlin" }, nine)).toBe(true);
  expect(await does({ cron: "every 30m" }, { ...nine, atMs: nine.atMs + 30 * MINUTE_MS })).toBe(true);
  expect(await does({ cron: "at 2026-07-01T09:00" }, nine)).toBe(true);
  expect(await does({ cron: "* * * * *" }, { ...nine, channel: "email" })).toBe(false);
});

test("what was missed is caught up on once, by those that want it", async () => {
  const ten = Date.UTC(2026, 6, 1, 10, 1);
  const missed = { fromMs: ten - 180 * MINUTE_MS, toMs: ten - MINUTE_MS };
  const late = { channel: "timer", content: null, atMs: ten, metadata: { missed } };
  const stored = { ...event("a"), ...late, receivedAtMs: 0, differing: 0, depth: 0, returned: 0 };
  expect(await does({ cron: "0 * * * *" }, late)).toBe(false);
  expect(await does({ cron: "0 * * * *", catchUp: "once" }, late)).toBe(true);
  expect(await does({ cron: "0 12 * * *", catchUp: "once" }, late)).toBe(false);
  const once = compileFilter({ cron: "0 * * * *", catchUp: "once" });
  const given = { timezone: "UTC", createdAtMs: 0 };
  expect(missedMinute(once, stored, given)).toBe(Date.UTC(2026, 6, 1, 10));
  expect(missedMinute(once, { ...stored, metadata: {} }, given)).toBeUndefined();
});

test("a hook has missed nothing of the time before it was there", async () => {
  const ten = Date.UTC(2026, 6, 1, 10);
  const missed = { fromMs: ten - 180 * MINUTE_MS, toMs: ten + 30 * MINUTE_MS };
  const late = { channel: "timer", content: null, atMs: ten + 31 * MINUTE_MS, metadata: { missed } };
  const filter = { cron: "0 * * * *", catchUp: "once" };
  expect(await does(filter, late, { createdAtMs: ten })).toBe(true);
  expect(await does(filter, late, { createdAtMs: ten + 1 })).toBe(false);
});

test.each([
  [[], "expected an object"],
  [{ chanels: ["a"] }, '"chanels"'],
  [{ channels: [7] }, "strings as `channels`"],
  [{ directions: ["in"] }, '"in"'],
  [{ match: "x".repeat(MAX_MATCH_LENGTH + 1) }, `at most ${MAX_MATCH_LENGTH}`],
  [{ cron: "61 * * * *" }, "Invalid schedule"],
  [{ cron: "* * * * *", timezone: "Mars/Base" }, "Mars/Base"],
  [{ catchUp: "twice" }, '"twice"'],
  [{ metadata: "x" }, "as `metadata`"],
])("the filter %j is refused", (filter, message) => {
  expect(() => compileFilter(filter)).toThrow(message);
});
