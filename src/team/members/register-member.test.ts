import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type TestTeam, testTeam } from "../../../test/support/team-folder.ts";
import { addProject } from "./add-project.ts";
import { MAX_NAME_LENGTH } from "../files/team.ts";
import { type NewMember, type Registration, registerMember } from "./register-member.ts";
import { readNote } from "../markdown/read-note.ts";
import { MAX_TEMPLATE_LINE_LENGTH } from "./templates.ts";

async function register(team: TestTeam, given: Partial<NewMember> = {}): Promise<Registration> {
  const member = { name: "Billing Dev", project: team.project("Projects/billing-service"), ...given };
  return await registerMember(team.folder, member, {
    today: "2026-03-28",
    user: team.path,
    workingDir: team.path,
  });
}

test("a new member has a note as the protocol shows it, and an empty task file", async () => {
  using team = testTeam();
  const member = await register(team, {
    role: "Build and maintain the billing service.",
    capabilities: ["Python/FastAPI development", "Stripe integration"],
    isForeign: true,
  });
  expect(member).toMatchObject({ slug: "billing-dev", isManaged: false });
  expect(team.read("agents/billing-dev/billing-dev.md")).toBe(`---
name: Billing Dev
project: ~/Projects/billing-service
status: active
joined: 2026-03-28
runtime: foreign
---
## Role
Build and maintain the billing service.

## Projects
- billing-service — primary project

## Capabilities
- Python/FastAPI development
- Stripe integration

## Session Log
Last session: --
Status: registered
`);
  expect(team.read("agents/billing-dev/tasks.md")).toBe("");
});

test("Cortex runs a member unless it is foreign", async () => {
  using team = testTeam();
  await register(team);
  expect(readNote(team.read("agents/billing-dev/billing-dev.md")).runtime).toBe("cortex");
});

test("the note is made of the template as it is in that team", async () => {
  using team = testTeam({
    "templates/agent-template.md":
      '---\r\nname: ""\r\ntags: [team]\r\n---\r\n# Who\r\n\r\n## Role\r\n(one line)\r\n\r\n## Habits\r\n- reads first\r\n',
  });
  await register(team, { role: "Builds." });
  const text = team.read("agents/billing-dev/billing-dev.md");
  expect(text).toContain("tags: [team]\r\n");
  expect(text).toContain(
    "# Who\r\n\r\n## Role\r\nBuilds.\r\n(one line)\r\n\r\n## Habits\r\n- reads first\r\n",
  );
  expect(text).not.toMatch(/[^\r]\n/);
  expect(readNote(text)).toMatchObject({
    name: "Billing Dev",
    role: "Builds.",
    projects: ["billing-service"],
  });
});

test.each([
  ['Ünïcode: "quoted" # & more', "ncode-quoted-more"],
  ["yes", "yes"],
  ["2026", "2026"],
])("the name %s is read back as it was given", async (name, slug) => {
  using team = testTeam();
  await register(team, { name });
  expect(readNote(team.read(`agents/${slug}/${slug}.md`)).name).toBe(name);
});

test("nobody that Cortex runs takes the session of the owner", async () => {
  using team = testTeam();
  await expect(register(team, { name: "Main" })).rejects.toMatchObject({
    code: "state_conflict",
    message: expect.stringContaining("agent:main:main"),
  });
  expect(await register(team, { name: "Main", isForeign: true })).toMatchObject({ slug: "main" });
});

test("a name whose slug is taken is refused, and the member that has it stays", async () => {
  using team = testTeam();
  await register(team, { role: "First." });
  await expect(register(team, { name: "billing  dev!" })).rejects.toMatchObject({
    code: "state_conflict",
    message: 'The slug billing-dev of "billing dev!" is taken by agents/billing-dev/billing-dev.md',
  });
  expect(readNote(team.read("agents/billing-dev/billing-dev.md")).role).toBe("First.");
});

test("a member of the layout of before has its slug too", async () => {
  using team = testTeam({ "agents/billing-dev.md": "---\nname: Billing Dev\n---\n" });
  await expect(register(team)).rejects.toThrow("is taken by agents/billing-dev.md");
});

