import { type CheckOptions, type CheckResult, checkProtocol } from "../../agents/process/check.ts";
import { ownEnvironment, type Variables } from "../../programs/environment.ts";

export { CHECK_LIMITS, type CheckResult } from "../../agents/process/check.ts";

/** Finds out whether a program speaks the protocol, in the environment that sub-agents have. */
export function checkSubAgent({
  environment,
  ...options
}: Omit<CheckOptions, "environment"> & {
  readonly environment: Variables;
}): Promise<CheckResult[]> {
  return checkProtocol({ ...options, environment: ownEnvironment(environment) });
}
