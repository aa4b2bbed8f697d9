/** Relays that were started with a key: the same key is the same relay. */
import { createHash } from "node:crypto";

import type { EventId, RelayId } from "../../model/ids.ts";
import type { RelayReads, StoredRelay } from "../../store/store.ts";

/** The id of a relay that is started with a key, by how many ids of the key are another's. */
export function relayIdOf(key: string, draw: number): RelayId {
  const digest = createHash("sha256").update(`${draw}:${key}`).digest("hex");
  return toRelayId(digest);
}

/** The id that the first 8 hexadecimal digits make. */
export function toRelayId(digits: string): RelayId {
  return `thr_${digits.slice(0, 8)}` as RelayId;
}

export function isStartedWith(key: string, { detail }: StoredRelay): boolean {
  return (detail as { readonly idempotencyKey?: string } | null)?.idempotencyKey === key;
}

/** A hook starts one relay for an event, however often it is asked. */
export function keyOfHook(event: EventId, hook: string): string {
  return `${event}#${hook}`;
}

export async function findStartedWith(key: string, relays: RelayReads): Promise<RelayId | undefined> {
  for (let draw = 0; ; draw++) {
    const relay = await relays.get(relayIdOf(key, draw));
    if (relay === undefined || isStartedWith(key, relay)) return relay?.id;
  }
}
