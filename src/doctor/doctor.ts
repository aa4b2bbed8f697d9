/**
 * Checks everything that Cortex needs and suggests fixes. Changes nothing, and contacts no other machine without
 * `request`.
 */
import type { Feature } from "../feature/feature.ts";
import { agentFoldersOf, FEATURES, toolNamesOf } from "../runtime/features.ts";
import { type Check, checkView, ok, warn, worst } from "../feature/check.ts";
import { checkConfig } from "./check-config.ts";
import { checkDependencies } from "./check-dependencies.ts";
import { checkMachine } from "./check-machine.ts";
import { checkStore } from "./check-store.ts";

export type { Check };
export { applyChange, type Change, describeChange } from "../feature/changes.ts";

export interface DoctorOptions {
  readonly home: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The features whose checks are included. */
  readonly features?: readonly Feature[];
  readonly nowMs: number;
  /** The version of this program. */
  readonly version: string;
  /** Undefined: not running. */
  readonly server: { readonly version: string; readonly url?: string } | undefined;
  /** Used to list the models of model servers, which is free. Undefined: they are not contacted. */
  readonly request?: typeof fetch;
  /** Whether npm asks its registry about the dependencies. */
  readonly dependencies?: boolean;
}

export interface Diagnosis {
  /** The worst state of all checks. */
  readonly state: Check["state"];
  /** Whether no failure prevents a start. */
  readonly canStart: boolean;
  readonly checks: readonly Check[];
}

/** The diagnosis as JSON. */
export function diagnosisView({ state, canStart, checks }: Diagnosis) {
  return { state, canStart, checks: checks.map(checkView) };
}

export async function examine(parts: DoctorOptions): Promise<Diagnosis> {
  const { home, environment = process.env, features = FEATURES, nowMs, request } = parts;
  const isServed = parts.server !== undefined;
  const machine = await checkMachine(home, process.versions.node);
  // If the home is unusable, nothing else can be checked.
  const rest = machine.some(({ name, stopsStart }) => name === "home" && stopsStart)
    ? []
    : await Promise.all([
        checkConfig({
          home,
          environment,
          features,
          toolNames: toolNamesOf(features),
          agentFolders: () => agentFoldersOf(features, { home, environment }),
          request,
          isServed,
        }),
        checkStore(home, nowMs),
        parts.dependencies === true ? checkDependencies({ environment }) : [],
      ]);
  const checks = [...machine, ...rest.flat(), checkServer(parts)];
  return { state: worst(checks), canStart: !checks.some(({ stopsStart }) => stopsStart), checks };
}

function checkServer({ server, version }: DoctorOptions): Check {
  if (server === undefined) return ok("server", "not running; start it with `cortex up`");
  const message = [server.url, `version ${server.version}`].filter(Boolean).join(", ");
  if (server.version === version) return ok("server", message);
  const hint = "Restart the server to run the installed version.";
  return warn("server", `${message}, but version ${version} is installed`, hint);
}
