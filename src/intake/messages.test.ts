import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import { openTestStore } from "../../test/support/open-store.ts";
import { session } from "../../test/support/sample.ts";
import { toOwnEvent } from "../events/incoming.ts";
import { MAIN_SESSION } from "../model/session-key.ts";
import { OFFLINE_PROFILE } from "../model/profile.ts";
import { Spans } from "../model/spans.ts";
import { createUlidSource } from "../model/ulid.ts";
import { Broker } from "../queue/broker.ts";
import type { Claim, Store } from "../store/store.ts";
import type { Intake } from "./intake.ts";
import { sendMessage } from "./messages.ts";

const { config } = await loadFiles({
  "cortex.json": {
    agents: { main: {}, slow: { queueMode: "collect" } },
    broker: { queue: { mode: "followup" } },
  },
});

function partsOf(store: Store, slots = 1): Intake & AsyncDisposable & { readonly claims: Claim[] } {
  const claims: Claim[] = [];
  const broker = new Broker({
    store,
    lease: { holder: "test", ttlMs: 30_000 },
    slots: () => slots,
    clock: () => Date.UTC(2026, 0, 1),
    async run({ claim, cut }) {
      claims.push(claim);
      await new Promise((resolve) => cut.addEventListener("abort", resolve));
      await store.queue.release([claim.lease]);
      return undefined;
    },
    onProblem: () => {},
  });
  const clock = (): number => Date.UTC(2026, 0, 1);
  return {
    store,
    home: "/",
    settings: { config: () => config, profile: () => OFFLINE_PROFILE },
    slots: broker,
    clock,
    mintId: createUlidSource(clock),
    spans: new Spans(clock, () => ({ ms: clock(), cpuMs: 0 })),
    log: () => {},
    chats: () => [],
    buttons: () => [],
    isJudged: () => false,
    claims,
    [Symbol.asyncDispose]: () => broker[Symbol.asyncDispose](),
  };
}

test("a message to an idle session is an event, a dispatch and a run in one commit", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  await using parts = partsOf(store);
  const sent = await sendMessage({ content: " hello ", channel: "cli" }, parts);

  expect(await store.changes.last()).toBe(1);
  expect(parts.claims).toHaveLength(1);
  expect(sent).toMatchObject({ session: MAIN_SESSION, event: expect.stringMatching(/^cli:/) });
  expect(await store.events.get(sent.event)).toMatchObject({
    content: " hello ",
    sender: "owner",
    channel: "cli",
  });
  expect(await store.queue.outcome(sent.item)).toMatchObject({ state: "claimed" });
});

test("where all slots are in use, a message waits in the queue", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  await using parts = partsOf(store, 1);
  await sendMessage({ content: "a", session: "one" }, parts);
  const { item } = await sendMessage({ content: "b", session: "two", profile: "fast" }, parts);
  expect(await store.queue.item(item)).toMatchObject({
    state: "queued",
    dispatches: [{ hook: "direct", profile: "fast" }],
  });
});

test("the mode is the message's, else the session's, else the agent's, else the config's", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  await using parts = partsOf(store, 0);
  const modeOf = async (message: { session?: string; mode?: string }): Promise<string> => {
    const { item } = await sendMessage({ content: "x", ...message }, parts);
    return (await store.queue.item(item))!.mode;
  };
  expect(await modeOf({ session: "work" })).toBe("followup");
  await store.sessions.configure(session("work"), { mode: "interrupt" });
  expect(await modeOf({ session: "work" })).toBe("interrupt");
  expect(await modeOf({ session: "work", mode: "steer" })).toBe("steer");
  expect(await modeOf({ session: "agent:slow:main" })).toBe("collect");
});

test("the same key is the same message, at once, later and after a crash", async () => {
  await using opened = await openTestStore();
  const message = { content: "pay", idempotencyKey: "k1" };
  let first;
  {
    await using parts = partsOf(opened.store);
    const sent = await Promise.all(Array.from({ length: 5 }, () => sendMessage(message, parts)));
    [first] = sent;
    expect(new Set(sent.map((one) => JSON.stringify(one))).size).toBe(1);
  }
  const store = await opened.crash();
  await using parts = partsOf(store);
  expect(await sendMessage(message, parts)).toEqual(first);
  expect((await store.counts()).events).toBe(1);
  const other = sendMessage({ ...message, content: "pay more" }, parts);
  await expect(other).rejects.toMatchObject({ code: "idempotency_conflict" });
});

test("an event that was taken in before without a target is dispatched by a message of the same key", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  await using parts = partsOf(store);
  await store.events.accept(
    toOwnEvent({ adapter: "http", sourceId: "k1", channel: "http", content: "hello", timestampMs: 0 }),
  );
  const sent = await sendMessage({ content: "hello", idempotencyKey: "k1" }, parts);
  expect(sent).toMatchObject({ event: "http:k1", session: MAIN_SESSION });
  expect(parts.claims).toHaveLength(1);
});

test.each([
  [{ content: "x", idempotencyKey: "" }, "event_invalid"],
  [{ content: "x", channel: "No Channel" }, "event_invalid"],
  [{ content: "x", channel: "cortex", idempotencyKey: "01TURN" }, "event_invalid"],
  [{ content: "x".repeat(2_000_000) }, "event_too_large"],
])("a message is refused before anything of it is kept (%#)", async (message, code) => {
  await using opened = await openTestStore();
  const { store } = opened;
  await using parts = partsOf(store);
  await expect(sendMessage(message, parts)).rejects.toMatchObject({ code });
  expect(await store.changes.last()).toBe(0);
});
