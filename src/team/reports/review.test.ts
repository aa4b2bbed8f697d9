import { expect, test } from "vitest";

import { member, teamDirectory } from "../../../test/support/team-directory.ts";
import { formatReview, reviewFacts, type ReviewFacts } from "./review.ts";
import { TeamReader } from "../files/team-reader.ts";

function done(title: string, completed: string, summary = `Did ${title}.\nAnd more.`): string {
  return `## ${title}\n**Status:** done\n**Started:** 2026-03-28T08:00\n**Completed:** ${completed}\n\n### Summary\n${summary}\n\n`;
}

async function reviewAt(
  at: string,
  timezone: string,
  files: Readonly<Record<string, string>>,
): Promise<ReviewFacts> {
  using directory = teamDirectory(files);
  const clock = (): number => Date.parse(at);
  const reader = new TeamReader({ root: directory.path, clock, timezone, heartbeatMinutes: 15 });
  return reviewFacts(await reader.read());
}

test("a review tells what got done today, what is in the way and what is planned", async () => {
  const facts = await reviewAt("2026-03-28T18:00:00Z", "UTC", {
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

  expect(formatReview(facts)).toBe(`# Review — 2026-03-28

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
    (await reviewAt(at, timezone, member("a", { tasks }))).doneToday.map(({ title }) => title);

  expect(await titlesAt("2026-03-28T22:30:00Z", "UTC")).toEqual(["Late"]);
  expect(await titlesAt("2026-03-28T23:30:00Z", "Europe/Berlin")).toEqual(["Early"]);
  expect(await titlesAt("2026-03-29T03:30:00Z", "America/New_York")).toEqual(["Late"]);
});

test("what somebody did today who has left since is told too", async () => {
  const files = member("a", { fields: { status: "inactive" }, tasks: done("Last work", "2026-03-28T09:00") });
  expect((await reviewAt("2026-03-28T18:00:00Z", "UTC", files)).doneToday).toMatchObject([
    { title: "Last work" },
  ]);
});
