/** What agents may use of this machine: see `limits` of an agent and `quota` in the configuration. */
import type { Config } from "../config/config.ts";
import type { Bounds, ProgramWatch, ResourceLimits } from "../model/bounds.ts";
import { type Supervised, Supervisor } from "../programs/supervisor.ts";
import { Quotas, type QuotaUse } from "./quotas.ts";

export interface Boundaries {
  of(agent: { readonly id: string; readonly limits: ResourceLimits; readonly workspace: string }): Bounds;
  quotas(): Promise<readonly QuotaUse[]>;
  /** Follows a program of the owner's that has no limits, and ends what it leaves behind. */
  watch(): ProgramWatch;
  /** Kills what commands of an earlier process have left behind. Call it before any work starts. */
  endLeftovers(): Promise<void>;
}

const UNLIMITED: Supervised = {
  agent: "",
  limits: {
    memoryMb: Infinity,
    processes: Infinity,
    cpuSeconds: Infinity,
    openFiles: Infinity,
    fileMb: Infinity,
  },
  diskExceeded: async () => undefined,
  memoryFolders: [],
};

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
      watchCheck: () => supervisor.watch({ ...UNLIMITED, agent: id, limits }),
    }),
    watch: () => supervisor.watch(UNLIMITED),
    quotas: () => quotas.uses(),
    endLeftovers: () => supervisor.endLeftovers(ports.log),
  };
}
