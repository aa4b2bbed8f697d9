/** A team directory that was made for other programs, as the protocol prints it: Cortex leaves it alone until it is told to. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import type { Cortex } from "../src/runtime/cortex.ts";
import { environmentOf } from "./support/cli.ts";
import { openTestCortex, writeHome } from "./support/home.ts";
import { runHere } from "./support/run-here.ts";
import { SEED_TEAM, writeSeedTeam } from "./support/seed-team.ts";
import { PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";
import { entry, plays } from "./support/workers.ts";

const LONG = { timeout: 240_000 };
const TASKS = "agents/billing-dev/tasks.md";

function seedHome(settings = "") {
  const folder = temporaryFolder();
  const user = folder.path;
  const home = join(user, ".cortex");
  const team = writeSeedTeam(user);
  const script = entry("^Cortex tick:", "billing-dev", plays([], "Implemented POST /webhooks/stripe."));
  writeHome(home, { cortex: { timezone: "UTC" }, script });
  writeFileSync(join(home, "config.yaml"), `team_dir: ~/cortex-team\n${settings}`);
  const open = (): Promise<Cortex> =>
    openTestCortex({}, { home, environment: { PATH: process.env["PATH"], HOME: user } });
  return {
    user,
    open,
    run: (...args: string[]) => runHere({ ...environmentOf(home), HOME: user }, ["team", ...args]),
    read: (path: string): string => readFileSync(join(team, path), "utf8"),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

test(
  "of a team that others made, all say why nothing happens and what changes it, and adopting does",
  LONG,
  async () => {
    using seed = seedHome();
    const said = async (...args: string[]): Promise<string> => {
      const { out, err } = await seed.run(...args);
      return out + err;
    };
    const command = "cortex team adopt billing-dev";
    {
      await using cortex = await seed.open();
      const { members } = await (await cortex.team.open()).tick("billing-dev");
      expect(members).toMatchObject([{ state: "foreign", detail: expect.stringContaining(command) }]);
    }
    expect(seed.read(TASKS)).toBe(SEED_TEAM[TASKS]);
    for (const args of [["status"], ["status", "billing-dev"], ["lint"], ["briefing"]])
      expect(await said(...args)).toContain(command);

    expect(await said("adopt", "billing-dev")).toContain("works on the tasks of billing-dev");
    expect(await said("adopt", "Billing Dev")).toContain("Cortex already runs billing-dev");
    await using _ = await seed.open();
    await expect.poll(() => seed.read(TASKS), PATIENT).toContain("**Status:** done");
    expect(seed.read(TASKS)).toContain("### Summary\nImplemented POST /webhooks/stripe.");
    expect(seed.read("agents/dashboard-dev/dashboard-dev.md")).toBe(
      SEED_TEAM["agents/dashboard-dev/dashboard-dev.md"],
    );
    expect(await said("status")).not.toContain(command);
  },
);

test("with adopt: true the task of a literal team is done, and the coordinator works too", LONG, async () => {
  using seed = seedHome("adopt: true\n");
  await using cortex = await seed.open();
  await expect.poll(() => seed.read(TASKS), PATIENT).toContain("**Status:** done");
  await expect.poll(() => seed.read("agents/chief-of-staff/tasks.md"), PATIENT).toContain("cortex:last-tick");
  expect((await (await cortex.team.open()).status()).members.map(({ isManaged }) => isManaged)).toEqual([
    true,
    true,
    true,
  ]);
  expect(seed.read("agents/billing-dev/billing-dev.md")).not.toContain("runtime");
});

test("in a directory that cortex team init made, a note without runtime is Cortex's", LONG, async () => {
  using seed = seedHome();
  expect((await seed.run("init")).out).toContain("cortex team adopt billing-dev");
  expect((await seed.run("list")).out).toMatch(/^billing-dev .* by others /m);

  const own = join(seed.user, "own-team");
  expect((await seed.run("init", "--team-dir", own)).out).not.toContain("team adopt");
  mkdirSync(join(own, "agents/billing-dev"));
  for (const path of [TASKS, "agents/billing-dev/billing-dev.md"])
    writeFileSync(join(own, path), SEED_TEAM[path]!);
  expect((await seed.run("list")).out).toMatch(/^billing-dev .* by cortex /m);
});
