/** The settings of the team, and its directory. Not everybody has a team: what is not there needs no mention. */
import { access, constants } from "node:fs/promises";

import { readTeamConfig, type TeamConfig } from "../../config/team-config.ts";
import { TEAM_KEYS } from "../../config/team-settings.ts";
import { count } from "../../model/count.ts";
import { type Check, fail, failure, ok, warn } from "../../feature/check.ts";
import { hasTeam } from "../files/team-missing.ts";

interface Sources {
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export async function checkTeam(sources: Sources): Promise<Check[]> {
  let config: TeamConfig;
  try {
    config = await readTeamConfig(sources);
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
    const { code } = error as NodeJS.ErrnoException;
    return [fail("team", `${folder} cannot be written to (${code})`, "Check its owner and its permissions.")];
  }
  return [...foreign, await checkFiles(sources, folder)];
}

async function checkFiles(sources: Sources, folder: string): Promise<Check> {
  const { openOwnTeam } = await import("../own-team.ts");
  const team = await openOwnTeam({ ...sources, flags: {}, workingDir: folder }, () => {});
  const { members, problems } = await team.status();
  const [first] = problems;
  if (first === undefined) return ok("team", `${folder}; ${count(members.length, "member")}`);
  const more = problems.length === 1 ? "a problem" : `${problems.length} problems`;
  return warn("team", `${more} in the files of ${folder}`, "`cortex team lint` tells, and `--fix` repairs.");
}
