import type { OpenFeature } from "../feature/feature.ts";
import type { Ports } from "../feature/ports.ts";
import type { DelegationId } from "../model/ids.ts";
import { delegationParts } from "./assemble.ts";
import { childResult } from "./outcome.ts";
import { Reporter } from "./reporter.ts";

export function openDelegation(ports: Ports): OpenFeature {
  const { store } = ports;
  const reporter = new Reporter(delegationParts(ports));
  return {
    start: () => reporter.start(),
    /** The marks of the worker are the session's before its words are. */
    async readWait(detail) {
      const { delegation: id } = detail as { readonly delegation?: DelegationId };
      const delegation = id === undefined ? undefined : await store.delegations.get(id);
      if (delegation === undefined || delegation.state === "open") return undefined;
      if (delegation.reportedAtMs === undefined && delegation.state !== "cancelled")
        await store.delegations.report(delegation.id);
      return childResult(delegation, store);
    },
    [Symbol.asyncDispose]: () => reporter[Symbol.asyncDispose](),
  };
}
