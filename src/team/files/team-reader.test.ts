import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { member, teamDirectory } from "../../../test/support/team-directory.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { MAX_TEAM_FILE_BYTES } from "./file-state.ts";
import { stampMs } from "../markdown/stamp.ts";
import { findMember, type Team } from "./team.ts";
import { TeamReader } from "./team-reader.ts";

const TIMEZONE = "America/New_York";
const NOW_MS = stampMs("2026-03-28T12:00", TIMEZONE)!;

const TASKS = `## A
**Status:** done
**Started:** 2026-03-28T09:00
**Completed:** 2026-03-28T09:30

## B
**Status:** in-progress
**Started:** 2026-03-28T10:00

## C
**Status:** ready

## D
**Status:** ready

## E
**Status:** cancelled

<!-- cortex:last-tick 2026-03-28T11:50 -->
`;

function readerOf(root: string, clock = (): number => NOW_MS): TeamReader {
  return new TeamReader({ root, clock, timezone: TIMEZONE, heartbeatMinutes: 15 });
}

/** Of what was written just now, the next change may not show. */
function letAge(root: string): void {
  for (const path of readdirSync(root, { recursive: true, encoding: "utf8" }))
    utimesSync(join(root, path), 1, 1);
}

function rulesOf({ problems }: Team): string[] {
  return problems.map(({ file, rule }) => `${file} ${rule}`);
}

test("a team is its members with their tasks, counted, and its projects", async () => {
  using team = teamDirectory({
    ...member("chief-of-staff", { fields: { name: "Chief of Staff" } }),
    ...member("billing-dev", { tasks: TASKS, fields: { name: "Billing Dev", runtime: "cortex" } }),
    "projects/billing-service.md": "---\ntype: project\nstatus: active\n---\n## Next Action\n- Ship it\n",
    "templates/agent-template.md": "---\nname: \n---\n",
  });

  const { members, projects } = await readerOf(team.path).read();

  expect(members.map(({ slug }) => slug)).toEqual(["billing-dev", "chief-of-staff"]);
  expect(members[0]).toMatchObject({
    notePath: "agents/billing-dev/billing-dev.md",
    tasksPath: "agents/billing-dev/tasks.md",
    isManaged: true,
    isCoordinator: false,
    counts: { ready: 2, inProgress: 1, done: 1, unknown: 1 },
    tickMs: NOW_MS - 10 * 60_000,
    liveness: { state: "fresh", ageMs: 10 * 60_000 },
  });
  expect(members[1]).toMatchObject({ isCoordinator: true, isManaged: false, liveness: { state: "idle" } });
  expect(projects).toMatchObject([{ slug: "billing-service", note: { nextActions: ["Ship it"] } }]);
});

