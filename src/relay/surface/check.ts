/** Doctor checks of relay templates, and of plugins that no agent or template uses. */
import { join, relative } from "node:path";

import type { Config } from "../../config/config.ts";
import { readConfigured } from "../../config/configured.ts";
import { type Check, fail, ok, warn } from "../../feature/check.ts";
import type { CheckedHome } from "../../feature/feature.ts";
import { count } from "../../model/count.ts";
import { findPlugins } from "../../personas/plugins.ts";
import { foldersIn } from "../../personas/read-inside.ts";
import { readRelays } from "../templates/read-home.ts";
import type { RelayConfig } from "../templates/snapshot.ts";

export async function checkRelays(checked: CheckedHome): Promise<Check[]> {
  const [{ config }, relays] = await Promise.all([readConfigured(checked), readRelays(checked)]);
  return [...checkTemplates(relays), ...(await checkUnusedPlugins(checked.home, config, relays))];
}

/** No output for a home without templates. */
function checkTemplates({ templates, problems, warnings }: RelayConfig): Check[] {
  const [first] = problems;
  if (first === undefined && warnings.length > 0)
    return warnings.map(({ source, path, message, hint }) =>
      warn("relays", `${source} ${path}: ${message}`, hint),
    );
  if (first === undefined)
    return templates.size === 0 ? [] : [ok("relays", count(templates.size, "valid template"))];
  const message = `${problems.length === 1 ? "a problem" : `${problems.length} problems`} in templates: ${first.source} ${first.path}: ${first.message}`;
  return [fail("relays", message, "`cortex relay validate` lists all problems with hints.")];
}

/** A plugin in `plugins/` is only loaded if an agent names it; until then its hooks guard nothing. */
async function checkUnusedPlugins(home: string, { agents }: Config, relays: RelayConfig): Promise<Check[]> {
  const ofTemplates = [...relays.templates.values()].flatMap((template) => template.agents);
  const users = [...Object.values(agents), ...relays.agents.values(), ...ofTemplates];
  const named = new Set(users.flatMap(({ pluginDirs }) => pluginDirs));
  const folder = join(home, "plugins");
  const unnamed = (await foldersIn(folder))
    .map((name) => join(folder, name))
    .filter((path) => !named.has(path));
  const { plugins } = await findPlugins(unnamed);
  return plugins
    .filter(({ hasHooks, skillFolders }) => hasHooks || skillFolders.length > 0)
    .map((plugin) =>
      warn(
        "plugins",
        `${relative(home, plugin.folder)} is not loaded: no agent names it`,
        "Add it to pluginDirs of the agents that need it, in config/cortex.json or in a relay template.",
      ),
    );
}
