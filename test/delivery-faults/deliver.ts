/**
 * Deliveries over real sockets to a receiver that takes messages and hangs up, while the store is crashed and
 * the sender is started again and again. In the end each message has arrived, in order, and whatever arrived
 * twice said that it might.
 */
import { setTimeout as delay } from "node:timers/promises";

import type { Outlet } from "../../src/channels/outlet.ts";
import { openWebhookOutlet } from "../../src/channels/webhook/webhook-channel.ts";
import { Sender } from "../../src/delivery/sender.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { createRandom } from "../simulation/random.ts";
import { killableConnection } from "../support/killable-connection.ts";
import { delivery, testClock, turnFor } from "../support/sample.ts";
import { begin } from "../support/stores.ts";
import { memoryParent, temporaryFolder } from "../support/temporary.ts";
import { accept, answer, cut, openReceiver, type Received } from "../support/webhook-receiver.ts";

const TARGETS = 12;
/** Of the messages that arrive. */
const CUT_SHARE = 0.1;
const BUSY_SHARE = 0.05;
/** A crash after this many messages have arrived. */
const CRASH_EVERY = 60;
/** How far the clock moves between two looks, so that what failed becomes due. */
const STEP_MS = 500;
const LOOK_MS = 5;
/** If nothing arrives in so many looks, the rest is lost. */
const MAX_LOOKS_IN_VAIN = 6_000;
/** Names of that many digits are in the order of their numbers. */
const DIGITS = 7;

export interface Figures {
  readonly deliveries: number;
  readonly crashes: number;
  /** Sends that the receiver took, and hung up on. */
  readonly cut: number;
  /** What the receiver took, all together. */
  readonly received: number;
  /** Deliveries that never arrived, or are not known as sent in the end. */
  readonly lost: number;
  readonly duplicates: number;
  /** Duplicates that did not say so, or said something else than before. */
  readonly unmarked: number;
  /** First arrivals that came before an older one of the same target. */
  readonly disordered: number;
}

type Clock = ReturnType<typeof testClock>;

export async function deliver({ deliveries, seed }: { deliveries: number; seed: number }): Promise<Figures> {
  using folder = temporaryFolder(memoryParent());
  await using receiver = await openReceiver();
  const clock = testClock();
  const path = `${folder.path}/cortex.db`;
  await fill(path, deliveries, clock);

  const random = createRandom(seed);
  const taken: Received[] = [];
  let cuts = 0;
  receiver.behave((response, request) => {
    const chance = random.fraction();
    if (chance < BUSY_SHARE) return answer(503)(response, request);
    taken.push(request);
    const isCut = chance < BUSY_SHARE + CUT_SHARE;
    if (isCut) cuts++;
    return (isCut ? cut : accept)(response, request);
  });
  const places = Array.from({ length: TARGETS }, (_, i) => placeOf(i));
  const targets = Object.fromEntries(places.map((place) => [place, { url: `${receiver.url}/${place}` }]));
  const webhook = openWebhookOutlet({ targets, variable: () => undefined, fetch, clock });

  const scene = { path, webhook, clock, random: () => random.fraction(), received: receiver.received };
  let crashes = 0;
  while ((await sendUntilCrash(scene)) === "crashed") crashes++;
  const sent = await countSent(path, clock);

  const { firsts, repeats } = sortOut(taken);
  return {
    deliveries,
    crashes,
    cut: cuts,
    received: taken.length,
    lost: deliveries - Math.min(firsts.length, sent),
    duplicates: repeats.length,
    unmarked: repeats.filter((repeat) => !isMarked(repeat)).length,
    disordered: places.reduce((sum, place) => sum + countDisordered(firsts, place), 0),
  };
}

/** What must not be. */
export function faultsIn({ lost, unmarked, disordered }: Figures): number {
  return lost + unmarked + disordered;
}

async function fill(path: string, deliveries: number, clock: Clock): Promise<void> {
  await using store = await openSqliteStore({ path, clock });
  for (let i = 0; i < deliveries; i++) {
    const name = String(i).padStart(DIGITS, "0");
    const claim = await begin(store, name);
    const target = { channel: "webhook", place: placeOf(i) };
    await store.turns.commit({ ...turnFor(claim), deliveries: [delivery(name, "", { target })] });
  }
}

function placeOf(i: number): string {
  return `t${i % TARGETS}`;
}

interface Scene {
  readonly path: string;
  readonly webhook: Outlet;
  readonly clock: Clock;
  readonly random: () => number;
  readonly received: readonly Received[];
}

async function sendUntilCrash({
  path,
  webhook,
  clock,
  random,
  received,
}: Scene): Promise<"done" | "crashed"> {
  const store = await openSqliteStore({ path, clock, connect: killableConnection });
  const outlets = (): Outlet => webhook;
  const sender = new Sender({
    store,
    outlets,
    holder: "alice",
    clock,
    random,
    onProblem: () => {},
  });
  sender.start();
  const crashAt = received.length + CRASH_EVERY;
  let left = Infinity;
  let before = received.length;
  for (let inVain = 0; left > 0 && received.length < crashAt && inVain < MAX_LOOKS_IN_VAIN; inVain++) {
    if (received.length > before) inVain = 0;
    before = received.length;
    await delay(LOOK_MS);
    clock.advance(STEP_MS);
    sender.wake();
    const { pending, sending, unknown } = (await store.counts()).deliveries;
    left = pending + sending + unknown;
  }
  await store.crash();
  await sender.stop(0);
  return left > 0 && received.length >= crashAt ? "crashed" : "done";
}

async function countSent(path: string, clock: Clock): Promise<number> {
  await using store = await openSqliteStore({ path, clock });
  const [row] = await store.query("select count(*) as sent from deliveries where status = 'sent'");
  return Number(row!["sent"]);
}

interface Repeat {
  readonly first: Received;
  readonly again: Received;
}

function sortOut(taken: readonly Received[]): { firsts: readonly Received[]; repeats: readonly Repeat[] } {
  const firsts = new Map<string, Received>();
  const repeats: Repeat[] = [];
  for (const request of taken) {
    const first = firsts.get(keyOf(request));
    if (first === undefined) firsts.set(keyOf(request), request);
    else repeats.push({ first, again: request });
  }
  return { firsts: [...firsts.values()], repeats };
}

function isMarked({ first, again }: Repeat): boolean {
  const { "x-cortex-repeat": repeat, "x-cortex-attempt": attempt } = again.headers;
  return repeat === "true" && attempt !== "1" && again.body === first.body;
}

function countDisordered(firsts: readonly Received[], place: string): number {
  const keys = firsts.filter(({ path }) => path === `/${place}`).map(keyOf);
  return keys.filter((key, i) => i > 0 && key < keys[i - 1]!).length;
}

function keyOf({ headers }: Received): string {
  return String(headers["idempotency-key"]);
}
