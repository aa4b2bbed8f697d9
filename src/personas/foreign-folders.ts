/** Where documents by others lie: in the folders of all agents for them, in watched folders, and among the attachments. */
import { resolve } from "node:path";

import type { AgentConfig, Config } from "../config/config.ts";
import { attachmentsFolder } from "../config/home.ts";

/** Also for agents that need not be configured as they work here. */
export function foreignFolders(
  home: string,
  { agents, channels }: Pick<Config, "agents" | "channels">,
  workers: readonly Pick<AgentConfig, "foreign" | "workspace">[],
): string[] {
  // An agent can be allowed into the folders of another, or work there as a step of a relay.
  const foreign = [...workers, ...Object.values(agents)].flatMap((agent) =>
    agent.foreign.map((folder) => resolve(agent.workspace, folder)),
  );
  const watched = Object.values(channels.files).map(({ folder }) => folder);
  return [...new Set(foreign), ...watched, attachmentsFolder(home)];
}
