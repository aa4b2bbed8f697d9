import type { QueueItem } from "../store/store.ts";

/**
 * The waiting messages that go into a turn which is under way, in order.
 *
 * Only those that belong to the same conversation: the turn has one answer, and it goes to where the turn's
 * own message came from. A message that wants another model, other permissions or another address waits for a
 * turn of its own.
 */
export function selectSteering(
  pending: readonly QueueItem[],
  running: { readonly items: readonly QueueItem[]; readonly nowMs: number },
): QueueItem[] {
  const [first] = running.items;
  if (first === undefined) return [];
  return pending.filter(
    (item) =>
      steers(item) &&
      item.dueMs <= running.nowMs &&
      addressOf(item) === addressOf(first) &&
      !asksForMore(item),
  );
}

function steers({ mode }: QueueItem): boolean {
  return mode === "steer" || mode === "steer-backlog";
}

function asksForMore({ dispatches }: QueueItem): boolean {
  return dispatches.some(
    ({ profile, permissions, delivery }) => (profile ?? permissions ?? delivery) !== undefined,
  );
}

/** Messages with no address (the command line, HTTP) are answered by the ledger alone, so they go together. */
function addressOf({ event: { channel, account, place, topic } }: QueueItem): string {
  return place === undefined ? "" : JSON.stringify([channel, account, place, topic]);
}
