/** Tells the owner of a chain of events that was ended, once for each chain. */
import { deliveriesOf } from "../delivery/address.ts";
import type { DeliveryId, EventId } from "../model/ids.ts";
import { deriveUlid } from "../model/ulid.ts";
import type { Intake } from "./intake.ts";

/** How many chains are remembered: of more than these, the log may say the same twice. */
const MAX_TOLD = 1_000;

export function createChainNotices(
  intake: Pick<Intake, "store" | "settings" | "log">,
): (event: EventId, by: string) => Promise<void> {
  const told = new Set<EventId>();
  return async (event, by) => {
    try {
      await tell(event, by, told, intake);
    } catch (error) {
      intake.log(`Cannot notify the owner of a stopped event chain: ${String(error)}`);
    }
  };
}

async function tell(
  event: EventId,
  by: string,
  told: Set<EventId>,
  { store, settings, log }: Pick<Intake, "store" | "settings" | "log">,
): Promise<void> {
  const chain = await store.events.chain(event);
  const root = chain.at(-1)?.id ?? event;
  if (told.has(root)) return;
  if (told.size >= MAX_TOLD) told.clear();
  told.add(root);
  const { admin } = settings.config();
  const text =
    `Stopped the event chain that began with ${root}: ${by} reached the chain limit. ` +
    `\`cortex why ${event}\` traces it; \`broker.maxChain\` and \`broker.maxReturns\` in cortex.json set the limits.`;
  log(text);
  if (admin === undefined) return;
  // The id is the chain's, so that a notice that was sent before a restart is not sent again.
  const id = deriveUlid(EPOCH, `chain:${root}`) as DeliveryId;
  for (const delivery of deliveriesOf({ text, source: admin, mintId: () => id }))
    await store.outbox.notify({ ...delivery, content: text });
}

const EPOCH = "0".repeat(26);
