/** Messages that a user sends while a step is running: they are buffered for the next step. */
import type { RelayMetadata, RelayRecord } from "./record.ts";

/** When the buffer is full, the oldest messages are dropped and counted. */
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

/** Removes the messages that a step received. Later ones stay for the step after it. */
export function withoutPending(record: RelayRecord, given: Pending): RelayRecord {
  const { messages, dropped } = pendingOf(record);
  const came = dropped - given.dropped; // each of these pushed out one of the given messages
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
