import { expect, test } from "vitest";

import { member, teamDirectory } from "../../../test/support/team-directory.ts";
import { composeBriefing, composeReview } from "./daily-reports.ts";
import { formatAge, MAX_LINES_LISTED } from "./format-facts.ts";
import { stampMs } from "../markdown/stamp.ts";
import type { Team } from "../files/team.ts";
import { TeamReader } from "../files/team-reader.ts";

const TIMEZONE = "Europe/Berlin";

async function teamAt(stamp: string, files: Readonly<Record<string, string>>): Promise<Team> {
  using directory = teamDirectory(files);
  const clock = (): number => stampMs(stamp, TIMEZONE)!;
  return await new TeamReader({
    root: directory.path,
    clock,
    timezone: TIMEZONE,
    heartbeatMinutes: 15,
  }).read();
}

function ready(title: string): string {
  return `## ${title}\n**Status:** ready\n\n`;
}

function inProgress(title: string, started: string, body = ""): string {
  return `## ${title}\n**Status:** in-progress\n**Started:** ${started}\n\n${body}\n\n`;
}

function tick(stamp: string): string {
  return `<!-- cortex:last-tick ${stamp} -->\n`;
}

const FILES = {
  ...member("chief-of-staff", { fields: { name: "Chief of Staff" }, tasks: tick("2026-03-28T08:50") }),
  ...member("billing-dev", {
    fields: { name: "Billing Dev" },
    tasks:
      inProgress("Webhook", "2026-03-28T07:33") +
      inProgress("Invoices", "2026-03-27T09:00", "### Progress\n- 2026-03-28T08:00 flagged: no key") +
      ["One", "Two", "Three", "Four"].map(ready).join("") +
      tick("2026-03-28T08:55"),
  }),
  ...member("dashboard-dev", {
    fields: { name: "Dashboard Dev" },
    tasks: ready("Charts") + tick("2026-03-28T05:00"),
  }),
  ...member("new-dev", { fields: { name: "New Dev" }, tasks: ready("Begin") }),
  ...member("idle-dev", { log: "Last session: 2026-03-27\nStatus: blocked — waiting for Ann\n" }),
  ...member("gone-dev", { fields: { name: "Gone Dev", status: "inactive" }, tasks: ready("Left over") }),
  "projects/billing-service.md":
    "---\ntype: project\nstatus: active\n---\n## Next Action\n- Handle refunds\n",
};

test("a briefing tells who is at work, what they do, what is in the way and what is coming", async () => {
  const { facts, text } = composeBriefing(await teamAt("2026-03-28T09:00", FILES));

  expect(facts.totals).toEqual({ members: 5, fresh: 2, ready: 6, inProgress: 2, done: 0 });
  expect(text).toBe(`# Briefing — 2026-03-28 09:00

5 members, 2 fresh · 6 ready · 2 in progress

## Needs attention
- **Dashboard Dev** is down: last tick 4 h ago, 1 active task
- **Gone Dev** has left the team with 1 active task
- **New Dev** has never started: 1 active task
- **Dashboard Dev**: Cortex does not run this member: its note has no \`runtime: cortex\`. Run \`cortex team adopt dashboard-dev\` to change that.
- **New Dev**: Cortex does not run this member: its note has no \`runtime: cortex\`. Run \`cortex team adopt new-dev\` to change that.

## Blocked
- **Billing Dev** · Invoices: no key (since 2026-03-28T08:00)
- **idle-dev**: waiting for Ann (since 2026-03-27)

## Fresh
- **Billing Dev**
- **Chief of Staff**

## In progress
- **Billing Dev** · Webhook — since 2026-03-28T07:33 (1 h 27 min)
- **Billing Dev** · Invoices — since 2026-03-27T09:00 (1 d)

## Coming up
- **Billing Dev** · 4 ready: One; Two; Three; and 1 more
- **Dashboard Dev** · 1 ready: Charts
- **New Dev** · 1 ready: Begin

## Projects
- **billing-service** · Handle refunds

1 problem in the files: \`cortex team lint\`
`);
});

test("a team of nobody has a briefing too", async () => {
  expect(composeBriefing(await teamAt("2026-03-28T09:00", {})).text).toBe(
    "# Briefing — 2026-03-28 09:00\n\n0 members, 0 fresh · 0 ready · 0 in progress\n",
  );
});

test("how far another runner is stands with the task that is for it", async () => {
  const tasks = inProgress("Shuttle", "2026-03-28T08:00", "Progress: 3 of 7 done") + tick("2026-03-28T08:55");
  const { text } = composeBriefing(await teamAt("2026-03-28T09:00", member("a", { tasks })));

  expect(text).toContain("- **a** · Shuttle — since 2026-03-28T08:00 (1 h): 3 of 7 done\n");
});

