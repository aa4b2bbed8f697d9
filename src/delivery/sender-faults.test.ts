/**
 * Deliveries over real sockets to a receiver that takes messages and hangs up, while the store is crashed and
 * the sender is started again and again.
 */
import { expect, test } from "vitest";

import { killableConnection } from "../../test/support/killable-connection.ts";
import { delivery, testClock, turnFor } from "../../test/support/sample.ts";
import { createRandom } from "../../test/simulation/random.ts";
import { begin } from "../../test/support/stores.ts";
import { memoryParent, temporaryFolder } from "../../test/support/temporary.ts";
import { accept, answer, cut, openReceiver, type Received } from "../../test/support/webhook-receiver.ts";
import { openWebhookChannel } from "../channels/webhook/webhook-channel.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { Sender } from "./sender.ts";

const DELIVERIES = 300;
const TARGETS = 12;
/** Of the messages that arrive. */
const CUT_SHARE = 0.1;
const BUSY_SHARE = 0.05;
/** A crash after this many messages have arrived. */
const CRASH_EVERY = 60;

const placeOf = (i: number): string => `t${i % TARGETS}`;

test(`of ${DELIVERIES} deliveries none is lost, order is kept, and what may come twice says so`, async () => {
  using folder = temporaryFolder(memoryParent());
  await using receiver = await openReceiver();
  const clock = testClock();
  const path = `${folder.path}/cortex.db`;
  await fill(path, clock);

  const chances = createRandom(1);
  const random = (): number => chances.fraction();
  const taken: Received[] = [];
  receiver.behave((response, request) => {
    const chance = random();
    if (chance < BUSY_SHARE) return answer(503)(response, request);
    taken.push(request);
    return (chance < BUSY_SHARE + CUT_SHARE ? cut : accept)(response, request);
  });
  const places = Array.from({ length: TARGETS }, (_, i) => placeOf(i));
  const targets = Object.fromEntries(places.map((place) => [place, { url: `${receiver.url}/${place}` }]));
  const webhook = openWebhookChannel({ targets, fetch, clock });

  const sendUntilCrash = async (): Promise<"done" | "crashed"> => {
    const store = await openSqliteStore({ path, clock, connect: killableConnection });
    const channels = () => webhook;
    const sender = new Sender({ store, channels, holder: "alice", clock, random, onProblem: () => {} });
    sender.start();
    const crashAt = receiver.received.length + CRASH_EVERY;
    let left = DELIVERIES;
    const look = async (): Promise<boolean> => {
      clock.advance(500); // what failed becomes due
      sender.wake();
      const { pending, sending, unknown } = (await store.counts()).deliveries;
      left = pending + sending + unknown;
      return left === 0 || receiver.received.length >= crashAt;
    };
    await expect.poll(look, { timeout: 50_000, interval: 2 }).toBe(true);
    await store.crash();
    await sender.stop(0);
    return left === 0 ? "done" : "crashed";
  };
  let crashes = 0;
  while ((await sendUntilCrash()) === "crashed") crashes++;

  await using store = await openSqliteStore({ path, clock });
  expect((await store.outbox.list({ state: "sent", limit: 1_000 })).items).toHaveLength(DELIVERIES);
  const { firsts, repeats } = sortOut(taken);
  expect(firsts).toHaveLength(DELIVERIES);
  for (const place of places) {
    const keys = firsts.filter((each) => each.path === `/${place}`).map(keyOf);
    expect(keys).toEqual(keys.toSorted());
  }
  for (const { first, again } of repeats) {
    expect(again.body).toBe(first.body);
    expect(again.headers).toMatchObject({ "x-cortex-repeat": "true" });
    expect(again.headers["x-cortex-attempt"]).not.toBe("1");
  }
  expect(crashes).toBeGreaterThan(3);
  expect(repeats.length).toBeGreaterThan(5);
}, 120_000);

async function fill(path: string, clock: () => number): Promise<void> {
  await using store = await openSqliteStore({ path, clock });
  for (let i = 0; i < DELIVERIES; i++) {
    const name = String(i).padStart(4, "0");
    const claim = await begin(store, name);
    const target = { channel: "webhook", place: placeOf(i) };
    await store.turns.commit({ ...turnFor(claim), deliveries: [delivery(name, "", { target })] });
  }
}

function keyOf({ headers }: Received): string {
  return String(headers["idempotency-key"]);
}

function sortOut(taken: readonly Received[]) {
  const firsts = new Map<string, Received>();
  const repeats: { readonly first: Received; readonly again: Received }[] = [];
  for (const request of taken) {
    const first = firsts.get(keyOf(request));
    if (first === undefined) firsts.set(keyOf(request), request);
    else repeats.push({ first, again: request });
  }
  return { firsts: [...firsts.values()], repeats };
}
