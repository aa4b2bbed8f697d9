/** What delegating is given of the rest of Cortex. */
import type { DelegationParts } from "./parts.ts";
import type { ReporterParts } from "./reporter.ts";
import { deliveriesOf } from "../delivery/address.ts";
import { AGENT_ADAPTER } from "../model/event.ts";
import type { Broker } from "../queue/broker.ts";
import { markSession } from "../turns/mark-session.ts";
import { isByOthers, narrowedBy } from "../turns/untrusted.ts";
import { queueing, type SendParts } from "../intake/messages.ts";

export interface DelegationSources extends Pick<SendParts, "store" | "clock" | "mintId" | "checkProfile"> {
  readonly config: DelegationParts["config"];
  readonly broker: Pick<Broker, "withSlot">;
  /** Whether hooks are to judge what agents write to each other. */
  readonly isJudged: (channel: string) => boolean;
  readonly onChainEnded: DelegationParts["onChainEnded"];
  readonly log: (line: string) => void;
}

export function delegationParts(sources: DelegationSources): DelegationParts & ReporterParts {
  const { store, config, clock, broker, isJudged, log } = sources;
  return {
    ...sources,
    queueing: (mode, target) =>
      queueing({ mode, channel: AGENT_ADAPTER, sender: "agent" }, target, { store, config: config(), clock }),
    accept: (event, dispatch) =>
      broker.withSlot(async (claim) => {
        const judge = isJudged(event.channel);
        const { gatherMs } = config().hooks;
        const result = await store.events.accept(event, {
          judge,
          ...(dispatch === undefined ? {} : { dispatch: judge ? { ...dispatch, gatherMs } : dispatch }),
          ...(dispatch === undefined || claim === undefined ? {} : { claim }),
        });
        return { result, claim: result.dispatched?.claim };
      }),
    mark: (session, marks) => markSession(session, marks, store),
    narrowedBy,
    isByOthers,
    deliveryOf({ event, dispatches }, text, id) {
      const delivery = dispatches.find((dispatch) => dispatch.delivery !== undefined)?.delivery;
      return deliveriesOf({ text, source: event, delivery, mintId: () => id })[0];
    },
    withSlot: broker.withSlot.bind(broker),
    onProblem: (error) => log(`Outcomes of workers are told later: ${String(error)}`),
  };
}
