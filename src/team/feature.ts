import type { Feature } from "../feature/feature.ts";
import { TEAM_COMMAND } from "./surface/commands.ts";
import { TEAM_OPTIONS } from "./surface/options.ts";
import { COORDINATOR_TOOLS, FLAG_TOOL } from "./work/tool-names.ts";
import type { HomeTeam } from "./home-team.ts";

declare module "../feature/cortex.ts" {
  interface Apis {
    readonly team: HomeTeam;
  }
}

/** Agents and people sharing a folder of Markdown files. */
export const team: Feature = {
  name: "team",
  commands: [TEAM_COMMAND],
  upOptions: TEAM_OPTIONS,
  settings: async (home) => (await import("./surface/flags.ts")).readTeamSettings(home),
  chatWords: ["!team", "/team"],
  toolNames: [...COORDINATOR_TOOLS, FLAG_TOOL],
  async tools(ports) {
    return (await import("./surface/tools.ts")).createTeamTools(ports);
  },
  async routes() {
    const [{ teamRoutes: routes }, { teamSchemas: schemas }] = await Promise.all([
      import("./surface/routes.ts"),
      import("./surface/schemas.ts"),
    ]);
    return { routes, schemas };
  },
  agentFolders: async ({ home, environment, flags = {} }) => {
    const { projectFolders } = await import("./files/project-folders.ts");
    return projectFolders({ home, environment, flags, workingDir: process.cwd() });
  },
  check: async (home) => (await import("./surface/check.ts")).checkTeam(home),
  open: async (ports) => (await import("./home-team.ts")).openHomeTeam(ports),
};
