import { describe, expect, test } from "vitest";

import { openTestStore } from "../../test/support/open-store.ts";
import { dispatch, event, session, START_MS, toSession, turnFor } from "../../test/support/sample.ts";
import { OWNER_PRINCIPAL, personPrincipal } from "../model/principal.ts";
import type { Claim, LeaseRequest, NewDispatch, Store } from "../store/store.ts";
import { type ActiveRun, Broker, type BrokerPorts } from "./broker.ts";

const lease: LeaseRequest = { holder: "broker", ttlMs: 30_000 };
const POLL_MS = 5;
const QUIET = { pollMs: 1_000_000 };

const OWNERS = { principal: OWNER_PRINCIPAL };

/** A message that nobody has taken up. */
async function queue(
  store: Store,
  name: string,
  label: string,
  fields: Partial<NewDispatch> = {},
): Promise<void> {
  await store.events.accept(event(name, OWNERS), { dispatch: dispatch(name, toSession(label), fields) });
}

/** A message to an idle session, taken up at once where a slot is free. */
function send(broker: Broker, store: Store, name: string, label: string): Promise<boolean> {
  return broker.withSlot(async (request) => {
    const work = { dispatch: dispatch(name, toSession(label)) };
    const accepted = await store.events.accept(
      event(name, OWNERS),
      request === undefined ? work : { ...work, claim: request },
    );
    const claim = accepted.dispatched?.claim;
    return { result: claim !== undefined, claim };
  });
}

async function commit(store: Store, { claim, claimNext }: ActiveRun): Promise<Claim | undefined> {
  const next = claimNext();
  return (await store.turns.commit(turnFor(claim, next === undefined ? {} : { claimNext: next }))).next;
}

function brokerOf(store: Store, run: BrokerPorts["run"], fields: Partial<BrokerPorts> = {}): Broker {
  return new Broker({
    store,
    lease,
    slots: () => 2,
    clock: () => START_MS,
    run,
    onProblem: () => {},
    pollMs: POLL_MS,
    ...fields,
  });
}

/** Starts a broker that nothing will wake but what the test does. */
async function startQuietly(broker: Broker, store: Store): Promise<void> {
  broker.start();
  await store.queue.release([]); // when this is done, so is what the start has asked for
}

const untilCut = ({ cut }: ActiveRun): Promise<void> =>
  new Promise((resolve) => cut.addEventListener("abort", () => resolve()));

async function emptied(store: Store, turns: number): Promise<void> {
  await expect.poll(async () => (await store.counts()).turns).toBe(turns);
}

test("what waits is run, never more at once than there are slots, and never two of one session", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const names = Array.from({ length: 30 }, (_, i) => String(i));
  await Promise.all(names.map((name) => queue(store, name, `s${Number(name) % 6}`)));
  const running = new Set<string>();
  const seen: number[] = [];
  await using broker = brokerOf(store, async (active) => {
    expect(running).not.toContain(active.claim.lease.session);
    running.add(active.claim.lease.session);
    seen.push(running.size, broker.active);
    await store.sessions.get(active.claim.lease.session);
    running.delete(active.claim.lease.session);
    return commit(store, active);
  });
  broker.start();
  const arriving = names.map((name) => send(broker, store, `late-${name}`, `s${Number(name) % 6}`));
  await Promise.all(arriving);
  await emptied(store, 60);

  expect(Math.max(...seen)).toBeLessThanOrEqual(2);
});

test("sessions take turns: one with much to do keeps no other waiting", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  for (let i = 0; i < 10; i++) await queue(store, `busy-${i}`, "busy");
  await queue(store, "other-1", "other");
  await queue(store, "third-1", "third");
  const order: string[] = [];
  await using broker = brokerOf(
    store,
    (active) => {
      order.push(active.claim.lease.session);
      return commit(store, active);
    },
    { slots: () => 1 },
  );
  broker.start();
  await emptied(store, 12);

  expect(order.slice(0, 3).toSorted()).toEqual(["busy", "other", "third"]);
});

