/** The ids of relays. The same idempotency key makes the same id. */
import { createHash, randomBytes } from "node:crypto";

import type { EventId, RelayId } from "../../model/ids.ts";
import { isJsonObject } from "../../model/json.ts";
import type { RelayReads, StoredRelay } from "../../store/store.ts";

/** An id for a relay started with a key. `draw` counts the ids of the key that were taken by other relays. */
export function relayIdOf(key: string, draw: number): RelayId {
  const digest = createHash("sha256").update(`${draw}:${key}`).digest("hex");
  return toRelayId(digest);
}

/** A random id. It may be taken. */
export function newRelayId(): RelayId {
  return toRelayId(randomBytes(4).toString("hex"));
}

/** Uses the first 8 hexadecimal digits. */
export function toRelayId(digits: string): RelayId {
  return `thr_${digits.slice(0, 8)}` as RelayId;
}

export function isStartedWith(key: string, { detail }: StoredRelay): boolean {
  return isJsonObject(detail) && detail["idempotencyKey"] === key;
}

/** A hook starts at most one relay per event. */
export function keyOfHook(event: EventId, hook: string): string {
  return `${event}#${hook}`;
}

export async function findStartedWith(key: string, relays: RelayReads): Promise<RelayId | undefined> {
  for (let draw = 0; ; draw++) {
    const relay = await relays.get(relayIdOf(key, draw));
    if (relay === undefined || isStartedWith(key, relay)) return relay?.id;
  }
}
