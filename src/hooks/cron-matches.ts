import { matchesMinute, parseSchedule } from "../model/schedule.ts";

/** The process that runs hooks sets it to the one of `cortex.json`, which hooks expect and cannot name. */
let usual = "UTC";

export function useTimezone(timezone: string): void {
  usual = timezone;
}

/**
 * Whether a moment is in a minute of a schedule: `cronMatches("0 9 * * 1-5", ctx.now)`. In the time zone of
 * `cortex.json`, or the one that is named.
 */
export function cronMatches(schedule: string, at: Date | number, timezone: string = usual): boolean {
  return matchesMinute(parseSchedule(schedule, timezone), Number(at), timezone);
}
