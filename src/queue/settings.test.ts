import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import type { AgentId } from "../model/ids.ts";
import { MAX_DEBOUNCE_MS, MAX_QUEUE_CAP } from "../model/queue-settings.ts";
import type { Settings } from "../store/store.ts";
import { NO_SETTINGS, type QueueWishes, resolveQueue } from "./settings.ts";

const { config } = await loadFiles({
  "cortex.json": {
    agents: { main: {}, slow: { queueMode: "interrupt" } },
    broker: {
      queue: {
        mode: "collect",
        agentMode: "queue",
        cap: 7,
        byChannel: { chat: { mode: "steer", drop: "old" } },
      },
    },
  },
});

const nothing: QueueWishes = {
  mode: undefined,
  session: undefined,
  channel: "cli",
  agent: "main" as AgentId,
  sender: "person",
  config,
};

const modeOf = (wishes: Partial<QueueWishes>): string =>
  resolveQueue({ ...nothing, ...wishes }).settings.mode;

test.each([
  [{ mode: "followup", session: { mode: "collect" }, channel: "chat", agent: "slow" }, "followup"],
  [{ session: { mode: "collect" }, channel: "chat", agent: "slow" }, "collect"],
  [{ channel: "chat", agent: "slow" }, "steer"],
  [{ agent: "slow" }, "interrupt"],
  [{ agent: "nobody" }, "collect"],
  [{}, "collect"],
  [{ sender: "agent" }, "queue"],
  [{ sender: "agent", mode: "Steer+Backlog" }, "steer-backlog"],
] as const)("of the wishes %o the mode is %s", (wishes, mode) => {
  expect(modeOf(wishes as Partial<QueueWishes>)).toBe(mode);
});

test("each setting is found on its own, and its origin is told", () => {
  const resolved = resolveQueue({
    ...nothing,
    mode: "followup",
    session: { debounceMs: 0 },
    channel: "chat",
  });
  expect(resolved).toEqual({
    settings: { mode: "followup", debounceMs: 0, cap: 7, drop: "old", onInterrupt: "drain" },
    sources: {
      mode: "message",
      debounceMs: "session",
      cap: "config",
      drop: "channel",
      onInterrupt: "config",
    },
  });
});

test("unless told, people steer and agents wait their turn, twenty at most", async () => {
  const { config: plain } = await loadFiles({});
  expect(resolveQueue({ ...nothing, config: plain }).settings).toEqual({
    mode: "steer-backlog",
    debounceMs: 1_000,
    cap: 20,
    drop: "summarize",
    onInterrupt: "drain",
  });
  expect(modeOf({ sender: "agent", config: plain })).toBe("followup");
});

test("a mode that does not exist is refused", () => {
  expect(() => modeOf({ mode: "shout" })).toThrow(expect.objectContaining({ code: "queue_mode_unknown" }));
});

test.each<Settings>([
  { mode: "shout", cap: 0, debounceMs: -1, drop: "all", onInterrupt: true },
  { mode: 7, cap: MAX_QUEUE_CAP + 1, debounceMs: MAX_DEBOUNCE_MS + 1, drop: null },
  { cap: 1.5, debounceMs: "1s", toString: "new" },
  NO_SETTINGS,
])("settings of a session that nobody could have made are passed over (%#)", (session) => {
  expect(resolveQueue({ ...nothing, session })).toEqual(resolveQueue(nothing));
});

test("a channel that is called like something of every object is no other", () => {
  expect(modeOf({ channel: "constructor" })).toBe("collect");
});

test.each([
  [{ cap: 0 }, "cap"],
  [{ cap: MAX_QUEUE_CAP + 1 }, "cap"],
  [{ debounceMs: MAX_DEBOUNCE_MS + 1 }, "debounceMs"],
  [{ byChannel: { chat: { cap: 0 } } }, "byChannel.chat.cap"],
  [{ byChannel: { chat: { mode: "shout" } } }, "byChannel.chat.mode"],
  [{ byChannel: { chat: { agentMode: "steer" } } }, "byChannel.chat.agentMode"],
])("a configuration with %o is refused", async (queue, path) => {
  const loading = loadFiles({ "cortex.json": { broker: { queue } } });
  await expect(loading).rejects.toMatchObject({ message: expect.stringContaining(`broker.queue.${path}`) });
});

test("the limits themselves are allowed", async () => {
  const queue = { cap: MAX_QUEUE_CAP, debounceMs: MAX_DEBOUNCE_MS };
  const { config: wide } = await loadFiles({ "cortex.json": { broker: { queue } } });
  expect(resolveQueue({ ...nothing, config: wide }).settings).toMatchObject(queue);
});
