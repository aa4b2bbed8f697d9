/**
 * Looks at everything that Cortex needs, finds fault with it, and says what to do. Changes nothing; asks nothing of
 * other machines unless it is told how.
 */
import type { Feature } from "../feature/feature.ts";
import { FEATURES, toolNamesOf } from "../runtime/features.ts";
import { type Check, checkView, ok, warn, worst } from "../feature/check.ts";
import { checkConfig } from "./check-config.ts";
import { checkMachine } from "./check-machine.ts";
import { checkStore } from "./check-store.ts";

export type { Check };
export { applyChange, type Change, describeChange } from "../feature/changes.ts";

export interface DoctorOptions {
  readonly home: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Those that are asked for checks. */
  readonly features?: readonly Feature[];
  readonly nowMs: number;
  /** Of this Cortex. */
  readonly version: string;
  /** Undefined: none runs. */
  readonly server: { readonly version: string; readonly url?: string } | undefined;
  /** How the servers of models are asked for the list of their models, which is free. Undefined: they are not. */
  readonly request?: typeof fetch;
}

export interface Diagnosis {
  /** The worst of them. */
  readonly state: Check["state"];
  /** Whether nothing was found because of which Cortex would not start. */
  readonly canStart: boolean;
  readonly checks: readonly Check[];
}

/** In JSON. */
export function diagnosisView({ state, canStart, checks }: Diagnosis) {
  return { state, canStart, checks: checks.map(checkView) };
}

export async function examine(parts: DoctorOptions): Promise<Diagnosis> {
  const { home, environment = process.env, features = FEATURES, nowMs, request } = parts;
  const isServed = parts.server !== undefined;
  const machine = await checkMachine(home, process.versions.node);
  // On a home that cannot be one, there is nothing more to look at.
  const rest = machine.some(({ name, stopsStart }) => name === "home" && stopsStart)
    ? []
    : await Promise.all([
        checkConfig({ home, environment, features, toolNames: toolNamesOf(features), request, isServed }),
        checkStore(home, nowMs),
      ]);
  const checks = [...machine, ...rest.flat(), checkServer(parts)];
  return { state: worst(checks), canStart: !checks.some(({ stopsStart }) => stopsStart), checks };
}

function checkServer({ server, version }: DoctorOptions): Check {
  if (server === undefined) return ok("server", "none runs; `cortex up` starts one");
  const message = [server.url, `version ${server.version}`].filter(Boolean).join(", ");
  if (server.version === version) return ok("server", message);
  const hint = "Restart it: it still runs what was installed before.";
  return warn("server", `${message}, but this is ${version}`, hint);
}