test("others leave a slot to the owner", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const gate = Promise.withResolvers<void>();
  const begun: string[] = [];
  const run = async (active: ActiveRun): Promise<Claim | undefined> => {
    begun.push(active.claim.lease.session);
    await gate.promise;
    return commit(store, active);
  };
  for (const name of ["a", "b", "c"]) {
    const sent = event(name, { principal: personPrincipal("ada") });
    await store.events.accept(sent, { dispatch: dispatch(name, toSession(name)) });
  }
  await using broker = brokerOf(store, run, QUIET);
  await startQuietly(broker, store);
  await expect.poll(() => begun).toEqual(["a"]);
  await send(broker, store, "o", "o");
  expect(begun).toEqual(["a", "o"]);
  gate.resolve();
  await emptied(store, 4);
});

test("a message to an idle session is taken up with its arrival, and waits where all slots are in use", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const gate = Promise.withResolvers<void>();
  await using broker = brokerOf(
    store,
    async (active) => {
      await gate.promise;
      return commit(store, active);
    },
    QUIET,
  );
  await startQuietly(broker, store);
  const [a, b, c] = [
    await send(broker, store, "a", "a"),
    await send(broker, store, "b", "b"),
    await send(broker, store, "c", "c"),
  ];
  expect([a, b, c]).toEqual([true, true, false]);
  expect(broker.active).toBe(2);
  gate.resolve();
  await emptied(store, 3);
});

test("an arrival that fails gives its slot back", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  await using broker = brokerOf(store, (active) => commit(store, active), { ...QUIET, slots: () => 1 });
  await startQuietly(broker, store);
  const failing = broker.withSlot(() => Promise.reject(new Error("no room")));
  await expect(failing).rejects.toThrow("no room");
  expect(await send(broker, store, "a", "a")).toBe(true);
  await emptied(store, 1);
});

test("fewer slots count from the next run on", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  for (let i = 0; i < 12; i++) await queue(store, String(i), `s${i % 4}`);
  let slots = 4;
  let running = 0;
  const seen: number[] = [];
  await using broker = brokerOf(
    store,
    async (active) => {
      running++;
      if (slots === 1) seen.push(running);
      await store.counts();
      running--;
      slots = 1;
      return commit(store, active);
    },
    { slots: () => slots },
  );
  broker.start();
  await emptied(store, 12);
  expect(seen.at(-1)).toBe(1);
});

test("a run that fails without a word is reported, and its session is taken up again", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const problems: unknown[] = [];
  let tries = 0;
  await using broker = brokerOf(
    store,
    (active) => (tries++ === 0 ? Promise.reject(new Error("broken")) : commit(store, active)),
    { slots: () => 1, onProblem: (error, claim) => problems.push([String(error), claim.lease.session]) },
  );
  await queue(store, "a", "a");
  broker.start();
  await emptied(store, 1);
  expect(problems).toEqual([["Error: broken", "a"]]);
});

test("a run that fails again and again is tried at the pace of the poll", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  await queue(store, "a", "a");
  let tries = 0;
  await using broker = brokerOf(
    store,
    async () => {
      tries++;
      throw new Error("broken");
    },
    QUIET,
  );
  broker.start();
  await expect.poll(() => tries).toBe(1);
  await queue(store, "b", "b"); // wakes the broker
  await expect.poll(() => tries).toBe(2);
  expect((await store.sessions.get(session("a")))?.state).toBe("streaming");
});

test("a report that fails costs no slot", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  let tries = 0;
  await using broker = brokerOf(
    store,
    (active) => (tries++ === 0 ? Promise.reject(new Error("broken")) : commit(store, active)),
    {
      slots: () => 1,
      onProblem: () => {
        throw new Error("nobody listens");
      },
    },
  );
  await queue(store, "a", "a");
  broker.start();
  await emptied(store, 1);
  await expect.poll(() => broker.active).toBe(0);
});

test("leases are renewed, and a run that has lost its lease is cut off", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  await queue(store, "a", "a");
  const epochs: number[] = [];
  await using broker = brokerOf(
    store,
    async (active) => {
      epochs.push(active.claim.lease.epoch);
      if (epochs.length > 1) return commit(store, active);
      await untilCut(active);
      return undefined;
    },
    { lease: { holder: "broker", ttlMs: 30 } },
  );
  broker.start();
  await expect.poll(() => epochs.length).toBe(1);
  // The clock jumps, and somebody else finds the lease expired and gives the session back.
  let taken: Claim[] = [];
  await expect
    .poll(async () => {
      clock.advance(1_000);
      taken = await store.queue.lease({ holder: "other", ttlMs: 30_000 }, 1);
      return taken.length;
    })
    .toBe(1);
  await store.queue.release([taken[0]!.lease]);
  await emptied(store, 1);
  expect(epochs).toHaveLength(2);
});

