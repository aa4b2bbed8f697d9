/** What a session that another one, a relay or a team has opened changes for its agent. */
import type { Config } from "../config/config.ts";
import type { AgentId, PersonaId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Worker } from "../model/worker.ts";
import { agentFor, lookUp, type Setup } from "../personas/lookup.ts";

/** Who runs the turns of a session, as far as that is not said with the worker. */
export function setupOf(
  config: Config,
  { agent, persona }: { readonly agent: AgentId; readonly persona: PersonaId },
  worker: Worker | undefined,
): Setup {
  if (worker?.workspace === undefined) return lookUp(config, agent, persona);
  const { workspace, roots = [], tools = [] } = worker;
  const setup = agentFor(config, agent, { startedBy: persona, folder: workspace });
  const { permissions } = setup.persona;
  const open = [...new Set([...permissions.roots, ...roots])];
  const allowed = { ...permissions.tools, allow: [...permissions.tools.allow, ...tools] };
  return {
    ...setup,
    agent: { ...setup.agent, workspace, tools: [...setup.agent.tools, ...tools] },
    persona: { ...setup.persona, permissions: { ...permissions, roots: open, tools: allowed } },
  };
}

/** The agent as it works there: as a worker, within the limits that it was given. */
export function asWorker(setup: Setup, worker: Worker | undefined): Setup {
  if (worker === undefined) return setup;
  const { limits, pluginDirs } = setup.agent;
  const { maxTurns = Infinity, costUsd = Infinity, systemPrompt, role = "worker" } = worker;
  return {
    ...setup,
    agent: {
      ...setup.agent,
      role,
      ...(role === "worker" ? { memory: false } : {}), // what a worker needs is in its task
      limits: {
        ...limits,
        modelCalls: Math.min(limits.modelCalls, maxTurns),
        costUsd: Math.min(limits.costUsd, costUsd),
      },
      pluginDirs: worker.pluginDirs ?? pluginDirs,
      ...(systemPrompt === undefined ? {} : { systemPrompt }),
    },
  };
}

/** Whether it has a tool, as far as that is not a matter of permissions. */
export function hasTool(
  worker: Worker | undefined,
  { name, isReserved }: { readonly name: string; readonly isReserved?: true | undefined },
): boolean {
  return isReserved !== true || worker?.tools?.includes(name) === true;
}

/** What it may do there at most, whoever writes to it. */
export function narrowedAs(worker: Worker | undefined): Json[] {
  return worker === undefined ? [] : [worker.permissions];
}
