/**
 * Runs the turns of workers that have a process. Nothing of processes is loaded before the first one is needed, or
 * before one that a crash left behind must be ended.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Agent } from "../../agents/agent.ts";
import type { ProcessPool } from "../../agents/process/pool.ts";
import type { Profile } from "../../model/profile.ts";
import { CortexError } from "../../model/errors.ts";
import { ownFile } from "../../model/own-files.ts";
import { declared, UNDECLARED } from "../../model/trust.ts";
import { namedVariables } from "../../programs/environment.ts";
import { type CodeMode, REFUSALS } from "../../turns/gate.ts";
import { labelSession } from "../../turns/setup.ts";
import type { WorkerWork } from "../../turns/turn-ports.ts";
import type { OpenFeature } from "../../feature/feature.ts";
import type { Ports } from "../../feature/ports.ts";
import type { Worker } from "../../model/worker.ts";

/** The program of Cortex's own sub-agents. */
const PROGRAM = fileURLToPath(ownFile("bin/cortex.js"));

export function openSubAgents(ports: Ports): Required<Pick<OpenFeature, "agentFor" | "turnsEnded">> {
  const { home, log } = ports;
  const strayFile = join(home, "data", "sub-agents.json");
  let pool: Promise<ProcessPool> | undefined;
  const usePool = (): Promise<ProcessPool> => (pool ??= openPool(strayFile, ports));
  if (existsSync(strayFile)) {
    usePool().catch((error: unknown) => log(`Cannot kill stray sub-agent processes: ${String(error)}`));
  }
  return {
    agentFor(profile, work) {
      const { process } = work.worker ?? {};
      if (process === undefined) return undefined;
      return openAgent({ profile, work, process, pool: usePool() }, ports);
    },
    async turnsEnded() {
      await (await pool?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}

async function openAgent(
  { profile, work, process: { command }, pool }: WorkerProcess,
  { settings, clock, mintId, agentFor, store }: Ports,
): Promise<Agent> {
  const { type, maxTurns } = work.worker ?? {};
  if (command !== undefined) {
    refuseProgram(work.codeMode);
    await labelSession(work.session, [{ label: FREE, origin: { turn: work.turn } }], store);
  }
  const [{ createProcessAgent }, opened, inner] = await Promise.all([
    import("../../agents/process/process-agent.ts"),
    pool,
    agentFor(profile),
  ]);
  const { types, silenceMs } = settings.config().subAgents;
  const names = (type === undefined ? undefined : types[type]?.env) ?? [];
  const variables = command === undefined ? {} : namedVariables({ names, variable: settings.variable });
  return createProcessAgent({
    pool: opened,
    clock,
    mintId,
    inner,
    credentials: (wanted) => credentialsOf(wanted, settings.variable),
    worker: {
      type,
      parentSession: work.parentSession,
      maxTurns,
      command,
      variables,
      workspace: work.folders.workspace,
    },
    silenceMs,
  });
}

/** A program can read and send whatever it likes, and quote it in any call and answer. */
const FREE = declared("sub_agent", UNDECLARED);

/** Its caller was judged when it called; others may have written to the worker since. */
function refuseProgram(mode: CodeMode): void {
  const refusal = REFUSALS[mode];
  if (refusal === undefined) return;
  throw new CortexError(
    "sub_agent_failed",
    `The sub-agent is a program, and it was not started. ${refusal}`,
    {
      hint: "Use a type without a `command`, or see docs/sandbox.md.",
    },
  );
}

interface WorkerProcess {
  readonly profile: Profile;
  readonly work: WorkerWork;
  readonly process: NonNullable<Worker["process"]>;
  readonly pool: Promise<ProcessPool>;
}

async function openPool(
  strayFile: string,
  { home, environment, settings, log, watchProgram }: Ports,
): Promise<ProcessPool> {
  const { ProcessPool } = await import("../../agents/process/pool.ts");
  return new ProcessPool({
    program: process.execPath,
    args: [PROGRAM, "sub-agent", "run"],
    folder: home,
    watch: watchProgram,
    environment,
    maxProcesses: () => settings.config().broker.maxProcesses,
    warm: () => settings.config().subAgents.warm,
    warmMs: () => settings.config().subAgents.warmMs,
    strayFile,
    log,
  });
}

/** Only the variables that a profile's backend asks for. The child reports missing ones. */
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