test("of two that register the same name at once, one does", async () => {
  using team = testTeam();
  const outcomes = await Promise.allSettled([register(team), register(team), register(team)]);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("a project that is not there, or is no folder, is refused, and nothing is written", async () => {
  using team = testTeam();
  writeFileSync(join(team.path, "file"), "");
  await expect(register(team, { project: "~/nowhere" })).rejects.toThrow(
    `The project ${join(team.path, "nowhere")} does not exist`,
  );
  await expect(register(team, { project: "file" })).rejects.toThrow("is not a folder");
  expect(existsSync(join(team.folder.root, "agents"))).toBe(false);
});

test("names and roles are single lines of bounded length", async () => {
  using team = testTeam();
  await expect(register(team, { name: "🙂" })).rejects.toMatchObject({ code: "request_invalid" });
  await expect(register(team, { name: "a b".repeat(MAX_NAME_LENGTH) })).rejects.toThrow("the limit is 100");
  await expect(register(team, { role: "x".repeat(MAX_TEMPLATE_LINE_LENGTH + 1) })).rejects.toThrow(
    "the limit is 1000",
  );
  await register(team, { role: "## Builds\n## Session Log\nand more" });
  expect(readNote(team.read("agents/billing-dev/billing-dev.md"))).toMatchObject({
    role: "Builds ## Session Log and more",
    log: { status: "registered" },
  });
});

test("a project note is made of its template, once", async () => {
  using team = testTeam();
  const made = await addProject(
    team.folder,
    { name: "Billing Service", nextActions: ["Handle failed payments"], notes: ["Agent: billing-dev"] },
    { today: "2026-03-28" },
  );
  expect(made).toEqual({ slug: "billing-service", path: "projects/billing-service.md", isNew: true });
  expect(team.read(made.path)).toBe(
    "---\ntype: project\ncreated: 2026-03-28\nstatus: active\n---\n## Next Action\n- Handle failed payments\n\n## Notes\n- Agent: billing-dev\n",
  );
  await expect(
    addProject(team.folder, { name: "billing service" }, { today: "2026-03-29" }),
  ).rejects.toMatchObject({
    code: "state_conflict",
  });
});

test("a member's project has a note from then on, as the protocol shows it", async () => {
  using team = testTeam();
  const { projectPaths } = await register(team);
  expect(projectPaths).toEqual(["projects/billing-service.md"]);
  expect(team.read("projects/billing-service.md")).toBe(
    "---\ntype: project\ncreated: 2026-03-28\nstatus: active\n---\n## Next Action\n\n## Notes\n- Agent: billing-dev at ~/Projects/billing-service\n",
  );
});

test("a project note that is there stays as it is", async () => {
  using team = testTeam({ "projects/billing-service.md": "## Next Action\n- Mine\n" });
  expect((await register(team)).projectPaths).toEqual([]);
  expect(team.read("projects/billing-service.md")).toBe("## Next Action\n- Mine\n");
});

test("projects are named as people name them, and those without a note get one", async () => {
  using team = testTeam({ "projects/shop.md": "" });
  const member = await register(team, { projects: ["Billing Service — in Python", "shop", "web-site"] });
  expect(member.projectPaths).toEqual(["projects/billing-service.md", "projects/web-site.md"]);
  const note = team.read(member.notePath);
  expect(note).toContain("## Projects\n- billing-service — in Python\n- shop\n- web-site\n");
  expect(readNote(note).projects).toEqual(["billing-service", "shop", "web-site"]);
});

test("what is new comes first in a project note that is there, and nothing else changes", async () => {
  const before = "---\r\nstatus: active\r\n---\r\nMine.\r\n\r\n## Next Action\r\n- Old\r\n\r\n## Ideas\r\n";
  using team = testTeam({ "projects/billing.md": before });
  const added = await addProject(
    team.folder,
    { name: "Billing", nextActions: ["New"], notes: ["Stack: Python"] },
    { today: "2026-03-29" },
  );
  expect(added).toEqual({ slug: "billing", path: "projects/billing.md", isNew: false });
  expect(team.read("projects/billing.md")).toBe(
    `${before.replace("- Old", "- New\r\n- Old")}\r\n## Notes\r\n- Stack: Python\r\n`,
  );
});
