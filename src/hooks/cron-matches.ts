import { matchesMinute, parseSchedule } from "../model/schedule.ts";

/** Set by the process that runs hooks to the time zone of `cortex.json`, which hooks do not know. */
let configured = "UTC";

export function useTimezone(timezone: string): void {
  configured = timezone;
}

/**
 * Whether a time is in a minute of a schedule: `cronMatches("0 9 * * 1-5", ctx.now)`. The default time zone is that of
 * `cortex.json`.
 */
export function cronMatches(schedule: string, at: Date | number, timezone: string = configured): boolean {
  return matchesMinute(parseSchedule(schedule, timezone), Number(at), timezone);
}
