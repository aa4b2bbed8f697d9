import { expect, test } from "vitest";

import { MAX_NOTE_LENGTH } from "../reports/describe.ts";
import { buildTaskPrompt, MAX_TASK_LENGTH, type TaskPrompt } from "./prompt.ts";
import { readTasks } from "../markdown/read-tasks.ts";

function prompt(fields: Partial<TaskPrompt> = {}, body = "Verify the signature."): string {
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
  expect(prompt({ isResumed: true })).toContain("was begun before");
});

test("notes and tasks that nobody could read are cut", () => {
  const text = prompt({ note: "n".repeat(MAX_NOTE_LENGTH + 1) }, "t".repeat(MAX_TASK_LENGTH + 1));
  expect(text.match(/n{9,}/g)![0]).toHaveLength(MAX_NOTE_LENGTH);
  expect(text.match(/\[…\]/g)).toHaveLength(2);
  expect(text.length).toBeLessThan(MAX_NOTE_LENGTH + MAX_TASK_LENGTH + 2_000);
});
