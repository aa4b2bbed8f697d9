import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type TestTeam, testTeam } from "../../../test/support/team-folder.ts";
import { isMarkedAsOurs } from "../files/adoption.ts";
import { type InitedTeam, initTeam } from "./init-team.ts";
import { readNote } from "../markdown/read-note.ts";

const environment = { PATH: process.env["PATH"] };

async function init(team: TestTeam, given: { path?: string; isForeign?: boolean } = {}): Promise<InitedTeam> {
  return await initTeam(team.folder, {
    coordinatorProject: team.folder.root,
    isForeign: given.isForeign,
    environment: "path" in given ? { PATH: given.path } : environment,
    today: "2026-03-28",
    user: team.path,
    workingDir: team.path,
  });
}

test("a new team has its folders, the templates of the protocol, a coordinator and a git repository", async () => {
  using team = testTeam();
  const { written, kept, git } = await init(team);

  expect(written).toEqual([
    "templates/agent-template.md",
    "templates/project-template.md",
    ".gitignore",
    "agents/chief-of-staff/chief-of-staff.md",
    "agents/chief-of-staff/tasks.md",
  ]);
  expect(kept).toEqual([]);
  expect(git).toEqual({ kind: "made" });
  expect(team.read("templates/agent-template.md")).toBe(
    '---\nname: ""\nproject: ""\nstatus: active\njoined: ""\n---\n## Role\n\n## Projects\n\n## Capabilities\n\n## Session Log\nLast session: --\nStatus: registered\n',
  );
  expect(team.read("templates/project-template.md")).toBe(
    "---\ntype: project\ncreated: YYYY-MM-DD\nstatus: active\n---\n## Next Action\n\n## Notes\n",
  );
  expect(team.read("agents/chief-of-staff/tasks.md")).toBe("");
  expect(readNote(team.read("agents/chief-of-staff/chief-of-staff.md"))).toMatchObject({
    name: "Chief of Staff",
    project: "~/cortex-team",
    status: "active",
    runtime: "cortex",
    joined: "2026-03-28",
    projects: [],
    problems: [],
  });
  expect(existsSync(join(team.folder.root, "projects"))).toBe(true);
});

test("a second time changes nothing, also not what people have changed", async () => {
  using team = testTeam({ "templates/agent-template.md": "ours\n" });
  await init(team);
  writeFileSync(join(team.folder.root, "agents/chief-of-staff/tasks.md"), "## Mine\n");
  const { written, kept, git } = await init(team);
  expect(written).toEqual([]);
  expect(kept).toHaveLength(4);
  expect(git).toEqual({ kind: "there" });
  expect(team.read("templates/agent-template.md")).toBe("ours\n");
  expect(team.read("agents/chief-of-staff/tasks.md")).toBe("## Mine\n");
});

test("a coordinator that somebody else runs is not managed", async () => {
  using team = testTeam();
  await init(team, { isForeign: true });
  expect(readNote(team.read("agents/chief-of-staff/chief-of-staff.md")).runtime).toBe("foreign");
});

test("a directory that was made here belongs to Cortex, one with members in it stays theirs", async () => {
  using made = testTeam();
  expect((await init(made)).unclaimed).toEqual([]);
  expect(isMarkedAsOurs(made.folder.root)).toBe(true);

  using theirs = testTeam({
    "agents/dev/dev.md": "---\nname: Dev\n---\n",
    "agents/ours/ours.md": "---\nname: Ours\nruntime: cortex\n---\n",
  });
  expect((await init(theirs)).unclaimed).toEqual(["dev"]);
  expect((await init(theirs)).unclaimed).toEqual(["dev"]);
  expect(isMarkedAsOurs(theirs.folder.root)).toBe(false);
});

test("inside a repository no other one is made", async () => {
  using team = testTeam();
  execFileSync("git", ["init", "--quiet", team.path]);
  const { git, written } = await init(team);
  expect(git).toEqual({ kind: "there" });
  expect(written).not.toContain(".gitignore");
  expect(readdirSync(team.folder.root)).not.toContain(".git");
});

test("without git there is a team, and no repository", async () => {
  using team = testTeam();
  expect((await init(team, { path: "/nowhere" })).git).toEqual({ kind: "none", why: "git is not installed" });
  expect(team.read("agents/chief-of-staff/tasks.md")).toBe("");
});

test("a file in the place of a folder is an error that names it", async () => {
  using team = testTeam({ agents: "a file" });
  await expect(init(team)).rejects.toMatchObject({
    code: "team_unwritable",
    message: `Cannot create the folder ${join(team.folder.root, "agents")}`,
  });
});

test("of a team with the layout of before, the coordinator is left to be imported", async () => {
  using team = testTeam({ "agents/chief-of-staff.md": "---\nname: Chief\n---\n" });
  expect((await init(team)).written).not.toContain("agents/chief-of-staff/chief-of-staff.md");
});

test("nothing that Cortex keeps for itself is seen by git", async () => {
  using team = testTeam();
  await init(team);
  mkdirSync(join(team.folder.root, "agents/x"));
  for (const name of ["lock", "tmp", "new", "moving"])
    writeFileSync(join(team.folder.root, `agents/x/.tasks.md.${name}`), "");
  const status = execFileSync("git", ["status", "--porcelain", "-uall"], {
    cwd: team.folder.root,
    encoding: "utf8",
  });
  expect(status.split("\n").filter((line) => /\.cortex|tasks\.md\./.test(line))).toEqual([]);
  expect(readFileSync(join(team.folder.root, ".gitignore"), "utf8")).toContain(".cortex/");
});
