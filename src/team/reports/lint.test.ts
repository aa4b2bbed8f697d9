import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { member, teamDirectory } from "../../../test/support/team-directory.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { lintTeam, type TeamFinding } from "./lint.ts";
import { TeamReader } from "../files/team-reader.ts";

const NOW_MS = Date.parse("2026-03-28T12:00:00Z");

const TEAM = {
  ...member("chief-of-staff", { fields: { name: "Chief of Staff", runtime: "cortex" } }),
  "templates/agent-template.md": '---\nname: ""\n---\n',
  "templates/project-template.md": "---\ntype: project\n---\n",
};

async function lintOf(files: Readonly<Record<string, string | Buffer>>): Promise<TeamFinding[]> {
  using home = temporaryFolder();
  mkdirSync(join(home.path, "Projects/billing"), { recursive: true });
  using directory = teamDirectory(files);
  const parts = { root: directory.path, clock: () => NOW_MS, timezone: "UTC", heartbeatMinutes: 15 };
  return lintTeam(await new TeamReader(parts).read(), home.path);
}

function shown({ file, line, rule }: TeamFinding): string {
  return `${file}:${line} ${rule}`;
}

async function found(files: Readonly<Record<string, string | Buffer>>): Promise<string[]> {
  return (await lintOf({ ...TEAM, ...files })).map(shown);
}

test("a team as the protocol has it has no findings", async () => {
  expect(
    await found({
      ...member("billing-dev", {
        fields: { name: "Billing Dev", project: "~/Projects/billing" },
        projects: "- billing-service — primary project\n",
        tasks: "## A\n**Status:** ready\n\nDo it.\n\n<!-- cortex:last-tick 2026-03-28T11:55 -->\n",
      }),
      "projects/billing-service.md":
        "---\ntype: project\ncreated: 2026-03-28\nstatus: active\n---\n## Next Action\n\n## Notes\n",
    }),
  ).toEqual([]);
});

test("each deviation within a task file is named with its line, and says what to do", async () => {
  const findings = await lintOf({
    ...TEAM,
    ...member("a", {
      tasks: `## Doubled
**Started:** 2026-03-28T10:15
  **Status:** in-progress

## Doubled
**Status:** later

## Done
**Status:** done
**Completed:** yesterday

<!-- cortex:last-tick 2026-03-28T11:00 -->

## Prose
Status: ready

<!-- cortex:last-tick 2026-03-28T13:00 -->
`,
    }),
  });

  expect(findings.map(shown).toSorted()).toEqual(
    [
      "agents/a/tasks.md:3 metadata-indented",
      "agents/a/tasks.md:3 metadata-order",
      "agents/a/tasks.md:5 title-doubled",
      "agents/a/tasks.md:6 status-unknown",
      "agents/a/tasks.md:10 stamp-invalid",
      "agents/a/tasks.md:12 tick-doubled",
      "agents/a/tasks.md:15 status-malformed",
      "agents/a/tasks.md:17 tick-ahead",
    ].toSorted(),
  );
  for (const { message, hint } of findings) {
    expect(message).not.toBe("");
    expect(hint).toMatch(/\.$/);
  }
});

test("a project that is not there is named, for those who are on the team", async () => {
  expect(
    await found({
      ...member("a", { fields: { project: "~/Projects/billing" } }),
      ...member("b", { fields: { project: "~/Projects/other" } }),
      ...member("c", { fields: { project: "billing" } }),
      ...member("d", { fields: { project: "/nowhere", status: "inactive" } }),
    }),
  ).toEqual(["agents/b/b.md:5 project-missing", "agents/c/c.md:5 project-missing"]);
});

test("a member's project without a note is named", async () => {
  const [finding] = await lintOf({ ...TEAM, ...member("a", { projects: "- billing-service — primary\n" }) });
  expect(finding).toMatchObject({
    line: 10,
    rule: "project-unknown",
    hint: "Run `cortex team project billing-service` to create it.",
  });
});

test("names that make the same slug are named", async () => {
  expect(
    await found({
      ...member("billing-dev", { fields: { name: "Billing Dev" } }),
      ...member("billing-dev-2", { fields: { name: "billing  DEV!" } }),
    }),
  ).toEqual(["agents/billing-dev-2/billing-dev-2.md:2 name-doubled"]);
});

test("a name that leaves no slug is named", async () => {
  expect(await found(member("dev", { fields: { name: "開発" } }))).toEqual(["agents/dev/dev.md:2 name-odd"]);
});

test("a task that stands for a file that is missing is named, as long as it is active", async () => {
  const external = (status: string): string => `## X\n**Status:** ${status}\n**External:** todo.md\n`;
  expect(
    await found({
      ...member("a", { fields: { project: "~/Projects/billing" }, tasks: external("ready") }),
      ...member("b", { fields: { project: "~/Projects/billing" }, tasks: external("cancelled") }),
    }),
  ).toEqual([
    "agents/a/a.md:2 runtime-missing",
    "agents/a/tasks.md:1 external-missing",
    "agents/b/tasks.md:2 status-unknown",
  ]);
});

