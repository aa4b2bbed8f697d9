import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testTeam } from "../../../test/support/team-folder.ts";
import { importLegacy } from "./import-legacy.ts";
import { readTasks } from "../markdown/read-tasks.ts";

const NOTE = `---
name: Billing Dev
project: ~/billing
status: active
joined: 2026-03-01
last-heartbeat: 2026-03-28T10:00
---

## Role
Bills.

## Projects
- billing-service — primary project
`;

const PROJECT = `---
type: project
created: 2026-03-01
status: active
---
## Next Action
- Handle failed payments

## Notes
- Stack: Python

## Work Queue

### 2026-03-28T10:00
**Task:** Add Stripe webhook endpoint
**Scope:** Create POST /webhooks/stripe,
verify the signature
**Status:** ready

### 2026-03-28T11:00
**Task:** Send invoices
**Scope:** By mail
**Status:** in-progress

### 2026-03-27T09:00
**Task:** Set up the repository
**Scope:** All of it
**Status:** done
Summary: It is there.

### 2026-03-29T09:00
**Task:** Odd one
**Status:** later

### 2026-03-30T09:00
**Status:** ready

## After
- stays
`;

const given = { user: undefined, stamp: "2026-04-01T08:00" };

test("members get folders, what is open in the work queue becomes tasks, and every old file stays", async () => {
  using team = testTeam({ "agents/billing-dev.md": NOTE, "projects/billing-service.md": PROJECT });
  const imported = await importLegacy(team.folder, given);

  expect(imported.members).toEqual([
    { slug: "billing-dev", from: "agents/billing-dev.md", to: "agents/billing-dev/billing-dev.md" },
  ]);
  expect(team.read("agents/billing-dev/billing-dev.md")).toBe(NOTE);
  expect(team.read("agents/billing-dev.md")).toBe(NOTE);
  expect(team.read("projects/billing-service.md")).toBe(PROJECT);
  expect(imported.tasks.map(({ slug, title }) => [slug, title])).toEqual([
    ["billing-dev", "Add Stripe webhook endpoint"],
    ["billing-dev", "Send invoices"],
  ]);
  expect(readTasks(team.read("agents/billing-dev/tasks.md"))).toMatchObject({
    problems: [],
    tasks: [
      {
        title: "Add Stripe webhook endpoint",
        status: "ready",
        body: "Create POST /webhooks/stripe,\nverify the signature\n\nImported from projects/billing-service.md, 2026-03-28T10:00.",
      },
      { title: "Send invoices", status: "in-progress", started: "2026-03-28T11:00" },
    ],
  });
  expect(imported.left.map(({ why }) => why)).toEqual([
    'the task "Set up the repository" is done',
    'the task "Odd one" has the status "later"',
    'the task "2026-03-30T09:00" has no title',
  ]);
});

test("a second time adds nothing twice, and what was done meanwhile stays done", async () => {
  using team = testTeam({ "agents/billing-dev.md": NOTE, "projects/billing-service.md": PROJECT });
  await importLegacy(team.folder, given);
  const path = "agents/billing-dev/tasks.md";
  const task = { title: "Send invoices", ordinal: 1 };
  const edit = { kind: "complete", task, stamp: "2026-04-01T09:00", summary: "Sent." } as const;
  await team.folder.edit(path, { file: "tasks", edit });
  const before = team.read(path);
  const again = await importLegacy(team.folder, given);
  expect([again.members, again.tasks]).toEqual([[], []]);
  expect(again.left[0]).toMatchObject({
    file: "agents/billing-dev.md",
    why: "agents/billing-dev/billing-dev.md already exists",
  });
  expect(team.read(path)).toBe(before);
});

test("a project of several members says whose its tasks are, or they are left", async () => {
  const files = {
    "agents/billing-dev.md": NOTE,
    "agents/tester.md": NOTE.replace("Billing Dev", "Tester"),
    "projects/billing-service.md": PROJECT,
  };
  using unclear = testTeam(files);
  const { tasks, left } = await importLegacy(unclear.folder, given);
  expect(tasks).toEqual([]);
  expect(left[0]?.why).toBe('the task "Add Stripe webhook endpoint" may belong to billing-dev or tester');

  using said = testTeam({
    ...files,
    "projects/billing-service.md": PROJECT.replace("- Stack", "- Agent: tester at ~/billing\n- Stack"),
  });
  expect((await importLegacy(said.folder, given)).tasks.map(({ slug }) => slug)).toEqual([
    "tester",
    "tester",
  ]);
});

test("a heading of its own within a scope stays part of it", async () => {
  const scope = "First:\n### Details\nall of them";
  const project = PROJECT.replace("By mail", scope);
  using team = testTeam({ "agents/billing-dev.md": NOTE, "projects/billing-service.md": project });
  const { tasks } = await importLegacy(team.folder, given);
  expect(tasks).toHaveLength(2);
  const [, invoices] = readTasks(team.read("agents/billing-dev/tasks.md")).tasks;
  expect(invoices).toMatchObject({ title: "Send invoices", status: "in-progress" });
  expect(invoices?.body).toContain(scope);
});

test("a member that has a folder and no task file yet gets its tasks", async () => {
  using team = testTeam({
    "agents/billing-dev/billing-dev.md": NOTE,
    "projects/billing-service.md": PROJECT,
  });
  const { tasks } = await importLegacy(team.folder, given);
  expect(tasks.map(({ slug }) => slug)).toEqual(["billing-dev", "billing-dev"]);
});

test("the protocol file of before is named, and stays", async () => {
  using team = testTeam({ "agents/billing-dev.md": NOTE });
  const file = join(team.project("billing"), "TEAM.md");
  writeFileSync(file, "old\n");
  const { left } = await importLegacy(team.folder, { ...given, user: team.path });
  expect(left).toEqual([
    {
      file,
      why: "describes the old layout to the agent",
      hint: "Run `cortex team adapter` to write its replacement, then remove it.",
    },
  ]);
});

test("a team of today, an empty folder and copies of conflicts have nothing to import", async () => {
  using today = testTeam({ "agents/x/x.md": NOTE, "agents/x/tasks.md": "", "projects/p.md": "" });
  using empty = testTeam();
  using copies = testTeam({ "agents/billing-dev (conflicted copy).md": NOTE });
  for (const { folder } of [today, empty, copies])
    expect(await importLegacy(folder, given)).toEqual({ members: [], tasks: [], left: [] });
});
