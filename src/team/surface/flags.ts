/** The settings of a team, as commands are given them and as they are listed. */
import { readTeamConfig, type TeamLocation } from "../../config/team-config.ts";
import type { Setting } from "../../config/configured.ts";
import { flagsOf, type Invocation } from "../../feature/command.ts";
import type { SetupLocation } from "../members/setup.ts";
import { TEAM_OPTIONS } from "./options.ts";

export function teamLocation(given: Invocation): SetupLocation {
  const { home, environment } = given;
  return { home, environment, flags: flagsOf(given, TEAM_OPTIONS), workingDir: process.cwd() };
}

/** By their names in `config.yaml`, as they were written. Throws `config_invalid`. */
export async function readTeamSettings(location: TeamLocation): Promise<Setting[]> {
  const { settings } = await readTeamConfig(location);
  return settings.map(({ key, text, origin }) => ({ path: key, value: text, origin }));
}
