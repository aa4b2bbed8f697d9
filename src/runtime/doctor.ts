/** Looks at everything that Cortex needs, finds fault with it, and says what to do. Sends nothing anywhere. */
import { type Check, ok, warn, worst } from "./doctor-check.ts";
import { checkConfig } from "./doctor-config.ts";
import { checkMachine } from "./doctor-machine.ts";
import { checkStore } from "./doctor-store.ts";

export type { Check };

export interface DoctorParts {
  readonly home: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly nowMs: number;
  /** Of this Cortex. */
  readonly version: string;
  /** Undefined: none runs. */
  readonly server: { readonly version: string; readonly url?: string } | undefined;
}

export interface Diagnosis {
  /** The worst of them. */
  readonly state: Check["state"];
  readonly checks: readonly Check[];
}

export async function examine(parts: DoctorParts): Promise<Diagnosis> {
  const { home, environment = process.env, nowMs } = parts;
  const all = await Promise.all([
    checkMachine(home, process.versions.node),
    checkConfig({ home, environment }),
    checkStore(home, nowMs),
  ]);
  const checks = [...all.flat(), checkServer(parts)];
  return { state: worst(checks), checks };
}

function checkServer({ server, version }: DoctorParts): Check {
  if (server === undefined) return ok("server", "none runs; `cortex up` starts one");
  const message = [server.url, `version ${server.version}`].filter(Boolean).join(", ");
  if (server.version === version) return ok("server", message);
  const hint = "Restart it: it still runs what was installed before.";
  return warn("server", `${message}, but this is ${version}`, hint);
}
