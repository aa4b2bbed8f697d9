import { access } from "../access/feature.ts";
import type { ChannelModule } from "../channels/channel.ts";
import { channels } from "../channels/hub/feature.ts";
import { discord } from "../channels/discord/feature.ts";
import { files } from "../channels/files/feature.ts";
import { slack } from "../channels/slack/feature.ts";
import { telegram } from "../channels/telegram/feature.ts";
import { timer } from "../channels/timer/feature.ts";
import { webhook } from "../channels/webhook/feature.ts";
import { delegation } from "../delegation/feature.ts";
import type { AgentHome, Feature } from "../feature/feature.ts";
import { hooks } from "../hooks/feature.ts";
import { insight } from "../insight/feature.ts";
import { keep } from "../keep/feature.ts";
import { people } from "../people/feature.ts";
import type { AgentFolder } from "../personas/plugin-pins.ts";
import { plugins } from "../plugins/feature.ts";
import { relay } from "../relay/feature.ts";
import { search } from "../search/feature.ts";
import { team } from "../team/feature.ts";

/** The features of Cortex. One is opened after those it uses, and closed before them. */
export const FEATURES: readonly Feature[] = [
  search,
  delegation,
  relay,
  plugins,
  team,
  hooks,
  insight,
  keep,
  people,
  access,
  timer,
  files,
  webhook,
  channels,
  telegram,
  slack,
  discord,
];

const CORE_TOOLS = [
  "Read",
  "Write",
  "Edit",
  "Grep",
  "Glob",
  "List",
  "Stat",
  "Bash",
  "CodeExec",
  "WebFetch",
  "WebSearch",
  "Skill",
  "AskUser",
  "message",
  "attach",
];

/** The names of all tools that an agent can have. */
export const TOOL_NAMES: readonly string[] = toolNamesOf(FEATURES);

/** The tools of the core and of these features, by name: a configuration is checked without loading them. */
export function toolNamesOf(features: readonly Feature[]): readonly string[] {
  return [...CORE_TOOLS, ...features.flatMap(({ toolNames = [] }) => toolNames)];
}

/** The chat channels of these features, by name, each loaded on use. */
export function channelModulesOf(
  features: readonly Feature[],
): ReadonlyMap<string, () => Promise<ChannelModule>> {
  return new Map(features.flatMap(({ name, channel }) => (channel === undefined ? [] : [[name, channel]])));
}

export async function agentFoldersOf(
  features: readonly Feature[],
  home: AgentHome,
): Promise<readonly AgentFolder[]> {
  const folders = await Promise.all(features.flatMap(({ agentFolders }) => agentFolders?.(home) ?? []));
  return folders.flat();
}
