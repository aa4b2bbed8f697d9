/** Reads the relay agents and templates of a home, with or without a running server. */
import { existsSync } from "node:fs";

import type { Config } from "../../config/config.ts";
import { readConfigured } from "../../config/configured.ts";
import { configFolder } from "../../config/read.ts";
import type { CheckedHome } from "../../feature/feature.ts";
import { unknownTools } from "../../personas/check-agents.ts";
import type { PluginTrust } from "../../personas/plugin-pins.ts";
import { readPlugins } from "../../personas/skills.ts";
import { type AgentWarning, type ExaminedAgent, readRelayConfig } from "./read.ts";
import type { RelayConfig } from "./snapshot.ts";

/** Throws `config_invalid` if the settings of the home are invalid. Problems with relays are in the result. */
export async function readRelays(sources: CheckedHome): Promise<RelayConfig> {
  const { config, variable } = await readConfigured(sources);
  const { home, agentFolders } = sources;
  const user = variable("HOME") ?? variable("USERPROFILE");
  const folders = { home, config: configFolder(home), user };
  return readRelayConfig(folders, {
    profiles: Object.keys(config.profiles),
    examine: async (agent) => [
      ...checkTools(agent, sources.toolNames),
      ...checkIgnoredFields(agent, config),
      ...(await checkPlugins(agent, { home, config, agentFolders })),
    ],
  });
}

/** `Read,Grep` or a list. */
function checkTools({ tools }: ExaminedAgent, toolNames: readonly string[]): AgentWarning[] {
  const isText = typeof tools === "string";
  const listed: readonly unknown[] = isText ? tools.split(",") : Array.isArray(tools) ? tools : [];
  const names = listed.map((name) => (typeof name === "string" ? name.trim() : ""));
  return unknownTools(names, toolNames).map(({ index, message, hint }) => ({
    path: isText ? ["tools"] : ["tools", index],
    message,
    hint,
  }));
}

function checkIgnoredFields(agent: ExaminedAgent, { profiles }: Config): AgentWarning[] {
  const backend = agent.profile === undefined ? undefined : profiles[agent.profile]?.backend;
  const why =
    backend === undefined ? "no backend of this version uses it" : `backend "${backend}" does not use it`;
  return (["claudeAgent", "outputStyle"] as const)
    .filter((field) => agent[field] !== undefined)
    .map((field) => ({
      path: [field],
      message: `ignored because ${why}`,
      hint: "It is for the backend claude, which is not available in this version.",
    }));
}

/** A missing folder is an error already. */
async function checkPlugins({ pluginDirs = [] }: ExaminedAgent, trust: PluginTrust): Promise<AgentWarning[]> {
  const warnings = await Promise.all(
    pluginDirs.map(async (folder, index) => {
      if (!existsSync(folder)) return [];
      const { problems } = await readPlugins([folder], trust);
      return problems.map(({ problem, hint = "Name a plugin, or a folder with skills." }) => ({
        path: ["pluginDirs", index],
        message: problem,
        hint,
      }));
    }),
  );
  return warnings.flat();
}
