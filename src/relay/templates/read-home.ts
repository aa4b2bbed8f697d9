/** The agents and templates of relays as a home has them, with or without a server on it. */
import { existsSync } from "node:fs";

import type { Config } from "../../config/config.ts";
import { readConfigured } from "../../config/configured.ts";
import { configFolder } from "../../config/read.ts";
import type { CheckedHome } from "../../feature/feature.ts";
import { unknownTools } from "../../personas/check-agents.ts";
import { readPlugins } from "../../personas/skills.ts";
import { type Doubt, type ExaminedAgent, readRelayConfig } from "./read.ts";
import type { RelayConfig } from "./snapshot.ts";

/** Throws `config_invalid` where the settings of the home are wrong; what is wrong with relays is in the result. */
export async function readRelays(sources: CheckedHome): Promise<RelayConfig> {
  const { config, variable } = await readConfigured(sources);
  const { home } = sources;
  const user = variable("HOME") ?? variable("USERPROFILE");
  const folders = { home, config: configFolder(home), user };
  return readRelayConfig(folders, {
    profiles: Object.keys(config.profiles),
    examine: createRelayExaminer(config, sources.toolNames),
  });
}

/** Finds what is probably a mistake in an agent: unknown tools, plugins that load nothing, fields that nothing uses. */
function createRelayExaminer(
  config: Config,
  toolNames: readonly string[],
): (agent: ExaminedAgent) => Promise<Doubt[]> {
  return async (agent) => [
    ...toolDoubts(agent, toolNames),
    ...ignoredFields(agent, config),
    ...(await pluginDoubts(agent)),
  ];
}

/** `Read,Grep` or a list. */
function toolDoubts({ tools }: ExaminedAgent, toolNames: readonly string[]): Doubt[] {
  const isText = typeof tools === "string";
  const listed: readonly unknown[] = isText ? tools.split(",") : Array.isArray(tools) ? tools : [];
  const names = listed.map((name) => (typeof name === "string" ? name.trim() : ""));
  return unknownTools(names, toolNames).map(({ index, message, hint }) => ({
    path: isText ? ["tools"] : ["tools", index],
    message,
    hint,
  }));
}

function ignoredFields(agent: ExaminedAgent, { profiles }: Config): Doubt[] {
  const backend = agent.profile === undefined ? undefined : profiles[agent.profile]?.backend;
  const whose =
    backend === undefined ? "no backend of this version uses it" : `backend "${backend}" does not use it`;
  return (["claudeAgent", "outputStyle"] as const)
    .filter((field) => agent[field] !== undefined)
    .map((field) => ({
      path: [field],
      message: `is ignored: ${whose}`,
      hint: "It is for the backend claude, which is not available in this version.",
    }));
}

/** One that is not there is an error already. */
async function pluginDoubts({ pluginDirs = [] }: ExaminedAgent): Promise<Doubt[]> {
  const doubts = await Promise.all(
    pluginDirs.map(async (folder, index) => {
      if (!existsSync(folder)) return [];
      const { problems } = await readPlugins([folder]);
      return problems.map(({ problem }) => ({
        path: ["pluginDirs", index],
        message: problem,
        hint: "Name a plugin, or a folder with skills in it.",
      }));
    }),
  );
  return doubts.flat();
}
