/** Makes a team: asks what was not said, where there is somebody to ask. */
import { createInterface, type Interface } from "node:readline/promises";

import { CortexError } from "../../model/errors.ts";
import { setUpTeam, type SetupLocation } from "../members/setup.ts";
import type { Invocation } from "../../feature/command.ts";
import { readAnswer } from "../../terminal/read-input.ts";
import { readTeamSettings, teamLocation } from "./flags.ts";
import { harmless } from "../../terminal/text.ts";

type Made = Awaited<ReturnType<typeof setUpTeam>>;

/** False: whoever was asked went away, and nothing was made. */
export async function init(given: Invocation): Promise<void | false> {
  const { options, print } = given;
  const typed = teamLocation(given);
  const isAsking = process.stdin.isTTY && process.stdout.isTTY && !print.json && options["yes"] !== true;
  const sources = isAsking ? await askForSettings(typed) : typed;
  if (sources === undefined) {
    print.note("\nNothing was made.");
    return false;
  }
  const made = await setUpTeam(sources, { isForeign: options["foreign"] === true });
  const { root, written, kept, git, config, configFile, isConfigNew, unclaimed } = made;
  const settings = Object.fromEntries(config.settings.map(({ key, text }) => [key, text]));
  print.data({ root, written, kept, git, unclaimed, configFile, isConfigNew, settings }, () =>
    harmless(print.advice(describe(made))),
  );
}

/** In the order in which they are asked for; each can be left as it is. */
const QUESTIONS: readonly { readonly key: string; readonly flag: string; readonly question: string }[] = [
  { key: "team_dir", flag: "team-dir", question: "Which folder do agents and people share?" },
  {
    key: "heartbeat_minutes",
    flag: "heartbeat-minutes",
    question: "Every how many minutes do agents look for work?",
  },
  { key: "daily_briefing", flag: "daily-briefing", question: "When is the briefing, or off?" },
  { key: "daily_review", flag: "daily-review", question: "When is the review, or off?" },
];

/** What somebody has set already is not asked for. Undefined: the terminal was closed. */
async function askForSettings(typed: SetupLocation): Promise<SetupLocation | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    let sources = typed;
    for (const setting of await readTeamSettings(typed)) {
      const asked = QUESTIONS.find(({ key }) => key === setting.path);
      if (asked === undefined || setting.origin !== "default") continue;
      const answered = await askOne(lines, sources, { ...asked, unless: String(setting.value) });
      if (answered === undefined) return undefined;
      sources = answered;
    }
    return sources;
  } finally {
    lines.close();
  }
}

/** Asked again until the answer can be used. */
async function askOne(
  lines: Interface,
  sources: SetupLocation,
  { flag, question, unless }: { flag: string; question: string; unless: string },
): Promise<SetupLocation | undefined> {
  for (;;) {
    const answer = await readAnswer(lines, `${question} [${unless}] `);
    if (answer === undefined) return undefined;
    if (answer === "") return sources;
    const wanted = { ...sources, flags: { ...sources.flags, [flag]: answer } };
    try {
      await readTeamSettings(wanted);
      return wanted;
    } catch (error) {
      if (!(error instanceof CortexError) || error.code !== "config_invalid") throw error;
      process.stdout.write(harmless(`${error.message}\n`));
    }
  }
}

function describe({ root, written, kept, git, configFile, isConfigNew, unclaimed }: Made): string {
  return [
    ...written.map((path) => `Wrote ${root}/${path}`),
    ...kept.map((path) => `Kept ${root}/${path}`),
    `${isConfigNew ? "Wrote" : "Kept"} ${configFile}`,
    ...describeGit(git),
    ...unclaimed.map(
      (slug) => `Left ${slug} to whoever runs it; \`cortex team adopt ${slug}\` makes it Cortex's`,
    ),
    "",
    "Now try:",
    '  cortex team register "Billing Dev" --project ~/Projects/billing --role "Build the billing service."',
    '  cortex team dispatch billing-dev "Add a webhook" "POST /webhooks/stripe, with tests"',
    "  cortex up             start the server, which has the members work",
    "  cortex team watch     see what everybody does",
  ].join("\n");
}

function describeGit(git: Made["git"]): string[] {
  switch (git.kind) {
    case "made":
      return ["Made a git repository, so that what is pruned stays in its history"];
    case "there":
      return [];
    case "none":
      return [`Made no git repository: ${git.why}`];
  }
}
