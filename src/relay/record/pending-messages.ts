/** Messages that a user sends to a relay while a step runs: they wait for the next step. */
import type { RelayMetadata, RelayRecord } from "./record.ts";

/** How many wait. Of more, the oldest are dropped, and their number is said. */
export const MAX_PENDING_MESSAGES = 10;

export function addPending(record: RelayRecord, message: string): RelayRecord {
  const { messages, dropped } = pendingOf(record);
  const all = [...messages, message];
  const tooMany = Math.max(0, all.length - MAX_PENDING_MESSAGES);
  return withPending(record, { messages: all.slice(tooMany), dropped: dropped + tooMany });
}

export interface Pending {
  readonly messages: readonly string[];
  readonly dropped: number;
}

export function pendingOf({ metadata }: Pick<RelayRecord, "metadata">): Pending {
  return { messages: metadata?.pendingMessages ?? [], dropped: metadata?.droppedMessages ?? 0 };
}

/** The record without those that a step was given. What came meanwhile waits for the step after it. */
export function withoutPending(record: RelayRecord, given: Pending): RelayRecord {
  const { messages, dropped } = pendingOf(record);
  const came = dropped - given.dropped; // each of these pushed out one that was given
  const left = Math.max(0, given.messages.length - came);
  return withPending(record, {
    messages: messages.slice(left),
    dropped: Math.max(0, came - given.messages.length),
  });
}

function withPending(record: RelayRecord, { messages, dropped }: Pending): RelayRecord {
  const { pendingMessages: _, droppedMessages: __, ...rest } = record.metadata ?? {};
  const metadata: RelayMetadata = {
    ...rest,
    ...(messages.length === 0 ? {} : { pendingMessages: messages }),
    ...(dropped === 0 ? {} : { droppedMessages: dropped }),
  };
  return { ...record, metadata: Object.keys(metadata).length === 0 ? null : metadata };
}
