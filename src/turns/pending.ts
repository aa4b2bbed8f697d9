import type { QueueItem, Store } from "../store/store.ts";

/** A dead letter that is to be tried again has a turn with a journal, and goes on with that. */
export async function withoutTurns(items: readonly QueueItem[], store: Store): Promise<readonly QueueItem[]> {
  const outcomes = await Promise.all(items.map(({ id }) => store.queue.outcome(id)));
  return items.filter((_, i) => outcomes[i]?.turn === undefined);
}
