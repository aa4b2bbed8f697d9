import { expect, test } from "vitest";

import type { Json } from "../../model/json.ts";
import type { StoredHook } from "../../store/store.ts";
import { upcoming } from "./schedule.ts";

const NOON_MS = Date.parse("2026-03-01T12:00:00Z");

function hook(name: string, filter: Json | undefined, fields: Partial<StoredHook> = {}): StoredHook {
  return {
    name,
    title: name,
    description: "",
    mode: "persistent",
    digest: "",
    filter,
    origin: "person",
    state: "active",
    enabled: true,
    present: true,
    error: undefined,
    consecutiveErrors: 0,
    openedAtMs: undefined,
    triggers: 0,
    triggeredAtMs: undefined,
    lastRunAtMs: undefined,
    createdAtMs: 0,
    ...fields,
  };
}

const next = (hooks: readonly StoredHook[], limit = 10) =>
  upcoming(hooks, { afterMs: NOON_MS, timezone: "Europe/Berlin", limit }).map(({ hook, at }) => [
    hook,
    at.slice(5, 16),
  ]);

test("what comes first is told first, in the time zone of the home or the hook's own", () => {
  const hooks = [
    hook("home", { cron: "0 14 * * *" }),
    hook("own", { cron: "0 14 * * *", timezone: "UTC" }),
    hook("often", { cron: "every 30m" }),
  ];
  expect(next(hooks, 5)).toEqual([
    ["often", "03-01T12:30"],
    ["home", "03-01T13:00"],
    ["often", "03-01T13:00"],
    ["often", "03-01T13:30"],
    ["own", "03-01T14:00"],
  ]);
});

test("a hook that fires often crowds out no other", () => {
  const hooks = [hook("often", { cron: "every 1m" }), hook("yearly", { cron: "0 0 1 1 *" })];
  expect(next(hooks, 3)).toEqual([
    ["often", "03-01T12:01"],
    ["often", "03-01T12:02"],
    ["yearly", "12-31T23:00"],
  ]);
});

test("a one-shot fires once, and a moment that is over not at all", () => {
  const hooks = [
    hook("once", { cron: "0 * * * *" }, { mode: "one-shot" }),
    hook("over", { cron: "at 2026-02-01T09:00" }),
    hook("to come", { cron: "at 2026-04-01T09:00" }),
  ];
  expect(next(hooks)).toEqual([
    ["once", "03-01T13:00"],
    ["to come", "04-01T07:00"],
  ]);
});

test("hooks that are not asked, and those without a schedule, are not told of", () => {
  const hooks = [
    hook("disabled", { cron: "every 1h" }, { state: "disabled" }),
    hook("paused", { cron: "every 1h" }, { state: "open" }),
    hook("messages", { channels: ["email"] }),
    hook("everything", undefined),
  ];
  expect(next(hooks)).toEqual([]);
});
