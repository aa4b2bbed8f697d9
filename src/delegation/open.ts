import type { OpenFeature } from "../feature/feature.ts";
import type { Ports } from "../feature/ports.ts";
import type { DelegationId } from "../model/ids.ts";
import { readTrust } from "../model/trust.ts";
import { childResult } from "./outcome.ts";
import { Reporter } from "./reporter.ts";
import { openSubAgents } from "./sub-agents/open-sub-agents.ts";

/** Runs sub-agents, reports outcomes, and reads the outcome that a suspended call waits for. */
export function openDelegation(ports: Ports): OpenFeature {
  const { store } = ports;
  const reporter = new Reporter(ports);
  return {
    ...openSubAgents(ports),
    start: () => reporter.start(),
    async readWait(detail) {
      const { delegation: id } = detail as { readonly delegation?: DelegationId };
      const delegation = id === undefined ? undefined : await store.delegations.get(id);
      if (delegation === undefined || delegation.state === "open") return undefined;
      if (delegation.reportedAtMs === undefined && delegation.state !== "cancelled")
        await store.delegations.report(delegation.id);
      const [result, worker] = await Promise.all([
        childResult(delegation, store),
        store.sessions.get(delegation.session),
      ]);
      return result && { ...result, label: readTrust(worker?.settings ?? {}) };
    },
    [Symbol.asyncDispose]: () => reporter[Symbol.asyncDispose](),
  };
}
