/**
 * Who runs a turn: a backend of this process or, for a worker with a process of its own, that process. Nothing of
 * processes is loaded before the first one is needed, or is to be cleared away after a crash.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Agent } from "../../agents/agent.ts";
import type { ProcessPool } from "../../agents/process/pool.ts";
import type { Profile } from "../../model/profile.ts";
import { namedVariables } from "../../programs/environment.ts";
import type { WorkerWork } from "../../turns/turn-ports.ts";
import type { Settings } from "../../config/settings.ts";

export interface SubAgentParts {
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly settings: Pick<Settings, "config" | "variable">;
  readonly clock: () => number;
  readonly mintId: () => string;
  readonly backendFor: (profile: Profile) => Promise<Agent>;
  readonly log: (line: string) => void;
}

export interface SubAgents extends AsyncDisposable {
  agentFor(profile: Profile, work: WorkerWork): Promise<Agent>;
}

/** The program that is started for a child of ours. */
const PROGRAM = fileURLToPath(new URL("../../../bin/cortex.js", import.meta.url));

export function openSubAgents(parts: SubAgentParts): SubAgents {
  const { home, settings, clock, mintId, backendFor, log } = parts;
  const strayFile = join(home, "data", "sub-agents.json");
  let pool: Promise<ProcessPool> | undefined;
  const usePool = (): Promise<ProcessPool> => (pool ??= openPool(strayFile, parts));
  if (existsSync(strayFile)) {
    usePool().catch((error: unknown) => log(`Processes of sub-agents were not looked for: ${String(error)}`));
  }
  return {
    async agentFor(profile, { worker, parentSession, folders }) {
      const inner = await backendFor(profile);
      if (worker?.process === undefined) return inner;
      const {
        type,
        maxTurns,
        process: { command },
      } = worker;
      const [{ createProcessAgent }, opened] = await Promise.all([
        import("../../agents/process/process-agent.ts"),
        usePool(),
      ]);
      const names = (type === undefined ? undefined : settings.config().subAgents.types[type]?.env) ?? [];
      const variables = command === undefined ? {} : namedVariables({ names, variable: settings.variable });
      return createProcessAgent({
        pool: opened,
        clock,
        mintId,
        inner,
        credentials: (wanted) => credentialsOf(wanted, settings.variable),
        worker: { type, parentSession, maxTurns, command, variables, folder: folders.workspace },
        silenceMs: settings.config().subAgents.silenceMs,
      });
    },
    async [Symbol.asyncDispose]() {
      await (await pool?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}

async function openPool(
  strayFile: string,
  { home, environment, settings, log }: SubAgentParts,
): Promise<ProcessPool> {
  const { ProcessPool } = await import("../../agents/process/pool.ts");
  return new ProcessPool({
    program: process.execPath,
    args: [PROGRAM, "sub-agent", "run"],
    folder: home,
    environment,
    maxProcesses: () => settings.config().broker.maxProcesses,
    warm: () => settings.config().subAgents.warm,
    warmMs: () => settings.config().subAgents.warmMs,
    strayFile,
    log,
  });
}

/** The variables that a profile's backend asks for, and no others. What is missing is the child's to report. */
async function credentialsOf(
  profile: Profile,
  variable: (name: string) => string | undefined,
): Promise<Record<string, string>> {
  if (profile.backend !== "pi") return {};
  const { findCredentials, openBackend } = await import("../../agents/pi/provider.ts");
  const found: Record<string, string> = {};
  const noting = (name: string): string | undefined => {
    const value = variable(name);
    if (value !== undefined) found[name] = value;
    return value;
  };
  await findCredentials(profile, await openBackend(profile), noting);
  return found;
}
