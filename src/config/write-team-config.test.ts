import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert, asyncProperty, string } from "fast-check";
import { parse } from "yaml";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../test/support/temporary.ts";
import { setTeamValues, writeTeamConfig } from "./write-team-config.ts";

test("a new file holds every setting, with what it means", async () => {
  using folder = temporaryFolder();
  const home = join(folder.path, "home");
  const config = await writeTeamConfig(
    { home, environment: { HOME: "/home/ada" } },
    { team_dir: "~/our team" },
  );
  expect(config.teamDir).toBe("/home/ada/our team");
  const text = readFileSync(join(home, "config.yaml"), "utf8");
  expect(text).toContain('team_dir: "~/our team"\n');
  expect(parse(text)).toEqual({
    team_dir: "~/our team",
    heartbeat_minutes: 15,
    daily_briefing: "09:00",
    daily_review: "18:00",
    telegram_chat_id: "",
    chief_of_staff_project: "",
    adopt: false,
  });
});

test("comments, order and line ends stay, and what is not there comes at the end", async () => {
  const text = "# ours\r\nother: 1\r\ndaily_review: '18:00' # late\r\nteam_dir:\r\nheartbeat_minutes: 5";
  expect(
    await setTeamValues(text, { team_dir: "~/team", daily_review: "17:00", daily_briefing: "08:00" }),
  ).toBe(
    '# ours\r\nother: 1\r\ndaily_review: "17:00" # late\r\nteam_dir: ~/team\r\nheartbeat_minutes: 5\r\ndaily_briefing: "08:00"\r\n',
  );
});

test("any text that is set is read back as it was", async () => {
  const value = string({ unit: "binary" }).filter((text) => text.isWellFormed());
  await assert(
    asyncProperty(value, value, async (dir, chat) => {
      const text = await setTeamValues("# top\nteam_dir: /a # here\n", {
        team_dir: dir,
        telegram_chat_id: chat,
      });
      expect(parse(text)).toEqual({ team_dir: dir, telegram_chat_id: chat });
      expect(text).toMatch(/^# top\n[^]* # here\n/);
    }),
  );
});

test("a value that cannot be used is refused, and nothing is written", async () => {
  using home = temporaryFolder();
  const written = writeTeamConfig({ home: home.path, environment: {} }, { heartbeat_minutes: "0" });
  await expect(written).rejects.toThrow(
    /was not written because it would be invalid: .*heartbeat_minutes: expected/,
  );
  expect(existsSync(join(home.path, "config.yaml"))).toBe(false);
  expect(existsSync(join(home.path, "config.yaml.new"))).toBe(false);
});

test("a file that is wrong already is left as it is", async () => {
  using home = temporaryFolder();
  const path = join(home.path, "config.yaml");
  writeFileSync(path, "- a list\n");
  const written = writeTeamConfig({ home: home.path, environment: {} }, { team_dir: "/a" });
  await expect(written).rejects.toMatchObject({ code: "config_invalid" });
  expect(readFileSync(path, "utf8")).toBe("- a list\n");
});

test("a folder in its place is an error that names it", async () => {
  using home = temporaryFolder();
  mkdirSync(join(home.path, "config.yaml"));
  const written = writeTeamConfig({ home: home.path, environment: {} }, { team_dir: "/a" });
  await expect(written).rejects.toThrow("config.yaml");
});
