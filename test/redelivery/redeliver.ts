/**
 * Platforms that got no answer deliver again, some of them hours later: each event comes one to five times, all
 * of them shuffled, over many connections at once, and Cortex is stopped and started in between. In the end each
 * event has one turn with its words in it, and there is nothing else.
 */
import { deepStrictEqual, strictEqual } from "node:assert";
import { setTimeout as delay } from "node:timers/promises";

import type { ItemId } from "../../src/model/ids.ts";
import { normalizeSessionKey } from "../../src/model/session-key.ts";
import type { Cortex } from "../../src/runtime/cortex.ts";
import type { Counts } from "../../src/store/store.ts";
import { createRandom, type Random } from "../simulation/random.ts";
import { openTestCortex, writeHome } from "../support/home.ts";
import { memoryParent, temporaryFolder } from "../support/temporary.ts";

const MAX_COPIES = 5;
const EVENTS_PER_SESSION = 20;
/** Cortex is stopped this often, each time when it has answered half of what waited. */
const STOPS = 4;
const CONNECTIONS = 50;
const LOOK_MS = 20;

export interface Figures {
  readonly events: number;
  readonly deliveries: number;
  readonly sessions: number;
  readonly turns: number;
  /** How many messages waited when Cortex was stopped, all together. */
  readonly waited: number;
}

export async function redeliver({ events, seed }: { events: number; seed: number }): Promise<Figures> {
  try {
    return await run(events, createRandom(seed));
  } catch (error) {
    throw new Error(`Seed ${seed} with ${events} events fails.`, { cause: error });
  }
}

async function run(events: number, random: Random): Promise<Figures> {
  using folder = temporaryFolder(memoryParent());
  const home = folder.path;
  writeHome(home, {
    cortex: { broker: { queue: { cap: EVENTS_PER_SESSION } } },
    script: "- { when: .*, plays: [{ say: 're {{message}}' }] }",
  });
  const sessions = Math.ceil(events / EVENTS_PER_SESSION);
  const deliveries = shuffledDeliveries(events, random);
  /** By event: the item that the first delivery of it was given. */
  const items = new Map<number, ItemId>();
  const share = Math.ceil(deliveries.length / STOPS);
  let waited = 0;
  for (let from = 0; from < deliveries.length; from += share) {
    await using cortex = await openTestCortex({}, { home });
    await deliver(deliveries.slice(from, from + share), { cortex, sessions, items });
    const { queued: first } = await cortex.store.counts();
    waited += (await until(cortex, ({ queued }) => queued <= first / 2)).queued;
  }

  await using cortex = await openTestCortex({}, { home });
  const { turns } = await until(cortex, ({ queued, running }) => queued + running === 0);
  strictEqual(items.size, events, "each event was taken");
  strictEqual(turns, events, "there is one turn for each event");
  for (const [event, item] of items) await checkTurn({ event, item, sessions }, cortex);
  return { events, deliveries: deliveries.length, sessions, turns, waited };
}

/** The events by number, each of them once to five times. */
function shuffledDeliveries(events: number, random: Random): number[] {
  const deliveries: number[] = [];
  for (let event = 0; event < events; event++) {
    const copies = 1 + random.below(MAX_COPIES);
    for (let copy = 0; copy < copies; copy++) deliveries.push(event);
  }
  for (let last = deliveries.length - 1; last > 0; last--) {
    const other = random.below(last + 1);
    [deliveries[last], deliveries[other]] = [deliveries[other]!, deliveries[last]!];
  }
  return deliveries;
}

interface Scene {
  readonly cortex: Cortex;
  readonly sessions: number;
  readonly items: Map<number, ItemId>;
}

async function deliver(deliveries: readonly number[], { cortex, sessions, items }: Scene): Promise<void> {
  const rest = deliveries.values();
  const connection = async (): Promise<void> => {
    for (const event of rest) {
      const { item } = await cortex.send({
        content: contentOf(event),
        session: sessionOf(event, sessions),
        mode: "followup",
        idempotencyKey: `event-${event}`,
      });
      strictEqual(items.get(event) ?? item, item, `event ${event} is the same message each time`);
      items.set(event, item);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
}

function contentOf(event: number): string {
  return `message ${event}`;
}

function sessionOf(event: number, sessions: number): string {
  return `s${event % sessions}`;
}

async function until({ store }: Cortex, isReached: (counts: Counts) => boolean): Promise<Counts> {
  for (;;) {
    const counts = await store.counts();
    strictEqual(counts.dead, 0, "no message is a dead letter");
    if (isReached(counts)) return counts;
    await delay(LOOK_MS);
  }
}

interface Taken {
  readonly event: number;
  readonly item: ItemId;
  readonly sessions: number;
}

async function checkTurn({ event, item, sessions }: Taken, { store }: Cortex): Promise<void> {
  const outcome = await store.queue.outcome(item);
  strictEqual(outcome?.state, "done", `event ${event} is answered`);
  const { turn, messages } = (await store.turns.read(outcome.turn!))!;
  deepStrictEqual(
    { session: turn.session, said: messages.map(({ content }) => content) },
    {
      session: normalizeSessionKey(sessionOf(event, sessions)),
      said: [contentOf(event), `re ${contentOf(event)}`],
    },
  );
}
