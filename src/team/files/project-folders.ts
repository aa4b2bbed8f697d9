import type { TeamLocation } from "../../config/team-config.ts";
import { expandPath } from "../../config/team-config.ts";
import type { AgentFolder } from "../../personas/plugin-pins.ts";
import { findTeamDirectory } from "./team-directory.ts";
import { hasTeam } from "./team-errors.ts";

/** The projects of a team's members, with the notes that name them. None if there is no team. Throws `config_invalid`. */
export async function projectFolders(location: TeamLocation): Promise<AgentFolder[]> {
  const directory = await findTeamDirectory(location);
  const { root, user } = directory;
  if (!hasTeam(root)) return [];
  const { members } = await directory.read();
  return members.flatMap(({ notePath, note: { project } }) =>
    project === undefined ? [] : [[`project of ${notePath}`, expandPath(project, { user, from: root })]],
  );
}
