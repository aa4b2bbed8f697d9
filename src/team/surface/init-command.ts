/** `cortex team init`: creates a team, and prompts for missing settings in a terminal. */
import { createInterface, type Interface } from "node:readline/promises";

import { CortexError } from "../../model/errors.ts";
import { setUpTeam, type SetupLocation } from "../members/setup.ts";
import type { Invocation } from "../../feature/command.ts";
import { readAnswer } from "../../terminal/read-input.ts";
import { readTeamSettings, teamLocation } from "./flags.ts";
import { harmless } from "../../terminal/text.ts";

type NewTeam = Awaited<ReturnType<typeof setUpTeam>>;

/** False: the prompt was cancelled, and nothing was created. */
export async function createTeam(given: Invocation): Promise<void | false> {
  const { options, print } = given;
  const typed = teamLocation(given);
  const isAsking = process.stdin.isTTY && process.stdout.isTTY && !print.json && options["yes"] !== true;
  const location = isAsking ? await askForSettings(typed) : typed;
  if (location === undefined) {
    print.note("\nNothing was created.");
    return false;
  }
  const team = await setUpTeam(location, { isForeign: options["foreign"] === true });
  const { root, written, kept, git, config, configFile, isConfigNew, unclaimed } = team;
  const settings = Object.fromEntries(config.settings.map(({ key, text }) => [key, text]));
  print.data({ root, written, kept, git, unclaimed, configFile, isConfigNew, settings }, () =>
    harmless(print.advice(describe(team))),
  );
}

/** In the order of the prompts. An empty answer keeps the default. */
const QUESTIONS: readonly { readonly key: string; readonly flag: string; readonly question: string }[] = [
  { key: "team_dir", flag: "team-dir", question: "Which folder do agents and people share?" },
  { key: "heartbeat_minutes", flag: "heartbeat-minutes", question: "How many minutes between heartbeats?" },
  { key: "daily_briefing", flag: "daily-briefing", question: "Time of the daily briefing, or off?" },
  { key: "daily_review", flag: "daily-review", question: "Time of the daily review, or off?" },
];

/** Skips settings that are already set. Undefined: the terminal was closed. */
async function askForSettings(typed: SetupLocation): Promise<SetupLocation | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    let location = typed;
    for (const setting of await readTeamSettings(typed)) {
      const asked = QUESTIONS.find(({ key }) => key === setting.path);
      if (asked === undefined || setting.origin !== "default") continue;
      const answered = await askOne(lines, location, { ...asked, unless: String(setting.value) });
      if (answered === undefined) return undefined;
      location = answered;
    }
    return location;
  } finally {
    lines.close();
  }
}

/** Prompts until the answer is valid. */
async function askOne(
  lines: Interface,
  location: SetupLocation,
  { flag, question, unless }: { flag: string; question: string; unless: string },
): Promise<SetupLocation | undefined> {
  for (;;) {
    const answer = await readAnswer(lines, `${question} [${unless}] `);
    if (answer === undefined) return undefined;
    if (answer === "") return location;
    const wanted = { ...location, flags: { ...location.flags, [flag]: answer } };
    try {
      await readTeamSettings(wanted);
      return wanted;
    } catch (error) {
      if (!(error instanceof CortexError) || error.code !== "config_invalid") throw error;
      process.stdout.write(harmless(`${error.message}\n`));
    }
  }
}

function describe({ root, written, kept, git, configFile, isConfigNew, unclaimed }: NewTeam): string {
  return [
    ...written.map((path) => `Wrote ${root}/${path}`),
    ...kept.map((path) => `Kept ${root}/${path}`),
    `${isConfigNew ? "Wrote" : "Kept"} ${configFile}`,
    ...describeGit(git),
    ...unclaimed.map((slug) => `Left ${slug} alone; run \`cortex team adopt ${slug}\` to have Cortex run it`),
    "",
    "Now try:",
    '  cortex team register "Billing Dev" --project ~/Projects/billing --role "Build the billing service."',
    '  cortex team dispatch billing-dev "Add a webhook" "POST /webhooks/stripe, with tests"',
    "  cortex up             start the server, which runs the members",
    "  cortex team watch     watch the team live",
  ].join("\n");
}

function describeGit(git: NewTeam["git"]): string[] {
  switch (git.kind) {
    case "made":
      return ["Created a git repository, whose history keeps what housekeeping removes"];
    case "there":
      return [];
    case "none":
      return [`Created no git repository: ${git.why}`];
  }
}
