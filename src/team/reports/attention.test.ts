import { expect, test } from "vitest";

import { member, teamDirectory } from "../../../test/support/team-directory.ts";
import { concernsOf, formatConcerns } from "./attention.ts";
import { TeamReader } from "../files/team-reader.ts";
import type { Team } from "../files/team.ts";

const NOW_MS = Date.UTC(2026, 2, 28, 10);
const READY = "## Work\n**Status:** ready\n\n";

async function read(files: Readonly<Record<string, string>>): Promise<Team> {
  using team = teamDirectory(files);
  const reader = new TeamReader({
    root: team.path,
    clock: () => NOW_MS,
    timezone: "UTC",
    heartbeatMinutes: 15,
  });
  return await reader.read();
}
const NOBODY = { isLookedAfter: () => false, failures: new Map<string, string>() };

test("people are told who is down, who never started, who cannot work, and what is flagged", async () => {
  const flagged = "## Mail\n**Status:** in-progress\n\n### Progress\n- 2026-03-28T09:00 flagged: no access\n";
  const team = await read({
    ...member("down", { tasks: `${READY}<!-- cortex:last-tick 2026-03-28T08:00 -->\n` }),
    ...member("new", { tasks: READY }),
    ...member("idle", {}),
    ...member("stuck", { tasks: `${flagged}<!-- cortex:last-tick 2026-03-28T10:00 -->\n` }),
  });
  const concerns = concernsOf(team, { ...NOBODY, failures: new Map([["idle", "the file is read-only"]]) });
  const text = formatConcerns(concerns);
  expect(text).toBe(`# Team

## Needs attention
- **down** is down: last tick 2 h ago, 1 active task
- **new** has never started: 1 active task
- **idle** cannot work: the file is read-only

## Blocked
- **stuck** · Mail: no access (since 2026-03-28T09:00)
`);
});

test("members that are looked after are not down, whatever their last tick was", async () => {
  const team = await read(member("ours", { tasks: READY }));
  expect(concernsOf(team, { ...NOBODY, isLookedAfter: () => true })).toEqual([]);
});

test("a concern is another one once its tick is", async () => {
  const keys = async (stamp: string): Promise<string[]> => {
    const team = await read(member("down", { tasks: `${READY}<!-- cortex:last-tick ${stamp} -->\n` }));
    return concernsOf(team, NOBODY).map(({ key }) => key);
  };
  expect(await keys("2026-03-28T08:00")).toEqual(await keys("2026-03-28T08:00"));
  expect(await keys("2026-03-28T08:00")).not.toEqual(await keys("2026-03-28T09:00"));
});
