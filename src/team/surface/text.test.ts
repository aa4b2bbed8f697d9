import { expect, test } from "vitest";

import { MINUTE_MS } from "../../model/durations.ts";
import type { MemberView, TaskView, WholeMemberView } from "./schemas.ts";
import { memberText, describeTeam, livenessText, memberRows } from "./text.ts";

const plain = (_: unknown, words: string): string => words;

function task(title: string, fields: Partial<TaskView> = {}): TaskView {
  return {
    title,
    ordinal: 1,
    status: "ready",
    statusText: "ready",
    started: null,
    completed: null,
    forMs: null,
    template: null,
    external: null,
    body: "",
    summary: null,
    flag: null,
    line: 1,
    ...fields,
  };
}

function member(slug: string, fields: Partial<WholeMemberView> = {}): WholeMemberView {
  return {
    slug,
    name: slug,
    role: "Do it.",
    project: "~/Projects/x",
    status: "active",
    runtime: "cortex",
    isCoordinator: false,
    isManaged: true,
    joined: null,
    projects: [],
    capabilities: [],
    session: { last: null, status: null },
    liveness: { state: "idle", ageMs: null, isAhead: false },
    lastTick: null,
    counts: { ready: 0, inProgress: 0, done: 0, unknown: 0 },
    notices: [],
    noteFile: `agents/${slug}/${slug}.md`,
    tasksFile: `agents/${slug}/tasks.md`,
    tasks: [],
    ...fields,
  };
}

const team = (members: readonly WholeMemberView[]) => ({
  root: "/team",
  at: "2026-03-28T10:00:00.000Z",
  timezone: "UTC",
  members,
  projects: [],
  problems: [],
});

test("how long ago somebody was seen is said, and a clock that is ahead", () => {
  const text = (state: MemberView["liveness"]["state"], ageMs: number | null, isAhead = false): string =>
    livenessText(member("a", { liveness: { state, ageMs, isAhead } }));
  expect(text("fresh", 3 * MINUTE_MS)).toBe("fresh, 3 min");
  expect(text("down", 27 * 60 * MINUTE_MS)).toBe("down, 1 d 3 h");
  expect(text("never-started", null)).toBe("never started");
  expect(text("fresh", -5 * MINUTE_MS, true)).toBe("fresh, its clock is ahead");
});

test("a line for each member says who they are and how much they have to do", () => {
  const counts = { ready: 2, inProgress: 1, done: 3, unknown: 1 };
  const members = [
    member("billing-dev", { counts }),
    member("chief-of-staff", { isCoordinator: true }),
    member("claude", { isManaged: false, runtime: null, role: "\u001b[2JHelp\nout" }),
  ];
  expect(memberRows(members, plain)).toEqual([
    "billing-dev     idle  2 ready, 1 in progress, 3 done, 1 invalid  by cortex               Do it.",
    "chief-of-staff  idle  0 ready, 0 in progress, 0 done             by cortex, coordinates  Do it.",
    "claude          idle  0 ready, 0 in progress, 0 done             by others               Help",
  ]);
});

test("what is in progress comes before what is ready, and of much only the first is named", () => {
  const ready = Array.from({ length: 7 }, (_, at) => task(`Next ${at}`));
  const tasks = [
    ...ready,
    task("Doing", { status: "in-progress", started: "2026-03-28T10:15", forMs: 87 * MINUTE_MS }),
    task("Stuck", { status: "in-progress", flag: { reason: "no key", since: "2026-03-28T10:20" } }),
    task("Odd", { status: null, statusText: "blocked" }),
    task("Over", { status: "done" }),
  ];
  const counts = { ready: 7, inProgress: 2, done: 1, unknown: 1 };
  const lines = describeTeam(team([member("a", { tasks, counts })]), plain).split("\n");
  expect(lines[0]).toBe("/team · 1 member · 0 fresh · 7 ready · 2 in progress · 1 done");
  expect(lines.slice(3)).toEqual([
    "  > Doing (since 2026-03-28T10:15, 1 h 27 min)",
    "  ! Stuck (flagged 2026-03-28T10:20: no key)",
    "  - Next 0",
    "  - Next 1",
    "  - Next 2",
    "  - Next 3",
    "  - Next 4",
    "    and 2 more",
    "  ? Odd (blocked)",
  ]);
  expect(memberText(member("a", { tasks, counts }), plain)).toContain("  - Next 6");
});

test("those who have left are not counted", () => {
  const counts = { ready: 3, inProgress: 0, done: 0, unknown: 0 };
  const left = member("b", { status: "inactive", counts });
  expect(describeTeam(team([member("a"), left]), plain)).toMatch(/^\/team · 1 member · 0 fresh · 0 ready/);
});

test("a team of nobody says how to begin", () => {
  expect(describeTeam(team([]), plain)).toContain("cortex team register");
});
