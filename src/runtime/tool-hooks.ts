/** The tool hooks of an agent: those of the configuration first, then those of its plugins. */
import type { ToolHookCommand } from "../agents/tools/tool-hooks.ts";
import type { Config } from "../config/config.ts";
import { matches } from "../model/permissions.ts";
import { NO_TOOL_HOOKS, type ToolHooks } from "../model/tool-hook.ts";
import type { Setup } from "../personas/lookup.ts";
import { findPlugins } from "../personas/plugins.ts";
import { denyingPatterns } from "../personas/tool-patterns.ts";

interface ToolHookSources {
  readonly home: string;
  readonly config: () => Config;
  /** Looks one up that a hook names, in our environment or in `config/.env`. */
  readonly variable: (name: string) => string | undefined;
  readonly log: (line: string) => void;
}

/** Read anew for every run. The hooks of a plugin that cannot be read let no call through: they may be guards. */
export function createAgentToolHooks(sources: ToolHookSources): (setup: Setup) => ToolHooks {
  const { home, config, variable, log } = sources;
  return (setup) => {
    let opened: Promise<ToolHooks> | undefined;
    const open = (): Promise<ToolHooks> => (opened ??= openHooks(setup));
    return {
      before: async (call) => {
        try {
          return await (await open()).before(call);
        } catch (error) {
          opened = undefined;
          const reason = error instanceof Error ? error.message : String(error);
          log(reason);
          return { decision: "deny", reason, params: call.params, notes: [] };
        }
      },
      after: async (call, result) => (await open().catch(() => NO_TOOL_HOOKS)).after(call, result),
    };
  };

  async function openHooks({ agent }: Setup): Promise<ToolHooks> {
    const { toolHooks } = config();
    const { plugins } = await findPlugins(agent.pluginDirs);
    const folders = plugins.filter(({ hasHooks }) => hasHooks).map(({ folder }) => folder);
    if (toolHooks.length === 0 && folders.length === 0) return NO_TOOL_HOOKS;
    const [{ createToolHooks }, { readPluginHooks }] = await Promise.all([
      import("../agents/tools/tool-hooks.ts"),
      import("../agents/tools/plugin-hooks.ts"),
    ]);
    const configured = toolHooks.map(({ event, match, command, timeoutMs, env }, i): ToolHookCommand => ({
      name: `toolHooks[${i}]`,
      event,
      isFor: (tool) => matches(denyingPatterns([match]), tool),
      command,
      folder: home,
      timeoutMs,
      env,
      isGuard: true,
    }));
    const ofPlugins = (await Promise.all(folders.map(readPluginHooks))).flat();
    const commands = [...configured, ...ofPlugins];
    return createToolHooks(() => commands, { log, variable });
  }
}