test("ages are real time, also over a night in which clocks change", async () => {
  const tasks = inProgress("Night shift", "2026-03-28T23:00") + tick("2026-03-29T08:55");
  const { facts } = composeBriefing(await teamAt("2026-03-29T09:00", member("a", { tasks })));

  expect(facts.inProgress[0]!.forMs).toBe(9 * 3_600_000);
});

test("a long list is cut, and says how much it leaves out", async () => {
  const files = Array.from({ length: MAX_LINES_LISTED + 3 }, (_, i) =>
    member(`a${100 + i}`, { tasks: ready("x") }),
  );
  const { facts, text } = composeBriefing(await teamAt("2026-03-28T09:00", Object.assign({}, ...files)));

  expect(facts.upcoming).toHaveLength(MAX_LINES_LISTED + 3);
  expect(text.match(/ · 1 ready: x$/gm)).toHaveLength(MAX_LINES_LISTED);
  expect(text).toContain("- and 3 more\n");
});

test("ages are told in two units at most", () => {
  expect([0, 59_999, 60_000, 3_600_000, 5_220_000, 97_200_000].map(formatAge)).toEqual([
    "0 min",
    "0 min",
    "1 min",
    "1 h",
    "1 h 27 min",
    "1 d 3 h",
  ]);
});

function done(title: string, completed: string, summary = `Did ${title}.\nAnd more.`): string {
  return `## ${title}\n**Status:** done\n**Started:** 2026-03-28T08:00\n**Completed:** ${completed}\n\n### Summary\n${summary}\n\n`;
}

async function reviewAt(
  at: string,
  timezone: string,
  files: Readonly<Record<string, string>>,
): Promise<ReturnType<typeof composeReview>> {
  using directory = teamDirectory(files);
  const clock = (): number => Date.parse(at);
  const reader = new TeamReader({ root: directory.path, clock, timezone, heartbeatMinutes: 15 });
  return composeReview(await reader.read());
}

test("a review tells what got done today, what is in the way and what is planned", async () => {
  const { text } = await reviewAt("2026-03-28T18:00:00Z", "UTC", {
    ...member("billing-dev", {
      fields: { name: "Billing Dev" },
      tasks:
        done("Later", "2026-03-28T17:00") +
        done("Yesterday", "2026-03-27T23:59") +
        "## Undated\n**Status:** done\n\n## Going on\n**Status:** in-progress\n**Started:** 2026-03-28T17:30\n\n" +
        "## Next\n**Status:** ready\n\n<!-- cortex:last-tick 2026-03-28T17:55 -->\n",
    }),
    ...member("dashboard-dev", {
      fields: { name: "Dashboard Dev" },
      tasks: done("Earlier", "2026-03-28T00:00"),
    }),
    ...member("stuck-dev", { log: "Last session: 2026-03-28\nStatus: blocked: no access\n" }),
    "projects/billing-service.md":
      "---\ntype: project\nstatus: active\n---\n## Next Action\n- Handle refunds\n",
  });

  expect(text).toBe(`# Review — 2026-03-28

2 done today · 3 members, 1 fresh · 1 ready · 1 in progress

## Done today
- **Dashboard Dev** · Earlier: Did Earlier.
- **Billing Dev** · Later: Did Later.

## Blocked
- **stuck-dev**: no access (since 2026-03-28)

## Planned for tomorrow
- **Billing Dev** · Going on — since 2026-03-28T17:30 (30 min)
- **Billing Dev** · 1 ready: Next
- **billing-service** · Handle refunds
`);
});

test("today is the day of the team's time zone, from midnight to midnight", async () => {
  const tasks = done("Late", "2026-03-28T23:59") + done("Early", "2026-03-29T00:00");
  const titlesAt = async (at: string, timezone: string): Promise<string[]> =>
    (await reviewAt(at, timezone, member("a", { tasks }))).facts.doneToday.map(({ title }) => title);

  expect(await titlesAt("2026-03-28T22:30:00Z", "UTC")).toEqual(["Late"]);
  expect(await titlesAt("2026-03-28T23:30:00Z", "Europe/Berlin")).toEqual(["Early"]);
  expect(await titlesAt("2026-03-29T03:30:00Z", "America/New_York")).toEqual(["Late"]);
});

test("what somebody did today who has left since is told too", async () => {
  const files = member("a", { fields: { status: "inactive" }, tasks: done("Last work", "2026-03-28T09:00") });
  expect((await reviewAt("2026-03-28T18:00:00Z", "UTC", files)).facts.doneToday).toMatchObject([
    { title: "Last work" },
  ]);
});
