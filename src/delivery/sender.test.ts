import { describe, expect, test } from "vitest";

import { killableConnection } from "../../test/support/killable-connection.ts";
import { type Act, fail, playChannel, type PlayedChannel } from "../../test/support/played-channel.ts";
import { delivery, testClock, turnFor } from "../../test/support/sample.ts";
import { begin } from "../../test/support/stores.ts";
import { memoryParent, temporaryFolder } from "../../test/support/temporary.ts";
import { deliveryFailed, deliveryRefused, deliveryUncertain } from "../channels/channel.ts";
import { DEFAULT_MAX_AGE_MS, DEFAULT_MAX_ATTEMPTS, type Outlet } from "../channels/outlet.ts";
import { openLedgerOutlet } from "../channels/ledger/ledger-channel.ts";
import { HOUR_MS } from "../model/durations.ts";
import type { DeliveryId } from "../model/ids.ts";
import { openSqliteStore, type SqliteStore } from "../store/sqlite/sqlite-store.ts";
import { MAX_CHUNKS_IN_DELIVERY, type NewDelivery, type StoredDelivery } from "../store/store.ts";
import { chunkText } from "./chunk-text.ts";
import { NOT_READY_MS, SEND_DEADLINE_MS } from "./send-delivery.ts";
import { MAX_DELAY_MS } from "./work.ts";
import { CLAIM_MS, MAX_IN_FLIGHT, Sender } from "./sender.ts";

const hint = "Try it.";
const busy = fail(deliveryFailed("busy", { hint }));
const refused = fail(deliveryRefused("blocked", { hint }));
const unsure = fail(deliveryUncertain("cut", { hint }));

/** Waits for as long as busy cores may take. */
function eventually<Value>(look: () => Value | Promise<Value>) {
  return expect.poll(look, { interval: 2 });
}

interface Desk extends AsyncDisposable {
  readonly store: SqliteStore;
  readonly clock: ReturnType<typeof testClock>;
  readonly sender: Sender;
  readonly problems: unknown[];
  put(name: string, fields?: Partial<NewDelivery>): Promise<void>;
  get(name: string): Promise<StoredDelivery>;
  /** Waits until a delivery is in this state, and gives it. */
  reach(name: string, state: StoredDelivery["state"]): Promise<StoredDelivery>;
  /** Waits until the sender has looked for what is due. */
  look(): Promise<void>;
  /** Moves the clock, and waits until the sender has done what is due then. */
  later(ms: number): Promise<void>;
}

async function openDesk(...channels: readonly Outlet[]): Promise<Desk> {
  return openDeskWith({}, ...channels);
}

