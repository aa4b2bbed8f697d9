import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import {
  adaptMember,
  addTeamProject,
  importTeam,
  leaveOwnTeam,
  registerInTeam,
  setUpTeam,
  type SetupLocation,
} from "./setup.ts";

interface Machine extends Disposable {
  readonly path: string;
  sources(given?: Partial<SetupLocation>): SetupLocation;
  read(path: string): string;
}

function machine(): Machine {
  const { path, [Symbol.dispose]: dispose } = temporaryFolder();
  mkdirSync(join(path, "work", "billing"), { recursive: true });
  const own = { HOME: path, PATH: process.env["PATH"] };
  return {
    path,
    sources: ({ environment, ...given } = {}) => ({
      home: join(path, ".cortex"),
      workingDir: join(path, "work"),
      environment: { ...own, ...environment },
      ...given,
    }),
    read: (name) => readFileSync(join(path, name), "utf8"),
    [Symbol.dispose]: dispose,
  };
}

test("a team is set up where the protocol has it, and config.yaml says so", async () => {
  using here = machine();
  const { root, isConfigNew } = await setUpTeam(here.sources());
  expect(root).toBe(join(here.path, "cortex-team"));
  expect(isConfigNew).toBe(true);
  expect(here.read(".cortex/config.yaml")).toContain("team_dir: ~/cortex-team\n");
  expect(here.read("cortex-team/agents/chief-of-staff/chief-of-staff.md")).toContain(
    "project: ~/cortex-team\n",
  );
});

test("what flags say is kept, with paths that hold from anywhere", async () => {
  using here = machine();
  const flags = { "team-dir": "./team", "heartbeat-minutes": "5", "chief-of-staff-project": "chief" };
  await setUpTeam(here.sources({ flags }));
  expect(existsSync(join(here.path, "work/chief"))).toBe(true);
  const yaml = here.read(".cortex/config.yaml");
  expect(yaml).toContain("team_dir: ~/work/team\n");
  expect(yaml).toContain("heartbeat_minutes: 5\n");
  expect(yaml).toContain("chief_of_staff_project: ~/work/chief\n");
  expect((await registerInTeam(here.sources(), { name: "Billing", project: "billing" })).slug).toBe(
    "billing",
  );
  expect(here.read("work/team/agents/billing/billing.md")).toContain("project: ~/work/billing\n");
});

test("the environment is remembered in a new file only, and a file that is there only changes by flags", async () => {
  using here = machine();
  await setUpTeam(here.sources({ environment: { CORTEX_TEAM_DIR: join(here.path, "one") } }));
  const before = here.read(".cortex/config.yaml");
  expect(before).toContain("team_dir: ~/one\n");
  const { isConfigNew } = await setUpTeam(
    here.sources({ environment: { CORTEX_TEAM_DIR: join(here.path, "two") } }),
  );
  expect(isConfigNew).toBe(false);
  expect(here.read(".cortex/config.yaml")).toBe(before);
  await setUpTeam(here.sources({ flags: { "daily-review": "17:00" } }));
  expect(here.read(".cortex/config.yaml")).toBe(
    before.replace('daily_review: "18:00"', 'daily_review: "17:00"'),
  );
});

test("where no folder can be made, nothing is configured either", async () => {
  using here = machine();
  writeFileSync(join(here.path, "file"), "");
  await expect(setUpTeam(here.sources({ flags: { "team-dir": "~/file/team" } }))).rejects.toMatchObject({
    code: "team_unwritable",
  });
  expect(existsSync(join(here.path, ".cortex/config.yaml"))).toBe(false);
});

test("without a team directory, everything else says how to make one", async () => {
  using here = machine();
  const sources = here.sources();
  for (const attempt of [
    () => registerInTeam(sources, { name: "X", project: "." }),
    () => addTeamProject(sources, { name: "X" }),
    () => adaptMember(sources, { agent: "x", runtime: "codex" }),
    () => leaveOwnTeam(sources, "x"),
    () => importTeam(sources),
  ]) {
    await expect(attempt()).rejects.toMatchObject({ code: "team_missing" });
  }
  expect(existsSync(join(here.path, "cortex-team"))).toBe(false);
});

test("a member is registered, gets its instructions, and leaves", async () => {
  using here = machine();
  const sources = here.sources();
  await setUpTeam(sources);
  await registerInTeam(sources, { name: "Billing Dev", project: "billing", isForeign: true });
  const { project, files } = await adaptMember(sources, { agent: "Billing Dev", runtime: "codex" });
  expect(project).toBe(join(here.path, "work/billing"));
  expect(files).toEqual([{ path: "AGENTS.md", action: "written" }]);
  expect(here.read("work/billing/AGENTS.md")).toContain("You are **Billing Dev**, a member");
  expect((await leaveOwnTeam(sources, "Billing Dev")).files).toEqual([
    { path: "AGENTS.md", action: "removed" },
  ]);
});

test("an adapter for nobody, or for a project that is not there, is refused", async () => {
  using here = machine();
  const sources = here.sources();
  await setUpTeam(sources);
  await expect(adaptMember(sources, { agent: "x", runtime: "codex" })).rejects.toMatchObject({
    code: "member_unknown",
  });
  mkdirSync(join(here.path, "cortex-team/agents/x"));
  writeFileSync(join(here.path, "cortex-team/agents/x/x.md"), "---\nname: X\nproject: ~/nowhere\n---\n");
  await expect(adaptMember(sources, { agent: "x", runtime: "codex" })).rejects.toThrow(
    "~/nowhere, does not exist",
  );
});

test("who is meant follows from the folder where the command is given", async () => {
  using here = machine();
  const sources = here.sources();
  await setUpTeam(sources);
  await registerInTeam(sources, { name: "Billing Dev", project: "billing" });
  const inside = here.sources({ workingDir: join(here.path, "work/billing") });
  expect((await adaptMember(inside, { runtime: "generic" })).slug).toBe("billing-dev");
  expect((await leaveOwnTeam(inside)).slug).toBe("billing-dev");
  await expect(leaveOwnTeam(sources)).rejects.toThrow("is the project of no member");
  await registerInTeam(sources, { name: "Tester", project: "billing" });
  await expect(leaveOwnTeam(inside)).rejects.toThrow("more than one member (billing-dev, tester)");
});
