/**
 * What runs in the process of a sub-agent. Until `ready` is said, nothing is loaded but the protocol: each import
 * at the top is part of every start.
 */
import type { Readable, Writable } from "node:stream";

import type { Model } from "../../agents/agent.ts";
import { type NamedProfile, runChild } from "../../agents/process/run-child.ts";
import { CortexError } from "../../model/errors.ts";
import { ACTIVE_PROFILE, type Profile } from "../../model/profile.ts";

interface SubAgentProcess {
  readonly input: Readable;
  readonly output: Writable;
  /** The home in which named profiles are looked up. */
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Resolves when the parent closes its end, even during work. False: the parent violated the protocol. */
export function runSubAgent({ home, environment, ...streams }: SubAgentProcess): Promise<boolean> {
  const findProfile = (name: string): Promise<NamedProfile> => findConfigured(name, { home, environment });
  return runChild({ ...streams, clock: Date.now, openModel, findProfile });
}

async function findConfigured(
  name: string,
  sources: Pick<SubAgentProcess, "home" | "environment">,
): Promise<NamedProfile> {
  const [{ readConfigured }, { profile }] = await Promise.all([
    import("../../config/configured.ts"),
    import("../../config/config.ts"),
  ]);
  const { config, variable, model } = await readConfigured(sources);
  if (name === ACTIVE_PROFILE) return { profile: (await model()).profile, environment: variable };
  return { profile: profile(config, name), environment: variable };
}

async function openModel(
  { name, backend }: Profile,
  environment: (name: string) => string | undefined,
): Promise<Model> {
  switch (backend) {
    case "pi": {
      const { createPiModel } = await import("../../agents/pi/pi-model.ts");
      return createPiModel({ environment, clock: Date.now });
    }
    case "offline": {
      const [{ createOfflineModel }, { setTimeout: sleep }] = await Promise.all([
        import("../../agents/offline/offline-model.ts"),
        import("node:timers/promises"),
      ]);
      return createOfflineModel({
        search: async () => [], // the ledger is the parent's
        delay: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
      });
    }
    default: // it came by the protocol
      throw new CortexError(
        "model_unconfigured",
        `Backend "${backend as string}" of profile "${name}" is not available`,
        {
          hint: "Sub-agents support the backends pi and offline.",
        },
      );
  }
}
