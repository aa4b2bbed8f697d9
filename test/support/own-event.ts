/** Takes in an event as one of Cortex's own ways in does, whose adapters nobody else can use. */
import { type Incoming, toOwnEvent } from "../../src/events/incoming.ts";
import type { EventId } from "../../src/model/ids.ts";
import { principalOfEvent } from "../../src/personas/authority.ts";
import type { Cortex } from "../../src/runtime/cortex.ts";

export async function acceptOwn(
  { store, hooks }: Pick<Cortex, "store" | "hooks">,
  incoming: Incoming,
): Promise<{ readonly event: EventId; readonly fresh: boolean }> {
  const event = toOwnEvent(incoming);
  const principal = await principalOfEvent(event, store.people);
  const accepted = { ...event, principal };
  const { fresh } = await store.events.accept(accepted, {
    judge: hooks.wants(event.direction, event.channel),
  });
  return { event: event.id, fresh };
}