async function openDeskWith(
  {
    clock = testClock(),
    ...options
  }: { readonly clock?: ReturnType<typeof testClock>; readonly pollMs?: number },
  ...channels: readonly Outlet[]
): Promise<Desk> {
  const folder = temporaryFolder(memoryParent());
  const store = await openSqliteStore({
    path: `${folder.path}/cortex.db`,
    clock,
    connect: killableConnection,
  });
  const problems: unknown[] = [];
  const witness = playChannel({ name: "witness" });
  const sender = new Sender({
    store,
    outlets: (name) => [...channels, witness].find((channel) => channel.name === name),
    holder: "alice",
    clock,
    random: () => 1,
    onProblem: (error) => void problems.push(error),
    ...options,
  });
  sender.start();
  const get = async (name: string) => (await store.outbox.get(`delivery-${name}` as DeliveryId))!;
  const put = async (name: string, fields: Partial<NewDelivery> = {}): Promise<void> => {
    const claim = await begin(store, name);
    const content = `text of ${name}`;
    await store.turns.commit({
      ...turnFor(claim),
      deliveries: [delivery(name, "dm-1", { content, ...fields })],
    });
  };
  const reach = async (name: string, state: StoredDelivery["state"]): Promise<StoredDelivery> => {
    await eventually(async () => (await get(name)).state).toBe(state);
    return get(name);
  };
  let witnesses = 0;
  const look = async (): Promise<void> => {
    // Whatever was due is claimed before this, which came after it.
    const name = `witness-${witnesses++}`;
    await put(name, { target: { channel: "witness", place: name } });
    await reach(name, "sent");
  };
  return {
    store,
    clock,
    sender,
    problems,
    put,
    get,
    reach,
    look,
    async later(ms) {
      clock.advance(ms);
      await look();
      await eventually(() => sender.active).toBe(0);
    },
    async [Symbol.asyncDispose]() {
      await sender.stop(0);
      await store[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

function keysOf(channel: PlayedChannel): string[] {
  return channel.asked.map(({ key }) => key);
}

/** An act that ends when the test says so. */
function held(): { readonly act: Act; readonly begun: Promise<void>; readonly end: () => void } {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const act: Act = async () => {
    begun.resolve();
    await ended.promise;
    return {};
  };
  return { act, begun: begun.promise, end: ended.resolve };
}

describe("an answer", () => {
  test("is sent to its address, and what the platform calls it is kept", async () => {
    const channel = playChannel();
    await using desk = await openDesk(channel);
    await desk.put("a", { replyTo: "m-7", target: { channel: "test", place: "dm-1", topic: "t" } });
    const stored = await desk.reach("a", "sent");
    expect(stored).toMatchObject({ chunks: [{ state: "sent", platformId: "p-delivery-a-0" }] });
    expect(channel.asked).toEqual([
      {
        key: "delivery-a-0",
        delivery: "delivery-a",
        turn: stored.turn,
        address: { channel: "test", account: "default", place: "dm-1", topic: "t" },
        chunk: 0,
        chunks: 1,
        content: "text of a",
        replyTo: "m-7",
        attempt: 1,
        repeat: false,
      },
    ]);
  });

  test("that is too long is formatted, split, and sent in order; only its first part replies", async () => {
    const channel = playChannel({ render: (text) => chunkText(text.toUpperCase(), { maxLength: 20 }) });
    await using desk = await openDesk(channel);
    await desk.put("a", { content: "one two three four five six seven", replyTo: "m-7" });
    await desk.reach("a", "sent");
    expect(channel.asked.map(({ content, replyTo }) => [content, replyTo])).toEqual([
      ["ONE TWO THREE FOUR ", "m-7"],
      ["FIVE SIX SEVEN", undefined],
    ]);
  });

  test("to those who read the ledger is done when it is there", async () => {
    await using desk = await openDesk(openLedgerOutlet("web"));
    await desk.put("a", { content: "x".repeat(100_000), target: { channel: "web", place: "tab" } });
    expect((await desk.reach("a", "sent")).chunks).toHaveLength(1);
  });

  test.each<[string, string, string]>([
    ["to a channel that there is not", "nowhere", 'Unknown channel "nowhere"'],
    ["that is blank", "test", "The text is empty"],
    ["of too many messages", "short", `more than ${MAX_CHUNKS_IN_DELIVERY} messages`],
  ])("%s is dead, with a clear error", async (_what, channel, error) => {
    await using desk = await openDesk(playChannel(), playChannel({ name: "short", maxLength: 16 }));
    const content = channel === "short" ? "x".repeat(16 * MAX_CHUNKS_IN_DELIVERY + 1) : " \n ";
    await desk.put("a", { content, target: { channel, place: "dm-1" } });
    expect((await desk.reach("a", "dead")).error).toContain(error);
  });
});

describe("order", () => {
  test("one target gets one message at a time, in order, while others do not wait", async () => {
    const channel = playChannel();
    const slow = held();
    channel.play(slow.act);
    await using desk = await openDesk(channel);
    await desk.put("a1");
    await slow.begun;
    await desk.put("a2");
    await desk.put("b1", { target: { channel: "test", place: "dm-2" } });
    await desk.reach("b1", "sent");
    expect(keysOf(channel)).toEqual(["delivery-a1-0", "delivery-b1-0"]);
    slow.end();
    await desk.reach("a2", "sent");
    expect(keysOf(channel).at(-1)).toBe("delivery-a2-0");
  });

  test("no more targets than allowed are sent to at once", async () => {
    const channel = playChannel();
    const slow = held();
    let most = 0;
    let now = 0;
    channel.always(async (message, signal) => {
      most = Math.max(most, ++now);
      await slow.act(message, signal);
      now--;
      return {};
    });
    await using desk = await openDesk(channel);
    const names = Array.from({ length: MAX_IN_FLIGHT + 4 }, (_, i) => `t${i}`);
    for (const name of names) await desk.put(name, { target: { channel: "test", place: name } });
    await eventually(() => now).toBe(MAX_IN_FLIGHT);
    slow.end();
    for (const name of names) await desk.reach(name, "sent");
    expect(most).toBe(MAX_IN_FLIGHT);
  });

  test("a message that cannot be sent holds up its own target, and only until it is dead", async () => {
    const channel = playChannel();
    channel.always(({ delivery, key }) =>
      delivery === "delivery-a1" ? busy({} as never, {} as never) : { platformId: key },
    );
    await using desk = await openDesk(channel);
    await desk.put("a1");
    await desk.put("a2");
    await desk.put("b", { target: { channel: "test", place: "dm-2" } });
    await desk.reach("b", "sent");
    expect((await desk.get("a2")).state).toBe("pending");
    for (let i = 0; i < DEFAULT_MAX_ATTEMPTS; i++) await desk.later(MAX_DELAY_MS / 2);
    expect((await desk.reach("a1", "dead")).error).toContain("busy");
    await desk.reach("a2", "sent");
  });

  test("a dead one that is tried again waits for the one that is under way", async () => {
    const channel = playChannel();
    const slow = held();
    channel.play(refused, slow.act);
    await using desk = await openDesk(channel);
    await desk.put("a1");
    await desk.reach("a1", "dead");
    await desk.put("a2");
    await slow.begun;
    await desk.store.outbox.retry("delivery-a1" as DeliveryId);
    await desk.reach("a1", "sending"); // claimed, but not sent
    expect(keysOf(channel)).toEqual(["delivery-a1-0", "delivery-a2-0"]);
    slow.end();
    await desk.reach("a1", "sent");
  });

  test("a delivery that takes longer than a claim is given back in time, and no part is sent twice", async () => {
    const channel = playChannel({ maxLength: 16, limits: { maxAgeMs: 24 * HOUR_MS } });
    await using desk = await openDesk(channel);
    channel.always(async () => {
      desk.clock.advance(SEND_DEADLINE_MS - 1);
      await desk.look();
      return {};
    });
    const parts = Math.ceil((2 * CLAIM_MS) / SEND_DEADLINE_MS);
    await desk.put("a", { content: "x".repeat(16 * parts) });
    const { attempt } = await desk.reach("a", "sent");
    expect(attempt).toBeGreaterThan(1);
    expect(keysOf(channel)).toEqual(Array.from({ length: parts }, (_, chunk) => `delivery-a-${chunk}`));
    expect(channel.asked.every(({ repeat }) => !repeat)).toBe(true);
  });
});

describe("trouble that passes", () => {
  test("is waited out, longer each time", async () => {
    const channel = playChannel();
    channel.play(busy, busy);
    await using desk = await openDesk(channel);
    await desk.put("a");
    await eventually(async () => (await desk.get("a")).error).toContain("busy");
    await desk.later(999);
    expect(channel.asked).toHaveLength(1);
    await desk.later(1);
    expect(channel.asked).toHaveLength(2);
    await desk.later(1_999);
    expect(channel.asked).toHaveLength(2);
    await desk.later(1);
    expect(await desk.reach("a", "sent")).toMatchObject({ attempt: 3, error: undefined });
    expect(channel.asked.every(({ key, repeat }) => key === "delivery-a-0" && !repeat)).toBe(true);
  });

  test("is waited out for as long as the platform says", async () => {
    const channel = playChannel();
    channel.play(fail(deliveryFailed("slow down", { hint, retryAfterMs: 90_000 })));
    await using desk = await openDesk(channel);
    await desk.put("a");
    await eventually(async () => (await desk.get("a")).error).toContain("slow down");
    await desk.later(89_999);
    expect(channel.asked).toHaveLength(1);
    await desk.later(1);
    await desk.reach("a", "sent");
  });

  test("holds a message up no longer than it is worth sending", async () => {
    const channel = playChannel();
    channel.play(fail(deliveryFailed("come back in a year", { hint, retryAfterMs: 8_760 * HOUR_MS })));
    await using desk = await openDesk(channel);
    await desk.put("a");
    await eventually(async () => (await desk.get("a")).error).toContain("year");
    await desk.put("b");
    await desk.later(DEFAULT_MAX_AGE_MS);
    expect((await desk.reach("a", "dead")).error).toMatch(/^expired: .*60 minutes.*year/);
  });

  test("a channel that is not ready costs no attempt", async () => {
    let ready = false;
    const channel = playChannel({ isReady: () => ready });
    await using desk = await openDesk(channel);
    await desk.put("a");
    for (let i = 0; i < DEFAULT_MAX_ATTEMPTS + 5; i++) await desk.later(NOT_READY_MS);
    expect(await desk.get("a")).toMatchObject({
      state: "pending",
      error: 'The channel "test" is not ready.',
    });
    expect(channel.asked).toEqual([]);
    ready = true;
    await desk.later(NOT_READY_MS);
    await desk.reach("a", "sent");
  });

  test("a rate limit spaces messages out and costs no attempt", async () => {
    let waitMs = 0;
    const channel = playChannel({ maxLength: 16, paceMs: () => waitMs });
    channel.always(() => {
      waitMs = 1_000;
      return {};
    });
    await using desk = await openDesk(channel);
    await desk.put("a", { content: "x".repeat(32) });
    await eventually(async () => (await desk.get("a")).error).toContain("Rate limit");
    expect(channel.asked).toHaveLength(1);
    waitMs = 0;
    await desk.later(1_000);
    await desk.reach("a", "sent");
    expect(keysOf(channel)).toEqual(["delivery-a-0", "delivery-a-1"]);
  });

  test("what a rate limit holds back for a moment does not wait for the next poll", async () => {
    const waits = [30];
    const channel = playChannel({ paceMs: () => waits.shift() ?? 0 });
    const clock = Object.assign(() => Date.now(), { advance: () => {} });
    await using desk = await openDeskWith({ clock, pollMs: HOUR_MS }, channel);
    await desk.put("a");
    await desk.reach("a", "sent");
    expect(waits).toEqual([]);
  });
});

describe("a dead letter", () => {
  test("is what a refusal leaves; tried again, only what was not sent is sent", async () => {
    const channel = playChannel({ maxLength: 16 });
    channel.play(() => ({}), refused);
    await using desk = await openDesk(channel);
    await desk.put("a", { content: "x".repeat(32) });
    expect((await desk.reach("a", "dead")).error).toBe("delivery_refused: blocked. Try it.");
    await desk.store.outbox.retry("delivery-a" as DeliveryId);
    await desk.reach("a", "sent");
    expect(keysOf(channel)).toEqual(["delivery-a-0", "delivery-a-1", "delivery-a-1"]);
  });

  test("is what a message becomes that has waited too long; its owner can have it sent all the same", async () => {
    const channel = playChannel();
    await using desk = await openDesk(channel);
    await desk.sender.stop(0);
    await desk.put("a");
    desk.clock.advance(DEFAULT_MAX_AGE_MS);
    const { store, clock } = desk;
    await using next = new Sender({
      store,
      outlets: () => channel,
      holder: "bob",
      clock,
      random: () => 1,
      onProblem: () => {},
    });
    next.start();
    expect((await desk.reach("a", "dead")).error).toMatch(/^expired: /);
    expect(channel.asked).toEqual([]);
    await store.outbox.retry("delivery-a" as DeliveryId);
    await desk.reach("a", "sent");
  });
});

describe("a message that may have arrived", () => {
  test("is looked for, and not sent again where it is found", async () => {
    const channel = playChannel({ find: async () => ({ platformId: "found" }) });
    channel.play(unsure);
    await using desk = await openDesk(channel);
    await desk.put("a");
    expect((await desk.reach("a", "unknown")).error).toContain("delivery_uncertain");
    await desk.later(1_000);
    expect((await desk.reach("a", "sent")).chunks[0]!.platformId).toBe("found");
    expect(channel.asked).toHaveLength(1);
  });

  test("is sent again where it is looked for and is not there", async () => {
    const searches = [busy, () => undefined];
    const channel = playChannel({ find: async (...asked) => searches.shift()!(...asked) });
    channel.play(unsure);
    await using desk = await openDesk(channel);
    await desk.put("a");
    await desk.reach("a", "unknown");
    await desk.later(1_000);
    expect(await desk.get("a")).toMatchObject({ state: "unknown", error: expect.stringContaining("busy") });
    await desk.later(2_000);
    await desk.reach("a", "sent");
    expect(channel.asked.map(({ repeat }) => repeat)).toEqual([false, false]);
  });

  test("is repeated with its key where the other end knows keys, and stays in doubt until that has worked", async () => {
    const channel = playChannel({ onUncertain: "repeat" });
    channel.play(unsure, busy);
    await using desk = await openDesk(channel);
    await desk.put("a");
    await desk.reach("a", "unknown");
    await desk.later(1_000);
    expect(await desk.get("a")).toMatchObject({ state: "unknown", error: expect.stringContaining("busy") });
    await desk.later(2_000);
    await desk.reach("a", "sent");
    expect(channel.asked.map(({ key, repeat }) => [key, repeat])).toEqual([
      ["delivery-a-0", false],
      ["delivery-a-0", true],
      ["delivery-a-0", true],
    ]);
  });

  test("is repeated once, marked, where the channel allows one repetition, and then left to a person", async () => {
    const channel = playChannel({ onUncertain: "repeat-once" });
    channel.play(unsure, busy, unsure);
    await using desk = await openDesk(channel);
    await desk.put("a");
    await desk.reach("a", "unknown");
    await desk.later(1_000);
    await eventually(async () => (await desk.get("a")).error).toMatch(/^Message 1 may arrive twice\. .*busy/);
    await desk.later(2_000);
    await desk.reach("a", "unknown");
    await desk.later(4_000);
    expect((await desk.reach("a", "dead")).error).toContain("Cannot tell whether");
    expect(channel.asked.map(({ repeat }) => repeat)).toEqual([false, true, true]);

    await desk.store.outbox.retry("delivery-a" as DeliveryId);
    await desk.reach("a", "sent");
    expect(channel.asked.at(-1)).toMatchObject({ key: "delivery-a-0", repeat: true });
  });

  test("is not repeated where the channel forbids it", async () => {
    const channel = playChannel({ onUncertain: "leave" });
    channel.play(unsure);
    await using desk = await openDesk(channel);
    await desk.put("a");
    await desk.reach("a", "unknown");
    await desk.later(1_000);
    expect(await desk.reach("a", "dead")).toMatchObject({
      error: expect.stringContaining("Cannot tell whether"),
      chunks: [{ state: "unknown" }],
    });
    expect(channel.asked).toHaveLength(1);
  });

  test("is still in doubt when its repetition is refused", async () => {
    const channel = playChannel({ onUncertain: "repeat" });
    channel.play(unsure, refused);
    await using desk = await openDesk(channel);
    await desk.put("a");
    await desk.reach("a", "unknown");
    await desk.later(1_000);
    await desk.reach("a", "dead");
    await desk.store.outbox.retry("delivery-a" as DeliveryId);
    await desk.reach("a", "sent");
    expect(channel.asked.at(-1)!.repeat).toBe(true);
  });

  test("is what a channel with a bug leaves", async () => {
    const channel = playChannel({ onUncertain: "leave" });
    channel.play(() => {
      throw new TypeError("x is not a function");
    });
    await using desk = await openDesk(channel);
    await desk.put("a");
    expect((await desk.reach("a", "unknown")).error).toBe("unexpected: x is not a function");
  });

  test("stays in doubt while its channel is not ready", async () => {
    let ready = true;
    const channel = playChannel({ onUncertain: "repeat", isReady: () => ready });
    channel.play(() => {
      ready = false;
      return unsure({} as never, {} as never);
    });
    await using desk = await openDesk(channel);
    await desk.put("a");
    await desk.reach("a", "unknown");
    await desk.later(1_000);
    expect(await desk.get("a")).toMatchObject({
      state: "unknown",
      error: expect.stringContaining("not ready"),
    });
    ready = true;
    await desk.later(NOT_READY_MS);
    await desk.reach("a", "sent");
  });
});

describe("the end", () => {
  test("waits for the send that is under way and begins no other", async () => {
    const channel = playChannel({ maxLength: 16 });
    const slow = held();
    channel.play(slow.act);
    await using desk = await openDesk(channel);
    await desk.put("a", { content: "x".repeat(32) });
    await slow.begun;
    const stopping = desk.sender.stop(HOUR_MS);
    slow.end();
    await stopping;
    expect(await desk.get("a")).toMatchObject({
      state: "pending",
      chunks: [{ state: "sent" }, { state: "pending" }],
    });
  });

  test("cuts off a send that takes too long, which is then in doubt", async () => {
    const channel = playChannel();
    const slow = held();
    channel.play(slow.act);
    await using desk = await openDesk(channel);
    await desk.put("a");
    await slow.begun;
    await desk.sender.stop(0);
    expect(await desk.get("a")).toMatchObject({ state: "unknown", chunks: [{ state: "unknown" }] });
  });

  test("a store that ends first is survived and reported", async () => {
    const channel = playChannel();
    const slow = held();
    channel.play(slow.act);
    await using desk = await openDesk(channel);
    await desk.put("a");
    await slow.begun;
    await desk.store.crash();
    slow.end();
    await eventually(() => desk.problems.length).toBe(1);
    desk.sender.wake();
    await desk.sender.stop(0);
    expect(desk.problems).toEqual([expect.objectContaining({ name: "CortexError" })]);
  });
});
