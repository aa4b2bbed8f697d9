/** The upcoming runs of hooks, according to the schedules in their filters. */
import { nextFire, parseSchedule } from "../../model/schedule.ts";
import type { StoredHook } from "../../store/store.ts";
import { isoTime } from "../../feature/views.ts";

interface Due {
  readonly hook: string;
  readonly schedule: string;
  readonly timezone: string;
  readonly at: string;
}

interface UpcomingOptions {
  readonly afterMs: number;
  /** The configured one, for schedules without their own. */
  readonly timezone: string;
  readonly limit: number;
}

/** The next time of each active hook and, up to the limit, later ones; in chronological order. */
export function upcoming(hooks: readonly StoredHook[], options: UpcomingOptions): Due[] {
  const active = hooks.filter(({ state }) => state === "active");
  const due = active.map((hook) => Array.from(moments(hook, options)));
  const next = inOrder(due.flatMap((moments) => moments.slice(0, 1)));
  const later = inOrder(due.flatMap((moments) => moments.slice(1)));
  return inOrder([...next, ...later].slice(0, options.limit));
}

function inOrder(due: readonly Due[]): Due[] {
  return due.toSorted((a, b) => a.at.localeCompare(b.at) || a.hook.localeCompare(b.hook));
}

function* moments({ name, filter, mode }: StoredHook, { afterMs, timezone, limit }: UpcomingOptions) {
  const { cron, timezone: own } = (filter ?? {}) as { readonly cron?: unknown; readonly timezone?: unknown };
  if (typeof cron !== "string") return;
  const zone = typeof own === "string" ? own : timezone;
  const schedule = parseSchedule(cron, zone);
  let atMs = nextFire(schedule, afterMs, zone);
  for (let count = 0; atMs !== undefined && count < (mode === "one-shot" ? 1 : limit); count++) {
    yield { hook: name, schedule: cron, timezone: zone, at: isoTime(atMs) };
    atMs = nextFire(schedule, atMs, zone);
  }
}