test("a directory that was written by hand from the protocol is read as it is", async () => {
  const note = `---
name: Billing Dev
project: ~/Projects/billing-service
status: active
joined: 2026-03-28
---
## Role
Build and maintain the billing service.

## Projects
- billing-service — primary project

## Capabilities
- Python/FastAPI development
- Stripe integration

## Session Log
Last session: 2026-03-28
Status: active — implemented webhook endpoint
`;
  const tasks = `## Add Stripe webhook endpoint
**Status:** done
**Started:** 2026-03-28T10:15
**Completed:** 2026-03-28T11:42

Create POST /webhooks/stripe, verify signature, handle payment_intent.payment_failed

### Summary
Implemented POST /webhooks/stripe with signature verification. Added tests.

<!-- cortex:last-tick 2026-03-28T11:45 -->
`;
  const project = `---
type: project
created: 2026-03-28
status: active
---
## Next Action
- Implement webhook handler for failed payments

## Notes
- Agent: billing-dev at ~/Projects/billing-service
- Stack: Python, FastAPI, PostgreSQL
`;
  using team = teamDirectory({
    "agents/chief-of-staff/chief-of-staff.md": note.replace("Billing Dev", "Chief of Staff"),
    "agents/chief-of-staff/tasks.md": "",
    "agents/billing-dev/billing-dev.md": note,
    "agents/billing-dev/tasks.md": tasks,
    "projects/billing-service.md": project,
  });

  const { members, projects, problems } = await readerOf(team.path).read();

  expect(problems).toEqual([]);
  expect(members[0]).toMatchObject({
    slug: "billing-dev",
    note: {
      name: "Billing Dev",
      project: "~/Projects/billing-service",
      role: "Build and maintain the billing service.",
      projects: ["billing-service"],
      capabilities: ["Python/FastAPI development", "Stripe integration"],
      log: { last: "2026-03-28", status: "active — implemented webhook endpoint" },
    },
    tasks: { tasks: [{ status: "done", completed: "2026-03-28T11:42" }] },
    counts: { ready: 0, inProgress: 0, done: 1, unknown: 0 },
    isManaged: false,
    liveness: { state: "fresh" },
  });
  expect(members[1]).toMatchObject({ isCoordinator: true, liveness: { state: "idle" } });
  expect(projects[0]!.note.nextActions).toEqual(["Implement webhook handler for failed payments"]);
});

test("a directory that is not there is a team of nobody", async () => {
  expect(await readerOf("/nowhere/at/all").read()).toMatchObject({ members: [], projects: [], problems: [] });
});

test("copies of programs that sync folders are reported and make no member", async () => {
  using team = teamDirectory({
    ...member("billing-dev"),
    "agents/billing-dev/tasks (Ann's conflicted copy 2026-03-28).md": TASKS,
    "agents/billing-dev (conflicted copy 2026-03-28 101500)/tasks.md": TASKS,
    "projects/a.sync-conflict-20260328-101500-ABCDEFG.md": "",
  });

  const found = await readerOf(team.path).read();

  expect(found.members.map(({ slug }) => slug)).toEqual(["billing-dev"]);
  expect(found.projects).toEqual([]);
  expect(rulesOf(found)).toEqual([
    "agents/billing-dev (conflicted copy 2026-03-28 101500) conflict-copy",
    "agents/billing-dev/tasks (Ann's conflicted copy 2026-03-28).md conflict-copy",
    "projects/a.sync-conflict-20260328-101500-ABCDEFG.md conflict-copy",
  ]);
});

test("a folder without a note is reported and makes no member; files and hidden folders are passed over", async () => {
  using team = teamDirectory({
    "agents/lost/tasks.md": TASKS,
    "agents/renamed/old-name.md": "---\nname: x\n---\n",
    "agents/README.md": "about agents",
    "agents/.obsidian/app.json": "{}",
  });

  const found = await readerOf(team.path).read();

  expect(found.members).toEqual([]);
  expect(rulesOf(found)).toEqual(["agents/lost note-missing", "agents/renamed note-missing"]);
  expect(found.problems[1]!.hint).toContain("rename old-name.md to renamed.md");
});

test("a member without a task file has no tasks, and that is reported", async () => {
  using team = teamDirectory(member("billing-dev"));
  rmSync(join(team.path, "agents/billing-dev/tasks.md"));

  const found = await readerOf(team.path).read();

  expect(found.members[0]!.counts).toEqual({ ready: 0, inProgress: 0, done: 0, unknown: 0 });
  expect(rulesOf(found)).toEqual(["agents/billing-dev/tasks.md tasks-missing"]);
});

