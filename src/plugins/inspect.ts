/** The plugins of a home, as commands and the doctor show them. */
import { stat } from "node:fs/promises";

import { channelPlugins } from "../config/channel-accounts.ts";
import { pluginPath } from "../config/channel-plugins.ts";
import type { Config } from "../config/config.ts";
import { readConfigured } from "../config/configured.ts";
import type { CheckedHome } from "../feature/feature.ts";
import { CortexError } from "../model/errors.ts";
import type { FolderChanges } from "../model/folder-hash.ts";
import { pluginFolder, pluginName, type PluginTrust, readPins, statePin } from "../personas/plugin-pins.ts";
import { readRelays } from "../relay/templates/read-home.ts";

export interface PluginView {
  /** Relative to the home where it is inside. */
  readonly folder: string;
  /**
   * new: it is pinned when it is first used. unpinned: agents can write to it, so it is not. missing: there is no such
   * folder. refused: it cannot be pinned.
   */
  readonly state: "pinned" | "changed" | "new" | "unpinned" | "missing" | "refused";
  /** Of its content now. */
  readonly sha256: string | null;
  readonly pinnedAt: string | null;
  readonly pinnedBy: "first use" | "owner" | null;
  readonly changes: FolderChanges | null;
  readonly problem: string | null;
  /** The agents that name it; those of relays with their template. */
  readonly agents: readonly string[];
}

type Source = Pick<CheckedHome, "home" | "environment" | "toolNames" | "agentFolders">;

/** All that agents name and all that are pinned, by folder. Throws `config_invalid`. */
export async function inspectPlugins(source: Source): Promise<PluginView[]> {
  const { home, agentFolders } = source;
  const [{ config }, pins] = await Promise.all([readConfigured(source), readPins(home)]);
  const users = await usersOf(config, source);
  for (const name of pins.keys()) {
    const folder = pluginFolder(name, home);
    if (!users.has(folder) && !isOfChannel(folder, config, home)) users.set(folder, []);
  }
  const folders = [...users.keys()].toSorted();
  return Promise.all(
    folders.map(async (folder): Promise<PluginView> =>
      Object.assign(
        { folder: pluginName(folder, home), agents: users.get(folder)! },
        await inspect(folder, { home, config, agentFolders }),
      ),
    ),
  );
}

/** `cortex channels pin` is about those, and the configuration has their hash. */
function isOfChannel(folder: string, config: Config, home: string): boolean {
  const uses = Object.values(channelPlugins(config)).map(({ use }) => use);
  return uses.some((use) => (pluginPath(use, home) ?? folder) === folder);
}

type Inspected = Omit<PluginView, "folder" | "agents">;

const NOTHING: Inspected = {
  state: "missing",
  sha256: null,
  pinnedAt: null,
  pinnedBy: null,
  changes: null,
  problem: null,
};

async function inspect(folder: string, trust: PluginTrust): Promise<Inspected> {
  if ((await stat(folder).catch(() => undefined))?.isDirectory() !== true)
    return { ...NOTHING, problem: "no such folder" };
  try {
    const found = await statePin(folder, trust);
    const known = { ...NOTHING, sha256: found.hash.sha256 };
    switch (found.kind) {
      case "new":
        return { ...known, state: "new" };
      case "exposed":
        return { ...known, state: "unpinned", problem: `agents can write to it: ${found.to}` };
      case "pinned":
      case "changed": {
        const { pinnedAt, by: pinnedBy } = found.pin;
        const changes = found.kind === "changed" ? found.changes : null;
        return { ...known, state: found.kind, pinnedAt, pinnedBy, changes };
      }
    }
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    return { ...NOTHING, state: "refused", problem: error.message };
  }
}

async function usersOf(config: Config, source: Source): Promise<Map<string, string[]>> {
  const { agents, templates } = await readRelays(source);
  const named: readonly (readonly [user: string, folders: readonly string[]])[] = [
    ...Object.entries(config.agents).map(([id, { pluginDirs }]) => [id, pluginDirs] as const),
    ...[...agents].map(([name, { pluginDirs }]) => [`relay:${name}`, pluginDirs] as const),
    ...[...templates].flatMap(([template, { agents: own }]) =>
      own.map(({ name, pluginDirs }) => [`${template}:${name}`, pluginDirs] as const),
    ),
  ];
  const users = new Map<string, string[]>();
  for (const [user, folders] of named)
    for (const folder of new Set(folders)) users.set(folder, [...(users.get(folder) ?? []), user]);
  return users;
}
