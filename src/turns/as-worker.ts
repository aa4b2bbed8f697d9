/** What a session that another one has opened changes for its agent. */
import type { Json } from "../model/json.ts";
import type { Worker } from "../model/worker.ts";
import type { Setup } from "../personas/lookup.ts";

/** The agent as it works there: as a worker, within the limits that it was given. */
export function asWorker(setup: Setup, worker: Worker | undefined): Setup {
  if (worker === undefined) return setup;
  const { limits } = setup.agent;
  const { maxTurns = Infinity, systemPrompt } = worker;
  return {
    ...setup,
    agent: {
      ...setup.agent,
      role: "worker",
      memory: false, // what it needs is in its task
      limits: { ...limits, modelCalls: Math.min(limits.modelCalls, maxTurns) },
      ...(systemPrompt === undefined ? {} : { systemPrompt }),
    },
  };
}

/** What it may do there at most, whoever writes to it. */
export function narrowedAs(worker: Worker | undefined): Json[] {
  return worker === undefined ? [] : [worker.permissions];
}
