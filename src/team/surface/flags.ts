/** The settings of a team: those given to a command, and all of them for listing. */
import { readTeamConfig, type TeamLocation } from "../../config/team-config.ts";
import type { Setting } from "../../config/configured.ts";
import { flagsOf, type Invocation } from "../../feature/command.ts";
import type { SetupLocation } from "../members/setup.ts";
import { TEAM_OPTIONS } from "./options.ts";

export function teamLocation(given: Invocation): SetupLocation {
  const { home, environment } = given;
  return { home, environment, flags: flagsOf(given, TEAM_OPTIONS), workingDir: process.cwd() };
}

/** By their names in `config.yaml`, as written there. Throws `config_invalid`. */
export async function readTeamSettings(location: TeamLocation): Promise<Setting[]> {
  const { settings } = await readTeamConfig(location);
  return settings.map(({ key, text, origin }) => ({ path: key, value: text, origin }));
}
