import { expect, test } from "vitest";

import { event, session, START_MS } from "../../test/support/sample.ts";
import type { DispatchId, ItemId } from "../model/ids.ts";
import type { DispatchInput, NewEvent, QueueItem } from "../store/store.ts";
import { selectSteering } from "./steer.ts";

const NOW = START_MS;

function item(
  name: string,
  fields: Partial<Omit<QueueItem, "event">> & {
    event?: Partial<NewEvent>;
    dispatch?: Partial<DispatchInput>;
  } = {},
): QueueItem {
  const { event: eventFields, dispatch, ...rest } = fields;
  return {
    id: name as ItemId,
    session: session("work"),
    state: "queued",
    mode: "steer-backlog",
    dueMs: NOW,
    queuedAtMs: NOW,
    event: { ...event(name, eventFields), receivedAtMs: NOW, differing: 0 },
    dispatches: [{ id: name as DispatchId, hook: "direct", ...dispatch }],
    ...rest,
  };
}

function select(pending: readonly QueueItem[], running = [item("running")]): string[] {
  return selectSteering(pending, { items: running, nowMs: NOW }).map(({ id }) => id);
}

test("messages that steer enter the turn, in order", () => {
  expect(select([item("a", { mode: "steer" }), item("b"), item("c", { mode: "steer" })])).toEqual([
    "a",
    "b",
    "c",
  ]);
});

test.each(["followup", "queue", "collect", "interrupt"] as const)("%s waits", (mode) => {
  expect(select([item("a", { mode })])).toEqual([]);
});

test.each([
  ["is due later", { dueMs: NOW + 1 }],
  ["comes from another place", { event: { place: "dm-2" } }],
  ["comes from another topic", { event: { topic: "t" } }],
  ["comes from another account", { event: { account: "second" } }],
  ["comes from another channel", { event: { channel: "other" } }],
  ["asks for a model", { dispatch: { profile: "fast" } }],
  ["has permissions of its own", { dispatch: { permissions: { tools: [] } } }],
  ["is answered elsewhere", { dispatch: { delivery: { place: "x" } } }],
] as const)("a message that %s has a turn of its own", (_, fields) => {
  expect(select([item("a", fields)])).toEqual([]);
});

test("messages with no address go together, whatever door they came through", () => {
  const noPlace = (name: string, channel: string): QueueItem => {
    const made = item(name, { event: { channel } });
    const { place: _, ...rest } = made.event;
    return { ...made, event: rest };
  };
  expect(select([noPlace("a", "cli")], [noPlace("running", "http")])).toEqual(["a"]);
  expect(select([noPlace("a", "cli")])).toEqual([]);
});

test("a turn without messages is steered by none", () => {
  expect(select([item("a")], [])).toEqual([]);
});
