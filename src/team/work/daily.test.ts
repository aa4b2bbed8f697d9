import { expect, test } from "vitest";

import { dueDaily, nextDailyMs } from "./daily.ts";

const TIMES = { briefing: "09:00", review: "18:00" };
const BERLIN = "Europe/Berlin";
const at = (text: string): number => Date.parse(text);
const due = (now: string, duty = {}, times: Parameters<typeof dueDaily>[1] = TIMES) =>
  dueDaily({ sinceMs: 0, told: [], ...duty }, times, { nowMs: at(now), timezone: BERLIN });

test.each([
  ["before its time nothing is due", "2026-03-28T08:59+01:00", {}, []],
  ["at its time the briefing is due", "2026-03-28T09:00+01:00", {}, ["briefing"]],
  ["it is due once", "2026-03-28T09:01+01:00", { briefing: "2026-03-28" }, []],
  ["both are made up for the same day", "2026-03-28T23:59+01:00", {}, ["briefing", "review"]],
  ["yesterday's are not", "2026-03-29T00:00+01:00", { briefing: "2026-03-27" }, []],
  [
    "what was before anybody looked was not missed",
    "2026-03-28T10:00+01:00",
    { sinceMs: Date.parse("2026-03-28T09:30+01:00") },
    [],
  ],
  ["in summer nine is nine", "2026-03-29T08:59+02:00", {}, []],
  ["on the day on which the clocks change too", "2026-03-29T09:00+02:00", {}, ["briefing"]],
  ["and when they change back", "2026-10-25T09:00+01:00", {}, ["briefing"]],
])("%s", (_, now, duty, expected) => {
  expect(due(now, duty)).toEqual(expected);
});

test("a time that is skipped comes right after the gap, one that comes twice counts once", () => {
  const times = { briefing: "02:30", review: undefined };
  expect(due("2026-03-29T01:59+01:00", {}, times)).toEqual([]);
  expect(due("2026-03-29T03:00+02:00", {}, times)).toEqual(["briefing"]);
  expect(due("2026-10-25T02:30+02:00", {}, times)).toEqual(["briefing"]);
  expect(due("2026-10-25T02:30+01:00", { briefing: "2026-10-25" }, times)).toEqual([]);
});

test("the next one is known, and where there is none, nothing is", () => {
  const clock = { nowMs: at("2026-03-28T09:00+01:00"), timezone: BERLIN };
  expect(nextDailyMs(TIMES, clock)).toBe(at("2026-03-28T18:00+01:00"));
  expect(nextDailyMs({ briefing: undefined, review: undefined }, clock)).toBeUndefined();
  expect(due("2026-03-28T23:00+01:00", {}, { briefing: undefined, review: undefined })).toEqual([]);
});
