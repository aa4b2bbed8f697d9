/** What agents may use of this machine: see `limits` of an agent and `quota` in the configuration. */
import type { Config } from "../config/config.ts";
import type { Bounds, ResourceLimits } from "../model/bounds.ts";
import { Supervisor } from "../programs/supervisor.ts";
import { Quotas, type QuotaUse } from "./quotas.ts";

export interface Boundaries {
  of(agent: { readonly id: string; readonly limits: ResourceLimits; readonly workspace: string }): Bounds;
  quotas(): Promise<readonly QuotaUse[]>;
  /** Kills what commands of an earlier process have left behind. Call it before any work starts. */
  endLeftovers(): Promise<void>;
}

export function openBounds(ports: {
  readonly home: string;
  readonly config: () => Config;
  readonly log: (line: string) => void;
}): Boundaries {
  const supervisor = new Supervisor(ports.home);
  const quotas = new Quotas(ports);
  return {
    of: ({ id, limits, workspace }) => ({
      limits,
      checkDisk: () => quotas.check(workspace),
      watch: (memoryFolders = []) =>
        supervisor.watch({
          agent: id,
          limits,
          diskExceeded: () => quotas.exceeded(workspace),
          memoryFolders,
        }),
    }),
    quotas: () => quotas.uses(),
    endLeftovers: () => supervisor.endLeftovers(ports.log),
  };
}
