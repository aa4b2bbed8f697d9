import { OWN_ADAPTERS, OWNER_ADAPTERS } from "../model/event.ts";
import { expect, test } from "vitest";

import { START_MS } from "../../test/support/sample.ts";
import { type Incoming, toOwnEvent, toForeignEvent, toMessageEvent } from "./incoming.ts";

const incoming: Incoming = {
  adapter: "telegram",
  sourceId: "bot/chat/1",
  channel: "telegram",
  content: "hello",
  timestampMs: START_MS,
};

test("an event has the id of what happened, and is received unless told", () => {
  expect(toOwnEvent({ ...incoming, sender: "tyler", place: "p", topic: "t" })).toEqual({
    id: "telegram:bot/chat/1",
    channel: "telegram",
    direction: "received",
    sender: "tyler",
    place: "p",
    topic: "t",
    content: "hello",
    atMs: START_MS,
  });
});

test("without an id, the same content at the same time is the same event", () => {
  const { sourceId: _, ...anonymous } = incoming;
  const { id } = toOwnEvent(anonymous);

  expect(id).toMatch(/^telegram:sha256:[0-9a-f]{32}$/);
  expect(toOwnEvent({ ...anonymous, replyTo: "1" }).id).toBe(id);
  expect(toOwnEvent({ ...anonymous, content: "hello!" }).id).not.toBe(id);
  expect(toOwnEvent({ ...anonymous, payload: 1 }).id).not.toBe(id);
  expect(toOwnEvent({ ...anonymous, timestampMs: START_MS + 1 }).id).not.toBe(id);
});

test.each([
  { sender: "someone" },
  { place: "elsewhere" },
  { topic: "another" },
  { account: "work" },
  { channel: "signal" },
])("without an id, another sender or place makes another event: %j", (fields) => {
  const { sourceId: _, ...anonymous } = { ...incoming, sender: "ada", place: "1" };
  expect(toOwnEvent({ ...anonymous, ...fields }).id).not.toBe(toOwnEvent(anonymous).id);
});

test("a file or a minute is an id too", () => {
  const file = { kind: "file", path: "/a", modifiedMs: 1, change: "created", sha256: "ab" } as const;
  expect(toOwnEvent({ ...incoming, adapter: "files", sourceId: file }).id).toMatch(
    /^files:sha256:[0-9a-f]{32}$/,
  );
  const minute = { kind: "minute", atMs: START_MS } as const;
  expect(toOwnEvent({ ...incoming, adapter: "timer", sourceId: minute }).id).toBe("timer:2026-01-01T00:00Z");
});

test("an event that says nothing has no content", () => {
  expect(toOwnEvent({ ...incoming, content: null }).content).toBeNull();
});

test.each(["", "Telegram", "a b", "-x", "x".repeat(65), "line\nbreak"])("%j is not a channel", (channel) => {
  expect(() => toOwnEvent({ ...incoming, channel })).toThrow(
    expect.objectContaining({ code: "event_invalid" }),
  );
});

test.each(["webhook:pay", "x".repeat(64), "my_channel.2", "agents"])("%j is a channel", (channel) => {
  expect(toOwnEvent({ ...incoming, channel }).channel).toBe(channel);
});

test.each(["cortex", "agent", "relay", "script"])(
  "nobody outside can claim the ids of what agents say (%s)",
  (adapter) => {
    const forged = { ...incoming, adapter, sourceId: "01SOMETURN" };
    expect(() => toOwnEvent(forged)).toThrow(expect.objectContaining({ code: "event_invalid" }));
  },
);

test.each([...OWN_ADAPTERS, "webhook:pay", "webhook:timer"])(
  "nobody outside can take an id of our own sources first (%s)",
  (adapter) => {
    const forged = { ...incoming, adapter, sourceId: "2099-01-01T00:00Z" };
    expect(() => toForeignEvent(forged)).toThrow(
      expect.objectContaining({
        code: "event_invalid",
        message: expect.stringContaining(`"${adapter}" is reserved`),
        hint: expect.stringContaining(OWN_ADAPTERS.toSorted().join(", ")),
      }),
    );
  },
);

test("an event of somebody else's is taken, but not on the timer's channel", () => {
  expect(toForeignEvent({ ...incoming, adapter: "timers" }).id).toMatch(/^timers:/);
  expect(() => toForeignEvent({ ...incoming, channel: "timer" })).toThrow('"timer" is reserved');
});

test("a message on a channel of the owner's own takes no id of another source", () => {
  for (const adapter of OWNER_ADAPTERS) expect(toMessageEvent({ ...incoming, adapter }).id).toBeDefined();
  expect(() => toMessageEvent({ ...incoming, adapter: "files" })).toThrow('"files" is reserved');
});

test.each(["agent", "subagent", "subagent:explore", "relay", "script"])(
  "nothing from outside looks as if an agent had written it (%s)",
  (channel) => {
    expect(() => toOwnEvent({ ...incoming, channel })).toThrow(
      expect.objectContaining({ code: "event_invalid" }),
    );
  },
);