test("stopping waits until runs are at a safe point", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const gate = Promise.withResolvers<void>();
  const broker = brokerOf(store, async (active) => {
    await gate.promise;
    expect(active.isStopping()).toBe(true);
    expect(active.claimNext()).toBeUndefined();
    expect(active.cut.aborted).toBe(false);
    return commit(store, active);
  });
  await queue(store, "a", "a");
  await queue(store, "a2", "a");
  broker.start();
  await expect.poll(() => broker.active).toBe(1);
  const stopped = broker.stop(1_000_000);
  gate.resolve();
  await stopped;

  expect(await store.counts()).toMatchObject({ turns: 1, queued: 1 });
  expect(await send(broker, store, "b", "b")).toBe(false);
});

test("runs that are not there in time are cut off, and one that is deaf is left behind", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const cut: string[] = [];
  const broker = brokerOf(
    store,
    async (active) => {
      await untilCut(active);
      cut.push(active.claim.lease.session);
      if (active.claim.lease.session === session("deaf")) await new Promise(() => {});
      await store.queue.release([active.claim.lease]);
      return undefined;
    },
    { cutMs: 1 },
  );
  await queue(store, "a", "a");
  await queue(store, "deaf", "deaf");
  broker.start();
  await expect.poll(() => broker.active).toBe(2);
  await broker.stop(0);
  expect(cut.toSorted()).toEqual(["a", "deaf"]);
});

test("stopping waits for an arrival that may bring a run with it", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const broker = brokerOf(
    store,
    async ({ claim, isStopping }) => {
      expect(isStopping()).toBe(true);
      await store.queue.release([claim.lease]);
      return undefined;
    },
    QUIET,
  );
  await startQuietly(broker, store);
  const sent = send(broker, store, "a", "a");
  await broker.stop(1_000_000);
  expect(await sent).toBe(true);
  expect(await store.runs.active()).toMatchObject([{ state: "resumable" }]);
});

test("a run that begins when the time is over is cut off at once", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const broker = brokerOf(
    store,
    async (active) => {
      if (!active.cut.aborted) await untilCut(active);
      await store.queue.release([active.claim.lease]);
      return undefined;
    },
    QUIET,
  );
  await startQuietly(broker, store);
  const sent = send(broker, store, "a", "a");
  await broker.stop(0);
  expect(await sent).toBe(true);
  expect(await store.runs.active()).toMatchObject([{ state: "resumable" }]);
});

test("a broker that was never busy stops at once, and twice", async () => {
  await using opened = await openTestStore();
  const broker = brokerOf(opened.store, async () => undefined);
  broker.start();
  await broker.stop(1_000_000);
  await broker.stop(1_000_000);
  expect(broker.active).toBe(0);
});

describe("what is due later is taken up at that moment, though nothing wakes the broker", () => {
  const LATER_MS = 20;

  test.each([
    ["a message", (store: Store, dueMs: number) => queue(store, "a", "a", { dueMs })],
    [
      "a turn that is to be tried again",
      async (store: Store, atMs: number) => {
        await queue(store, "a", "a");
        const [claim] = await store.queue.lease(lease, 1);
        const outcome = { kind: "retry", atMs } as const;
        await store.runs.fail({ lease: claim!.lease, run: claim!.run, error: "busy", outcome });
      },
    ],
  ])("%s", async (_, bring) => {
    await using opened = await openTestStore();
    const { store, clock } = opened;
    await bring(store, clock() + LATER_MS);
    await using broker = brokerOf(store, (active) => commit(store, active), { ...QUIET, clock });
    await startQuietly(broker, store);
    expect((await store.counts()).turns).toBe(0);
    clock.advance(LATER_MS);
    await emptied(store, 1);
  });

  test("a message that comes meanwhile and is due sooner", async () => {
    await using opened = await openTestStore();
    const { store, clock } = opened;
    await queue(store, "a", "a", { dueMs: clock() + QUIET.pollMs - 1 });
    await using broker = brokerOf(store, (active) => commit(store, active), { ...QUIET, clock });
    await startQuietly(broker, store);
    await queue(store, "b", "b", { dueMs: clock() + LATER_MS });
    clock.advance(LATER_MS);
    await emptied(store, 1);
    expect((await store.sessions.get(session("a")))?.queued).toBe(1);
  });
});
