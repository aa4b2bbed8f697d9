/** The tool hooks of an agent: those in the configuration first, then those of its plugins. */
import type { ToolHookCommand } from "../agents/tools/tool-hooks.ts";
import { CortexError } from "../model/errors.ts";
import { matches } from "../model/permissions.ts";
import { NO_TOOL_HOOKS, type ToolHooks } from "../model/tool-hook.ts";
import type { Setup } from "../personas/lookup.ts";
import { canHaveHooks, trustedPlugins, whyNotTrusted } from "../personas/trusted-plugins.ts";
import { denyingPatterns } from "../personas/permissions.ts";
import type { TurnPorts } from "./turn-ports.ts";

type HookPorts = Pick<TurnPorts, "home" | "settings" | "agentFolders" | "log">;

/**
 * Read when the first call is judged. If the hooks of a plugin cannot be read, or are not as they were pinned, every call
 * is denied: they may be guards.
 */
export function agentToolHooks(setup: Setup, ports: HookPorts): ToolHooks {
  let opened: Promise<ToolHooks> | undefined;
  const open = (): Promise<ToolHooks> => (opened ??= openHooks(setup, ports));
  return {
    before: async (call) => {
      try {
        return await (await open()).before(call);
      } catch (error) {
        opened = undefined;
        const reason = error instanceof Error ? error.message : String(error);
        ports.log(error instanceof CortexError ? `${reason}. ${error.hint}` : reason);
        return { decision: "deny", reason, params: call.params, notes: [] };
      }
    },
    after: async (call, result) => (await open().catch(() => NO_TOOL_HOOKS)).after(call, result),
  };
}

async function openHooks(
  { agent }: Setup,
  { home, settings, agentFolders, log }: HookPorts,
): Promise<ToolHooks> {
  const config = settings.config();
  const { toolHooks } = config;
  const trust = { home, config, agentFolders, log };
  const { plugins, lostGuards } = await trustedPlugins(agent.pluginDirs, trust);
  if (lostGuards[0] !== undefined) throw lostGuards[0];
  const hooked = plugins.filter(({ files }) => canHaveHooks(files));
  if (toolHooks.length === 0 && hooked.length === 0) return NO_TOOL_HOOKS;
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
  const ofPlugins = hooked.map(({ folder, files }) =>
    readPluginHooks({ folder, files, refusal: () => whyNotTrusted(folder, trust) }),
  );
  const commands = [...configured, ...(await Promise.all(ofPlugins)).flat()];
  return createToolHooks(() => commands, { log, variable: settings.variable });
}
