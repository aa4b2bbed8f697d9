import { expect, test } from "vitest";

import { member, teamDirectory } from "../../../test/support/team-directory.ts";
import { coordinatorDuty, describeSituation, MAX_DUTY_NOTE_LENGTH, MAX_SITUATION_LENGTH } from "./duty.ts";
import { readNote } from "../markdown/read-note.ts";
import { readTasks } from "../markdown/read-tasks.ts";
import { TeamReader } from "../files/team-reader.ts";
import type { Team } from "../files/team.ts";

async function teamOf(files: Readonly<Record<string, string>>): Promise<Team> {
  using directory = teamDirectory(files);
  const clock = (): number => Date.parse("2026-03-28T12:00:00Z");
  return await new TeamReader({ root: directory.path, clock, timezone: "UTC", heartbeatMinutes: 15 }).read();
}

test("a long note of the coordinator is cut in what it is told of its job", () => {
  const noteText = `---\nname: Chief\n---\n## Role\nRun it.\n\n## Notes\n${"x".repeat(2 * MAX_DUTY_NOTE_LENGTH)}`;
  const files = { slug: "chief-of-staff", isCoordinator: true, notePath: "", tasksPath: "", noteText };
  const duty = coordinatorDuty({ ...files, note: readNote(noteText), tasks: readTasks("") }, "/team");
  expect(duty).toContain("Your role: Run it.");
  expect(duty).toContain("[…]");
  expect(duty.match(/x{10,}/)![0].length).toBeLessThan(MAX_DUTY_NOTE_LENGTH);
});

test("how the team stands has all members, their tasks and the next actions of projects", async () => {
  const team = await teamOf({
    ...member("dev", { tasks: "## Code\n**Status:** ready\n" }),
    "projects/site.md": "---\nstatus: active\n---\n## Next Action\n- One\n- Two\n- Three\n- Four\n",
    "projects/old.md": "---\nstatus: inactive\n---\n",
  });
  const said = describeSituation(team);
  expect(said).toContain("The team, 2026-03-28 12:00:");
  expect(said).toContain("ready: Code");
  expect(said).toContain("- **site** (active): next: One; Two; Three; and 1 more");
  expect(said).toContain("- **old** (inactive): no next action");
});

test("how a large team stands is cut", async () => {
  const many = Array.from({ length: 60 }, (_, at) =>
    member(`dev-${at}`, { tasks: `## ${"Long ".repeat(40)}${at}\n**Status:** ready\n` }),
  );
  const said = describeSituation(await teamOf(Object.assign({}, ...many)));
  expect(said.length).toBeLessThan(MAX_SITUATION_LENGTH + 10);
  expect(said).toMatch(/\[…\]$/);
});
