import { type CheckOptions, type CheckResult, checkSubAgent as check } from "../agents/process/check.ts";
import { passOn } from "../agents/process/pool.ts";

export { CHECK_LIMITS, type CheckResult } from "../agents/process/check.ts";

/** Finds out whether a program speaks the protocol, in the environment that sub-agents have. */
export function checkSubAgent({
  environment,
  ...options
}: Omit<CheckOptions, "environment"> & {
  readonly environment: Readonly<Record<string, string | undefined>>;
}): Promise<CheckResult[]> {
  return check({ ...options, environment: passOn(environment) });
}