test("a file that is no text costs its member and nobody else, and is reported with its line", async () => {
  using team = teamDirectory({
    ...member("a", { tasks: TASKS }),
    ...member("b", { tasks: TASKS }),
    ...member("c", { tasks: TASKS }),
    ...member("d", { tasks: TASKS }),
  });
  team.write({
    "agents/a/tasks.md": Buffer.concat([
      Buffer.from("## A\n\n"),
      Buffer.from([0xe4, 0x20]),
      Buffer.from("\nb\n"),
    ]),
    "agents/b/b.md": Buffer.from([0xff]),
    "agents/c/tasks.md": Buffer.alloc(MAX_TEAM_FILE_BYTES + 1, "a"),
  });

  const found = await readerOf(team.path).read();

  expect(found.members.map(({ slug, counts }) => [slug, counts.ready])).toEqual([
    ["a", 0],
    ["c", 0],
    ["d", 2],
  ]);
  expect(found.problems.filter(({ file }) => !file.includes("/d/"))).toMatchObject([
    { file: "agents/a/tasks.md", line: 3, rule: "not-utf8" },
    { file: "agents/b/b.md", line: 1, rule: "not-utf8" },
    { file: "agents/c/tasks.md", line: 1, rule: "file-too-large" },
  ]);
});

test("a folder in the place of a file is reported", async () => {
  using team = teamDirectory({ "agents/a/tasks.md/x": "", "agents/a/a.md": "---\nname: A\n---\n" });

  expect(rulesOf(await readerOf(team.path).read())).toEqual(["agents/a/tasks.md file-unreadable"]);
});

test("agents and projects may be links too, and are not followed out of the team directory", async () => {
  using elsewhere = teamDirectory({ ...member("dev"), "projects/p.md": "" });
  using team = teamDirectory();
  for (const name of ["agents", "projects"]) symlinkSync(join(elsewhere.path, name), join(team.path, name));
  const found = await readerOf(team.path).read();
  expect([found.members, found.projects]).toEqual([[], []]);
  expect(found.problems.map(({ file, rule }) => `${file} ${rule}`)).toEqual([
    "agents link-outside",
    "projects link-outside",
  ]);
});

test.skipIf(process.getuid?.() === 0)(
  "a folder that may not be read is not said to have no note",
  async () => {
    using team = teamDirectory(member("dev"));
    chmodSync(join(team.path, "agents/dev"), 0o000);
    const found = await readerOf(team.path).read();
    chmodSync(join(team.path, "agents/dev"), 0o755);
    expect(found.problems.map(({ rule }) => rule)).toEqual(["file-unreadable", "file-unreadable"]);
  },
);

test("links that lead out of the team directory are not followed", async () => {
  using elsewhere = temporaryFolder();
  writeFileSync(join(elsewhere.path, "tasks.md"), TASKS);
  writeFileSync(join(elsewhere.path, "outside.md"), "---\nname: Out\n---\n");
  using team = teamDirectory({ ...member("inside", { tasks: TASKS }), ...member("linked") });
  symlinkSync(elsewhere.path, join(team.path, "agents/outside"));
  symlinkSync("/nowhere", join(team.path, "agents/dangling"));
  rmSync(join(team.path, "agents/linked/tasks.md"));
  symlinkSync(join(elsewhere.path, "tasks.md"), join(team.path, "agents/linked/tasks.md"));
  rmSync(join(team.path, "agents/inside/tasks.md"));
  writeFileSync(join(team.path, "shared.md"), TASKS);
  symlinkSync("../../shared.md", join(team.path, "agents/inside/tasks.md"));

  const found = await readerOf(team.path).read();

  expect(found.members.map(({ slug, counts }) => [slug, counts.ready])).toEqual([
    ["inside", 2],
    ["linked", 0],
  ]);
  expect(found.problems.filter(({ rule }) => rule === "link-outside").map(({ file }) => file)).toEqual([
    "agents/linked/tasks.md",
    "agents/outside",
  ]);
});

test("a tick in the future is fresh, and reported with its line", async () => {
  using team = teamDirectory(
    member("a", { tasks: "## A\n**Status:** ready\n\n<!-- cortex:last-tick 2026-03-28T12:05 -->\n" }),
  );

  const found = await readerOf(team.path).read();

  expect(found.members[0]!.liveness.state).toBe("fresh");
  expect(found.problems).toMatchObject([{ file: "agents/a/tasks.md", line: 4, rule: "tick-ahead" }]);
});

