/** What delegating is given of the rest of Cortex. */
import type { DelegationParts } from "./parts.ts";
import type { ReporterParts } from "./reporter.ts";
import { deliveriesOf } from "../delivery/address.ts";
import { AGENT_ADAPTER } from "../model/event.ts";
import type { Ports } from "../feature/ports.ts";
import { markSession } from "../turns/mark-session.ts";
import { isByOthers, narrowedBy } from "../turns/untrusted.ts";
import { queueing } from "../intake/messages.ts";

/** What delegating uses of a running Cortex. */
export type DelegationPorts = Pick<
  Ports,
  "store" | "settings" | "clock" | "mintId" | "slots" | "isJudged" | "onChainEnded" | "log"
>;

export function delegationParts(ports: DelegationPorts): DelegationParts & ReporterParts {
  const { store, settings, clock, slots, log } = ports;
  const config = () => settings.config();
  return {
    ...ports,
    config,
    checkProfile: (name) => void settings.profile(name),
    queueing: (mode, target) =>
      queueing({ mode, channel: AGENT_ADAPTER, sender: "agent" }, target, { store, config: config(), clock }),
    accept: (event, dispatch) =>
      slots.withSlot(async (claim) => {
        const judge = ports.isJudged("sent", event.channel);
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
    withSlot: slots.withSlot.bind(slots),
    onProblem: (error) => log(`Outcomes of workers are told later: ${String(error)}`),
  };
}
