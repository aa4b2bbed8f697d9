/** Briefing and review, each once a day at its local time. A missed one is sent later the same day. */
import type { TeamConfig } from "../../config/team-config.ts";
import { dateOf, dayStart } from "../../model/day.ts";
import { missedSince, nextFire, parseSchedule, type Schedule } from "../../model/schedule.ts";
import type { Duty } from "./member-state.ts";

type Daily = "briefing" | "review";
const DAILY: readonly Daily[] = ["briefing", "review"];

/** `09:00`. Undefined: off. */
type DailyTimes = Readonly<Record<Daily, string | undefined>>;

export function dailyTimes({ dailyBriefing, dailyReview }: TeamConfig): DailyTimes {
  return { briefing: dailyBriefing, review: dailyReview };
}

interface Clock {
  readonly nowMs: number;
  readonly timezone: string;
}

export function dueDaily(duty: Duty, times: DailyTimes, { nowMs, timezone }: Clock): Daily[] {
  const today = dateOf(nowMs, timezone);
  return DAILY.filter((kind) => {
    const time = times[kind];
    if (time === undefined || duty[kind] === today) return false;
    const atMs = missedSince(scheduleOf(time), dayStart(nowMs, timezone) - 1, nowMs, timezone);
    return atMs !== undefined && atMs > duty.sinceMs;
  });
}

export function nextDailyMs(times: DailyTimes, { nowMs, timezone }: Clock): number | undefined {
  const next = DAILY.flatMap((kind) => {
    const time = times[kind];
    const atMs = time === undefined ? undefined : nextFire(scheduleOf(time), nowMs, timezone);
    return atMs === undefined ? [] : [atMs];
  });
  return next.length === 0 ? undefined : Math.min(...next);
}

function scheduleOf(time: string): Schedule {
  const [hour, minute] = time.split(":").map(Number);
  return parseSchedule(`${minute} ${hour} * * *`);
}
