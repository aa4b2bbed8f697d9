import { CortexError, errorText } from "../../model/errors.ts";
import { MINUTE_MS } from "../../model/durations.ts";
import type { ChannelModule, ChannelPorts, Finding } from "../channel.ts";
import { within } from "../../programs/run-group.ts";

/** How long a platform may take to answer all questions of a probe. */
const PROBE_MS = MINUTE_MS;

/** What a probe finds. That the platform refuses or does not answer is a finding too; `package_missing` is thrown. */
export async function probeAccount(
  module: Pick<ChannelModule, "name" | "settings" | "probe">,
  settings: unknown,
  ports: ChannelPorts,
): Promise<readonly Finding[]> {
  try {
    const parsed = module.settings.parse(settings);
    const findings = await within(module.probe(parsed, ports), PROBE_MS);
    if (typeof findings !== "string") return findings;
    return [{ name: "connection", state: "fail", message: `No answer within ${PROBE_MS / 1_000} s` }];
  } catch (error) {
    if (!(error instanceof CortexError))
      return [{ name: "connection", state: "fail", message: errorText(error) }];
    if (error.code === "package_missing") throw error;
    const name = error.code.startsWith("credentials_") ? "credentials" : "connection";
    return [{ name, state: "fail", message: error.message, hint: error.hint }];
  }
}

export function hasFailed(findings: readonly Finding[]): boolean {
  return findings.some(({ state }) => state === "fail");
}
