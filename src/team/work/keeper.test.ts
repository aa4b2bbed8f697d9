import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { teamDirectory } from "../../../test/support/team-directory.ts";
import { giveUpTeam, keepTeam, KEEPER_GONE_MS, type TeamKeeping } from "./keeper.ts";

const NOW_MS = Date.UTC(2026, 2, 28, 10);

function keeper(root: string, home: string, fields: Partial<TeamKeeping> = {}): TeamKeeping {
  const self = { home, host: "here", pid: home.length };
  return { root, self, clock: () => NOW_MS, isAlive: () => true, ...fields };
}

test("one Cortex lets a team work, and another one is told which", async () => {
  using team = teamDirectory();
  expect(await keepTeam(keeper(team.path, "/first"))).toBeUndefined();
  expect(await keepTeam(keeper(team.path, "/first"))).toBeUndefined();
  expect(await keepTeam(keeper(team.path, "/the-second"))).toMatchObject({
    home: "/first",
    host: "here",
    pid: 6,
  });
});

test("the other one takes over from one that gave the team up, was killed, or was not heard of for long", async () => {
  using team = teamDirectory();
  const first = keeper(team.path, "/first");
  const second = keeper(team.path, "/the-second");
  await keepTeam(first);
  await giveUpTeam(first);
  expect(await keepTeam(second)).toBeUndefined();
  expect(await keepTeam({ ...first, isAlive: () => false })).toBeUndefined();
  expect(await keepTeam({ ...second, clock: () => NOW_MS + KEEPER_GONE_MS + 1 })).toBeUndefined();
});

test("nobody gives up what another one keeps", async () => {
  using team = teamDirectory();
  await keepTeam(keeper(team.path, "/first"));
  await giveUpTeam(keeper(team.path, "/the-second"));
  expect(await keepTeam(keeper(team.path, "/the-second"))).toMatchObject({ home: "/first" });
});

test("one on another machine counts by when it was last heard of", async () => {
  using team = teamDirectory();
  const away = keeper(team.path, "/first", { isAlive: () => false });
  await keepTeam({ ...away, self: { ...away.self, host: "there" } });
  expect(await keepTeam(keeper(team.path, "/the-second", { isAlive: () => false }))).toMatchObject({
    host: "there",
  });
});

test("what is in the file and cannot be read stands for nobody", async () => {
  using team = teamDirectory();
  await keepTeam(keeper(team.path, "/first"));
  writeFileSync(join(team.path, ".cortex", "keeper.json"), '{"pid":');
  expect(await keepTeam(keeper(team.path, "/the-second"))).toBeUndefined();
  expect(existsSync(join(team.path, ".cortex", ".gitignore"))).toBe(true);
});
