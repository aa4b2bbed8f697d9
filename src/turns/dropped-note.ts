import type { QueueItem } from "../store/store.ts";

export const MAX_DROPPED_LINES = 20;
export const MAX_DROPPED_LINE_LENGTH = 160;

/** What a turn is told of messages that were dropped because too many waited: one line each. */
export function droppedNote(dropped: readonly QueueItem[]): string {
  const told = dropped.slice(0, MAX_DROPPED_LINES).map(toLine);
  const left = dropped.length - told.length;
  return [
    `${dropped.length === 1 ? "A message was" : `${dropped.length} messages were`} dropped, because too many waited:`,
    ...told,
    ...(left === 0 ? [] : [`- and ${left} more`]),
  ].join("\n");
}

/** Whatever was written stays on its line: nobody else's words may look like ours. */
function toLine({ event, dispatches }: QueueItem): string {
  const content = dispatches.find(({ message }) => message !== undefined)?.message ?? event.content ?? "";
  const flat = `- ${event.sender === undefined ? "" : `${event.sender}: `}${content}`
    .slice(0, 4 * MAX_DROPPED_LINE_LENGTH) // long before the next step would have much to do
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trimEnd();
  return flat.length <= MAX_DROPPED_LINE_LENGTH
    ? flat.toWellFormed()
    : `${flat.slice(0, MAX_DROPPED_LINE_LENGTH - 1).toWellFormed()}…`;
}
