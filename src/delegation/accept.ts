/** Takes in what one agent writes to another, through the queue like every other message. */
import type { Settings } from "../config/settings.ts";
import { queueing } from "../intake/messages.ts";
import { AGENT_ADAPTER } from "../model/event.ts";
import type { QueueMode } from "../model/queue-mode.ts";
import type { Ports } from "../feature/ports.ts";
import type { Accepted, DispatchTarget, NewDispatch, NewEvent } from "../store/store.ts";

/** What agents need to give each other work and messages. */
export type DelegationPorts = Pick<
  Ports,
  "store" | "clock" | "mintId" | "slots" | "isJudged" | "onChainEnded"
> & { readonly settings: Pick<Settings, "config" | "profile"> };

/** Accepts an event and starts its turn if a slot is free. Without a dispatch, the event is only recorded. */
export function acceptFromAgent(
  event: NewEvent,
  dispatch: NewDispatch | undefined,
  { store, settings, slots, isJudged }: Pick<DelegationPorts, "store" | "settings" | "slots" | "isJudged">,
): Promise<Accepted> {
  return slots.withSlot(async (claim) => {
    const judge = isJudged("sent", event.channel);
    const { gatherMs } = settings.config().hooks;
    const result = await store.events.accept(event, {
      judge,
      ...(dispatch === undefined ? {} : { dispatch: judge ? { ...dispatch, gatherMs } : dispatch }),
      ...(dispatch === undefined || claim === undefined ? {} : { claim }),
    });
    return { result, claim: result.dispatched?.claim };
  });
}

/** How a message from an agent meets a busy session. */
export function queueingOfAgent(
  mode: QueueMode | undefined,
  target: DispatchTarget,
  { store, settings, clock }: Pick<DelegationPorts, "store" | "settings" | "clock">,
): ReturnType<typeof queueing> {
  const wishes = { mode, source: { channel: AGENT_ADAPTER }, sender: "agent" } as const;
  return queueing(wishes, target, { store, config: settings.config(), clock });
}