test("a folder whose name is no slug is a member, and reported", async () => {
  using team = teamDirectory(member("Billing Dev"));

  const found = await readerOf(team.path).read();

  expect(found.members.map(({ slug }) => slug)).toEqual(["Billing Dev"]);
  expect(rulesOf(found)).toEqual(["agents/Billing Dev slug-odd"]);
  expect(found.problems[0]!.hint).toContain("such as billing-dev");
});

test("the state of a member follows the clock without its files being read again", async () => {
  using team = teamDirectory(member("a", { tasks: TASKS }));
  letAge(team.path);
  let nowMs = NOW_MS;
  const reader = readerOf(team.path, () => nowMs);
  expect(findMember(await reader.read(), "a")!.liveness.state).toBe("fresh");
  const { reads } = reader;

  nowMs += 60 * 60_000;

  expect(findMember(await reader.read(), "a")!.liveness.state).toBe("down");
  expect(reader.reads).toBe(reads);
});

test("files are read again when they change, in place or by another file, and only those", async () => {
  using team = teamDirectory({ ...member("a", { tasks: TASKS }), ...member("b", { tasks: TASKS }) });
  const path = join(team.path, "agents/a/tasks.md");
  letAge(team.path);
  const reader = readerOf(team.path);
  await reader.read();
  const { reads } = reader;
  const readyOfA = async (): Promise<number> => findMember(await reader.read(), "a")!.counts.ready;

  writeFileSync(path, `${TASKS}\n## F\n**Status:** ready\n`);
  utimesSync(path, 1, 1);
  expect(await readyOfA()).toBe(3);
  // The same length and time, as a sync program may make it, in another file.
  const text = readFileSync(path, "utf8").replace("ready", "Ready");
  writeFileSync(`${path}.new`, text);
  utimesSync(`${path}.new`, 1, 1);
  renameSync(`${path}.new`, path);
  expect(await readyOfA()).toBe(2);
  expect(reader.reads).toBe(reads + 2);
});

test("of a file that has changed just now another change is never missed", async () => {
  using team = teamDirectory(member("a", { tasks: TASKS }));
  const path = join(team.path, "agents/a/tasks.md");
  const reader = readerOf(team.path, Date.now);
  for (let i = 0; i < 50; i += 1) {
    const status = i % 2 === 0 ? "ready" : "other";
    writeFileSync(path, `## A\n**Status:** ${status}\n`);
    expect((await reader.read()).members[0]!.counts.ready).toBe(i % 2 === 0 ? 1 : 0);
  }
});

test("members come and go with their folders", async () => {
  using team = teamDirectory(member("a"));
  const reader = readerOf(team.path);
  await reader.read();

  team.write(member("b"));
  expect((await reader.read()).members.map(({ slug }) => slug)).toEqual(["a", "b"]);
  rmSync(join(team.path, "agents/a"), { recursive: true });
  expect((await reader.read()).members.map(({ slug }) => slug)).toEqual(["b"]);
});

test("a file whose name is free for a moment while it is replaced is not missed", async () => {
  using team = teamDirectory(member("a", { tasks: TASKS }));
  const reader = readerOf(team.path);
  await reader.read();
  const path = join(team.path, "agents/a/tasks.md");
  renameSync(path, join(team.path, "agents/a/.tasks.md.moving"));

  const found = await reader.read();

  expect(found.members[0]!.counts.ready).toBe(2);
  expect(rulesOf(found)).not.toContain("agents/a/tasks.md tasks-missing");
});

test("a folder that cannot be read is reported", async () => {
  using team = teamDirectory({ agents: "a file" });
  mkdirSync(join(team.path, "projects"));

  expect(rulesOf(await readerOf(team.path).read())).toEqual(["agents file-unreadable"]);
});
