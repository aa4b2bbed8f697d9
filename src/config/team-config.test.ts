import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listProblems } from "../../test/support/config-home.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import { readTeamConfig, type TeamConfig, type TeamLocation } from "./team-config.ts";
import { MAX_TEAM_CONFIG_LENGTH } from "./team-config-file.ts";
import { MAX_HEARTBEAT_MINUTES } from "./team-settings.ts";

const HOME = { HOME: "/home/ada" };

async function load(
  yaml: string | undefined,
  given: Partial<TeamLocation> & { env?: string } = {},
): Promise<TeamConfig> {
  using home = temporaryFolder();
  const { env, ...sources } = given;
  if (yaml !== undefined) writeFileSync(join(home.path, "config.yaml"), yaml);
  mkdirSync(join(home.path, "config"));
  if (env !== undefined) writeFileSync(join(home.path, "config", ".env"), env);
  return await readTeamConfig({
    home: home.path,
    ...sources,
    environment: { ...HOME, ...sources.environment },
  });
}

async function problemsIn(...given: Parameters<typeof load>): Promise<string[]> {
  const error = await load(...given).then(
    () => new Error("nothing is wrong"),
    (error: Error) => error,
  );
  return listProblems(error);
}

function originsOf({ settings }: TeamConfig): Record<string, string> {
  return Object.fromEntries(settings.map(({ key, origin }) => [key, origin]));
}

test("without a file the team has the defaults of the protocol", async () => {
  expect(await load(undefined)).toMatchObject({
    teamDir: "/home/ada/cortex-team",
    heartbeatMinutes: 15,
    dailyBriefing: "09:00",
    dailyReview: "18:00",
    telegramChatId: undefined,
    chiefOfStaffProject: "/home/ada/cortex-team",
  });
});

test("a file as other programs of the protocol write it is understood", async () => {
  const config = await load(
    `team_dir: ~/Notes/team
heartbeat_minutes: 30
daily_briefing: "08:30"
daily_review: 17:45 # as it was before
telegram_chat_id: -10012345678901234567
chief_of_staff_project: /srv/chief
`,
  );
  expect(config).toMatchObject({
    teamDir: "/home/ada/Notes/team",
    heartbeatMinutes: 30,
    dailyBriefing: "08:30",
    dailyReview: "17:45",
    telegramChatId: "-10012345678901234567",
    chiefOfStaffProject: "/srv/chief",
  });
  expect(originsOf(config)).toMatchObject({ team_dir: "config.yaml:1", daily_review: "config.yaml:4" });
});

test("a flag comes before the environment, the environment before .env, that before the file", async () => {
  const yaml = "heartbeat_minutes: 1\n";
  const env = "CORTEX_HEARTBEAT_MINUTES=2\n";
  const environment = { CORTEX_HEARTBEAT_MINUTES: "3" };
  const flags = { "heartbeat-minutes": "4" };
  const found = [
    await load(yaml),
    await load(yaml, { env }),
    await load(yaml, { env, environment }),
    await load(yaml, { env, environment, flags }),
  ];
  expect(found.map(({ heartbeatMinutes }) => heartbeatMinutes)).toEqual([1, 2, 3, 4]);
  expect(found.map((config) => originsOf(config)["heartbeat_minutes"])).toEqual([
    "config.yaml:1",
    ".env CORTEX_HEARTBEAT_MINUTES",
    "environment CORTEX_HEARTBEAT_MINUTES",
    "flag --heartbeat-minutes",
  ]);
});

test("an empty variable counts as not set", async () => {
  expect((await load("team_dir: /a\n", { environment: { CORTEX_TEAM_DIR: "" } })).teamDir).toBe("/a");
});

test("a relative path of a flag counts from where it was typed, one of the file from the home", async () => {
  expect((await load(undefined, { flags: { "team-dir": "team" }, workingDir: "/work" })).teamDir).toBe(
    "/work/team",
  );
  expect((await load("team_dir: team\n", { workingDir: "/work" })).teamDir).toMatch(/cortex-[^/]+\/team$/);
});

test("briefing and review can be switched off", async () => {
  const config = await load('daily_briefing: off\ndaily_review: ""\n');
  expect([config.dailyBriefing, config.dailyReview]).toEqual([undefined, undefined]);
});

test("a key without a value is one that is not set", async () => {
  expect((await load("heartbeat_minutes:\nteam_dir: ~\n")).heartbeatMinutes).toBe(15);
});

test("all that is wrong is said at once, with its line and what belongs there", async () => {
  const yaml = `heartbeat_minutes: 15m
daily_briefing: "9:00"
daily_review: "24:00"
telegram_chat_id: my chat
team_dri: /a
team_dir: ~bob/team
chief_of_staff_project: [a, b]
`;
  const flags = { "heartbeat-minutes": String(MAX_HEARTBEAT_MINUTES + 1) };
  expect(await problemsIn(yaml, { flags, environment: { CORTEX_DAILY_REVIEW: "soon" } })).toEqual([
    "config.yaml:7:1 chief_of_staff_project: expected a single value. Write one `key: value` per line, and quote strings with special characters.",
    'config.yaml:5:1 team_dri: unknown setting. Did you mean "team_dir"?',
    'config.yaml:6:1 team_dir: invalid path "~bob/team". Use a folder path, such as ~/cortex-team.',
    'flag --heartbeat-minutes heartbeat_minutes: expected 1 to 1440 minutes, got "1441". Use a number of minutes, such as 15.',
    'config.yaml:1:1 heartbeat_minutes: expected 1 to 1440 minutes, got "15m". Use a number of minutes, such as 15.',
    'config.yaml:2:1 daily_briefing: invalid time of day "9:00". Use a time such as "09:00", or off.',
    'environment CORTEX_DAILY_REVIEW daily_review: invalid time of day "soon". Use a time such as "09:00", or off.',
    'config.yaml:3:1 daily_review: invalid time of day "24:00". Use a time such as "09:00", or off.',
    'config.yaml:4:1 telegram_chat_id: invalid Telegram chat id "my chat". Use its number, such as "123456789" or "-1001234567890", or "" for none.',
  ]);
});

test("keys of other programs are their business", async () => {
  expect(await load("obsidian_vault: true\nteam_dir: /a\n")).toMatchObject({
    teamDir: "/a",
    foreignKeys: [{ key: "obsidian_vault", source: "config.yaml:1:1" }],
  });
});

test.each([
  ["text that is no YAML", 'team_dir: "open\n', /^config\.yaml:\d+:\d+: invalid YAML/],
  [
    "the same key twice",
    "team_dir: /a\nteam_dir: /b\n",
    /^config\.yaml:2:1: invalid YAML: Map keys must be unique/,
  ],
  ["a list", "- team_dir\n", /^config\.yaml:1:1: expected `key: value` lines/],
  ["an alias", "a: &a [x, x]\nteam_dir: *a\n", /team_dir: expected a single value/],
  ["lists within lists", `team_dir: ${"[".repeat(5_000)}`, /^config\.yaml/],
  ["far too much", "#".repeat(MAX_TEAM_CONFIG_LENGTH + 1), /^config\.yaml: longer than 16384 characters/],
  ["bytes that are no text", "team_dir: \u0000\n", /^config\.yaml/],
])("%s is a problem of the file", async (_what, yaml, expected) => {
  expect((await problemsIn(yaml)).join("\n")).toMatch(expected);
});

test("the page of the configuration tells how much the file may hold", () => {
  const page = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");
  expect(page).toContain(`${MAX_TEAM_CONFIG_LENGTH.toLocaleString("en")} characters`);
});
