/**
 * The time zone of this machine. Asked for the first time, it loads the data of the calendar: eight megabytes that a
 * server which nobody talks to can do without.
 */
export function systemTimezone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
