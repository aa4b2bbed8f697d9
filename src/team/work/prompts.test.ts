import { expect, test } from "vitest";

import { member, teamDirectory } from "../../../test/support/team-directory.ts";
import { MAX_NOTE_LENGTH } from "../reports/describe.ts";
import {
  buildTaskPrompt,
  coordinatorDuty,
  describeSituation,
  MAX_DUTY_NOTE_LENGTH,
  MAX_SITUATION_LENGTH,
  MAX_TASK_TEXT_LENGTH,
} from "./prompts.ts";
import { readNote } from "../markdown/read-note.ts";
import { readTasks } from "../markdown/read-tasks.ts";
import { TeamReader } from "../files/team-reader.ts";
import type { Team } from "../files/team.ts";

function prompt(
  fields: Partial<Parameters<typeof buildTaskPrompt>[0]> = {},
  body = "Verify the signature.",
): string {
  const { tasks } = readTasks(`## Add webhook\n**Status:** in-progress\n\n${body}\n`);
  const note = "---\nname: Billing Dev\n---\n## Role\nBuild billing.\n";
  const given = {
    name: "Billing Dev",
    isCoordinator: false,
    note,
    projects: [],
    task: tasks[0]!,
    isResumed: false,
  };
  return buildTaskPrompt({ ...given, ...fields });
}

test("a worker is told who it is, its note, its projects and the task", () => {
  const text = prompt({ projects: [{ slug: "billing", text: "## Next Action\n- Webhooks\n" }] });
  expect(text).toMatch(/^Cortex tick: you are Billing Dev/);
  for (const part of [
    "Build billing.",
    "Project billing",
    "- Webhooks",
    "## Add webhook",
    "Verify the signature.",
  ])
    expect(text).toContain(part);
  expect(text).toContain("flag_task");
});

test("the coordinator is told in its own words", () => {
  expect(prompt({ isCoordinator: true })).toMatch(/^Cortex custom: /);
});

test("that the work may be a resumption is always said, and where it is one, that it is", () => {
  expect(prompt()).toContain("may be a resumption");
  expect(prompt({ isResumed: true })).toContain("was started before");
});

test("notes and tasks that nobody could read are cut", () => {
  const text = prompt({ note: "n".repeat(MAX_NOTE_LENGTH + 1) }, "t".repeat(MAX_TASK_TEXT_LENGTH + 1));
  expect(text.match(/n{9,}/g)![0]).toHaveLength(MAX_NOTE_LENGTH);
  expect(text.match(/\[…\]/g)).toHaveLength(2);
  expect(text.length).toBeLessThan(MAX_NOTE_LENGTH + MAX_TASK_TEXT_LENGTH + 2_000);
});

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
