import { expect, test } from "vitest";

import { event, session, START_MS } from "../../test/support/sample.ts";
import type { DispatchId, ItemId } from "../model/ids.ts";
import type { NewEvent, QueueItem } from "../store/store.ts";
import { droppedNote, MAX_DROPPED_LINE_LENGTH, MAX_DROPPED_LINES } from "./dropped-note.ts";

function item(content: string | null, message?: string, fields: Partial<NewEvent> = {}): QueueItem {
  return {
    id: "item-1" as ItemId,
    session: session("work"),
    state: "dropped",
    mode: "followup",
    dueMs: START_MS,
    queuedAtMs: START_MS,
    event: {
      ...event("a", { content, ...fields }),
      receivedAtMs: START_MS,
      differing: 0,
      depth: 0,
      returned: 0,
    },
    dispatches: [{ id: "d" as DispatchId, hook: "direct", ...(message === undefined ? {} : { message }) }],
  };
}

test("each message has a line, with who wrote it", () => {
  expect(droppedNote([item("one"), item("ignored", "two")])).toBe(
    "2 messages were dropped, because too many waited:\n- tyler: one\n- tyler: two",
  );
});

test("one message is said in the singular, and one of nobody has no name", () => {
  const { sender: _, ...anonymous } = item(null).event;
  expect(droppedNote([{ ...item(null), event: anonymous }])).toBe(
    "A message was dropped, because too many waited:\n-",
  );
});

test.each([
  ["a\nb\r\n\tc\u2028d\u0000e", "- tyler: a b c d e"],
  ["x".repeat(10_000), `- tyler: ${"x".repeat(MAX_DROPPED_LINE_LENGTH - 10)}…`],
  [
    `${"x".repeat(MAX_DROPPED_LINE_LENGTH - 11)}🙂🙂`,
    `- tyler: ${"x".repeat(MAX_DROPPED_LINE_LENGTH - 11)}\uFFFD…`,
  ],
])("whatever is written stays on its line (%#)", (content, line) => {
  const told = droppedNote([item(content)]).split("\n");
  expect(told.slice(1)).toEqual([line]);
  expect(line.length).toBeLessThanOrEqual(MAX_DROPPED_LINE_LENGTH);
});

test("of very many, the first are told and the others counted", () => {
  const lines = droppedNote(Array.from({ length: 1_000 }, (_, i) => item(String(i)))).split("\n");
  expect(lines).toHaveLength(MAX_DROPPED_LINES + 2);
  expect(lines.at(-1)).toBe(`- and ${1_000 - MAX_DROPPED_LINES} more`);
});
