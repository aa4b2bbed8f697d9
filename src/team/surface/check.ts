/** Checks the team's settings and its directory. A missing team is fine: not every home has one. */
import { access, constants } from "node:fs/promises";

import { enabledAccount } from "../../config/channel-accounts.ts";
import { readConfigured } from "../../config/configured.ts";
import { readTeamConfig, type TeamConfig } from "../../config/team-config.ts";
import { TEAM_KEYS } from "../../config/team-settings.ts";
import { count } from "../../model/count.ts";
import { codeOf } from "../../model/error-code.ts";
import { type Check, fail, failure, ok, warn } from "../../feature/check.ts";
import type { CheckedHome } from "../../feature/feature.ts";
import { hasTeam } from "../files/team-errors.ts";

export async function checkTeam(home: CheckedHome): Promise<Check[]> {
  let config: TeamConfig;
  try {
    config = await readTeamConfig(home);
  } catch (error) {
    return [failure("team", error)];
  }
  const { teamDir: folder, foreignKeys } = config;
  const foreign = foreignKeys.map(({ key, source }) =>
    warn(
      "team",
      `${source}: unknown key "${key}"`,
      `Cortex ignores it. Known keys: ${TEAM_KEYS.join(", ")}.`,
    ),
  );
  if (!hasTeam(folder)) return foreign;
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = codeOf(error) ?? String(error);
    return [fail("team", `Cannot write to ${folder} (${code})`, "Check its owner and permissions.")];
  }
  return [...foreign, ...(await checkChat(home, config)), await checkFiles(home, folder)];
}

/** Reports that would go to a chat have another place if its channel is missing, which nobody would notice. */
export async function checkChat(
  home: Pick<CheckedHome, "home" | "environment">,
  { telegramChatId }: TeamConfig,
): Promise<Check[]> {
  if (telegramChatId === undefined) return [];
  const { config } = await readConfigured(home);
  if (enabledAccount(config, "telegram") !== undefined) return [];
  return [
    warn(
      "team",
      "`telegram_chat_id` is set, but no Telegram channel is enabled: reports go to `admin`, or to the log",
      "Add `channels.telegram` to config/cortex.json, or clear `telegram_chat_id`.",
    ),
  ];
}

async function checkFiles(home: CheckedHome, folder: string): Promise<Check> {
  const { openTeamDirectory } = await import("../files/team-directory.ts");
  const { members, problems } = await (await openTeamDirectory(home)).read();
  const [first] = problems;
  if (first === undefined) return ok("team", `${folder}; ${count(members.length, "member")}`);
  return warn(
    "team",
    `${count(problems.length, "problem")} in the files of ${folder}`,
    "Run `cortex team lint` to list problems, and add `--fix` to repair them.",
  );
}
