import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { PATIENT } from "../../../test/support/server.ts";
import { member, teamDirectory } from "../../../test/support/team-directory.ts";
import { readTeamConfig } from "../../config/team-config.ts";
import { TeamDirectory } from "./team-directory.ts";
import { watchTeam } from "./watch-team.ts";

const READY = "## Work\n**Status:** ready\n\nDo it.\n";

async function open(root: string): Promise<TeamDirectory> {
  const config = await readTeamConfig({ home: root, environment: {}, flags: { "team-dir": root } });
  return new TeamDirectory({ config, timezone: "UTC", clock: Date.now });
}

test(
  "whoever watches is told of what people write, also into the folder of somebody new",
  PATIENT,
  async () => {
    using team = teamDirectory(member("dev", { tasks: READY }));
    let changes = 0;
    const directory = await open(team.path);
    await using _ = await watchTeam(directory, () => void changes++);
    expect(changes).toBe(0);
    writeFileSync(join(team.path, "agents/dev/tasks.md"), READY + READY);
    await expect.poll(() => changes, PATIENT).toBeGreaterThan(0);
    team.write(member("new", {}));
    await expect.poll(async () => (await directory.read()).members.length, PATIENT).toBe(2);
    const before = changes;
    await expect
      .poll(() => {
        writeFileSync(join(team.path, "agents/new/tasks.md"), READY);
        return changes;
      }, PATIENT)
      .toBeGreaterThan(before);
  },
);

test("what an editor that knows nothing of us has overwritten is done again", PATIENT, async () => {
  using team = teamDirectory(member("dev", { tasks: READY }));
  const directory = await open(team.path);
  await using _ = await watchTeam(directory, () => {});
  const path = "agents/dev/tasks.md";
  const task = { title: "Work", ordinal: 1 };
  await directory.folder.edit(path, {
    file: "tasks",
    edit: { kind: "claim", task, stamp: "2026-03-28T10:00" },
  });
  writeFileSync(join(team.path, path), READY);
  await expect.poll(() => readFileSync(join(team.path, path), "utf8"), PATIENT).toContain("in-progress");
});
