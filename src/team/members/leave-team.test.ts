import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type TestTeam, testTeam } from "../../../test/support/team-folder.ts";
import { writeAdapter } from "./adapter.ts";
import { leaveTeam } from "./leave-team.ts";
import { readNote } from "../markdown/read-note.ts";
import { registerMember } from "./register-member.ts";

const NOTE = "agents/billing-dev/billing-dev.md";

async function joined(): Promise<TestTeam & { readonly work: string }> {
  const team = testTeam();
  const work = team.project("billing-service");
  const place = { today: "2026-03-28", user: team.path, workingDir: team.path };
  await registerMember(team.folder, { name: "Billing Dev", project: work }, place);
  const member = { slug: "billing-dev", name: "Billing Dev", project: work, teamRoot: team.folder.root };
  await writeAdapter({
    runtime: "claude-code",
    member: { ...member, isCoordinator: false },
    rhythm: { heartbeatMinutes: 15 },
  });
  return { ...team, work };
}

test("whoever leaves is inactive, their project is as it was before, and their tasks stay", async () => {
  using team = await joined();
  writeFileSync(join(team.folder.root, "agents/billing-dev/tasks.md"), "## A\n**Status:** ready\n");
  const before = team.read(NOTE);
  const left = await leaveTeam(team.folder, "Billing Dev", { user: team.path });

  expect(left).toMatchObject({ slug: "billing-dev", changed: true, project: team.work });
  expect(left.files.map(({ path, action }) => `${action} ${path}`)).toEqual([
    "removed .cortex.md",
    "removed CLAUDE.local.md",
    "removed .claude/settings.json",
    "removed .claude/hooks/cortex-precheck.sh",
  ]);
  expect(readdirSync(team.work)).toEqual([]);
  expect(team.read(NOTE)).toBe(before.replace("status: active", "status: inactive"));
  expect(team.read("agents/billing-dev/tasks.md")).toBe("## A\n**Status:** ready\n");
});

test("to leave twice is to leave once", async () => {
  using team = await joined();
  await leaveTeam(team.folder, "billing-dev", { user: team.path });
  expect(await leaveTeam(team.folder, "billing-dev", { user: team.path })).toMatchObject({
    changed: false,
    files: [],
  });
});

test("a project that is gone keeps nobody from leaving", async () => {
  using team = await joined();
  rmSync(team.work, { recursive: true });
  expect(await leaveTeam(team.folder, "billing-dev", { user: team.path })).toMatchObject({
    project: undefined,
  });
  expect(readNote(team.read(NOTE)).status).toBe("inactive");
});

test("somebody who is not on the team cannot leave it", async () => {
  using team = testTeam({ "agents/x/tasks.md": "" });
  await expect(leaveTeam(team.folder, "X", { user: undefined })).rejects.toMatchObject({
    code: "member_unknown",
    message: 'Unknown team member "X"',
  });
  expect(existsSync(join(team.folder.root, "agents/x/x.md"))).toBe(false);
});