test("a project that is no absolute path begins in the team directory, as it does for whoever works there", async () => {
  const tasks = "## X\n**Status:** ready\n**External:** todo.md\n";
  expect(
    await found({
      ...member("a", { fields: { project: "code", runtime: "shuttle" }, tasks }),
      "code/todo.md": "## Y\n**Status:** ready\n",
    }),
  ).toEqual([]);
});

test("a task file of another runner that cannot be read, or has nothing in it, is named", async () => {
  const tasks = "## X\n**Status:** ready\n**External:** todo.md\n";
  const of = (content: string | Buffer) =>
    found({
      ...member("a", { fields: { project: "code", runtime: "shuttle" }, tasks }),
      "code/todo.md": content,
    });
  expect(await of(Buffer.from([0xff, 0xfe]))).toEqual(["agents/a/tasks.md:1 external-unreadable"]);
  expect(await of("# Plan\n")).toEqual(["agents/a/tasks.md:1 external-empty"]);
  expect(await of("- [ ] Do it\n")).toEqual([]);
});

test("somebody with tasks whose note does not say who runs them is named, with the command that changes it", async () => {
  const tasks = "## X\n**Status:** ready\n";
  const [finding] = await lintOf({ ...TEAM, ...member("dev", { tasks }) });
  expect(finding).toMatchObject({
    rule: "runtime-missing",
    hint: expect.stringContaining("`cortex team adopt dev`"),
  });
  expect(await found(member("dev", { fields: { runtime: "cursor" }, tasks }))).toEqual([]);
  expect(await found(member("dev", {}))).toEqual([]);
});

test("a coordinator that nobody runs is named, also without tasks", async () => {
  const [finding] = await lintOf({ ...TEAM, ...member("chief-of-staff", {}) });
  expect(finding).toMatchObject({
    rule: "runtime-missing",
    hint: expect.stringContaining("`cortex team adopt chief-of-staff`"),
  });
  expect(await found(member("chief-of-staff", { fields: { runtime: "cursor" } }))).toEqual([]);
});

test("what vanished from a task file is named, with what to do", async () => {
  const removed = "Kept.\n\n## Old\n**Status:** removed\n";
  const [finding] = await lintOf({ ...TEAM, ...member("dev", {}), "agents/dev/tasks.removed.md": removed });
  expect(finding).toMatchObject({ file: "agents/dev/tasks.removed.md", line: 3, rule: "task-removed" });
  expect(finding!.hint).toContain("Move it back");
});

test("both sides of a conflict that git has left are named", async () => {
  const tasks = "## A\n**Status:** ready\n\n<<<<<<< HEAD\nmine\n=======\nyours\n>>>>>>> side\n";
  expect(await found(member("a", { fields: { runtime: "cortex" }, tasks }))).toEqual([
    "agents/a/tasks.md:4 conflict-marks",
  ]);
});

test("what is missing of the team as a whole is named", async () => {
  expect((await lintOf({ "agents/old-dev.md": "---\nname: Old Dev\n---\n" })).map(shown)).toEqual([
    "agents/chief-of-staff:1 coordinator-missing",
    "agents/old-dev.md:1 layout-old",
    "templates/agent-template.md:1 template-missing",
    "templates/project-template.md:1 template-missing",
  ]);
});

test("frontmatter that is not YAML, or unfolds without end, is named with its line and the rest is read", async () => {
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefgh"
    .split("")
    .map((name, i) => `${name}: &${name} [${Array.from({ length: 9 }, () => `*${"abcdefgh"[i]}`).join(",")}]`)
    .join("\n")}`;
  const findings = await lintOf({
    ...TEAM,
    "agents/a/a.md": `---\nname: A\n\tbad: [\n---\n## Role\nWork\n`,
    "agents/a/tasks.md": "",
    "agents/b/b.md": `---\nname: B\n${bomb}\n---\n## Role\nWork\n`,
    "agents/b/tasks.md": "",
  });

  expect(new Set(findings.map(({ file }) => file))).toEqual(new Set(["agents/a/a.md", "agents/b/b.md"]));
  for (const { line } of findings) expect(line).toBeGreaterThan(1);
});

test("only what cannot lose anything is said to be repairable", async () => {
  using home = temporaryFolder();
  using directory = teamDirectory({
    ...TEAM,
    ...member("a", { tasks: "## A\n\n\t**Status:** Ready\n" }),
    ...member("b"),
  });
  rmSync(join(directory.path, "agents/b/tasks.md"));
  writeFileSync(join(directory.path, "agents/b/tasks (conflicted copy 2026-03-28 101500).md"), "");
  const parts = { root: directory.path, clock: () => NOW_MS, timezone: "UTC", heartbeatMinutes: 15 };

  const findings = lintTeam(await new TeamReader(parts).read(), home.path);

  expect(findings.map(({ rule, isRepairable }) => [rule, isRepairable])).toEqual([
    ["status-unknown", false],
    ["metadata-indented", true],
    ["conflict-copy", false],
    ["tasks-missing", true],
  ]);
});
