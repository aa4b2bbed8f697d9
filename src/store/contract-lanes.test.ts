/** What every store promises about work of different people: no one's displaces or delays another's. */
import { array, assert, asyncProperty, constantFrom, integer, record } from "fast-check";
import { describe, expect, test } from "vitest";

import { alice, dispatch, event, session, toSession, turnFor } from "../../test/support/sample.ts";
import { STORES } from "../../test/support/stores.ts";
import { OWNER_PRINCIPAL, personPrincipal, type Principal } from "../model/principal.ts";
import type { Claim, Dispatched, LeaseRequest, NewDispatch, Store } from "./store.ts";

const ada = personPrincipal("ada");
const ben = personPrincipal("ben");
const work = session("work");
const CAP = { max: 3, drop: "old" as const };

/** A message of a principal to a session. */
async function send(
  store: Store,
  name: string,
  {
    by,
    to = "work",
    claim,
    ...fields
  }: { by: Principal; to?: string; claim?: LeaseRequest } & Partial<NewDispatch>,
): Promise<Dispatched> {
  const sent = { dispatch: dispatch(name, toSession(to), fields), ...(claim === undefined ? {} : { claim }) };
  return (await store.events.accept(event(name, { principal: by }), sent)).dispatched!;
}

async function waiting(store: Store): Promise<string[]> {
  return (await store.queue.pending(work)).map(({ id }) => id.replace("item-", ""));
}

async function lease(store: Store, max: number, others: number): Promise<Claim[]> {
  return store.queue.lease({ ...alice, others }, max);
}

const labels = (claims: readonly Claim[]): string[] => claims.map((claim) => claim.lease.session);

describe.each(Object.entries(STORES))("%s", (_, open) => {
  describe("a full queue", () => {
    test("drops nothing of the owner for 60 messages of a stranger, nor the other way round", async () => {
      await using opened = await open();
      const { store } = opened;
      await send(store, "running", { by: OWNER_PRINCIPAL, claim: alice });
      await send(store, "owners", { by: OWNER_PRINCIPAL, cap: CAP });
      for (const place of Array(60).keys()) await send(store, `s${place}`, { by: ada, cap: CAP });
      expect(await waiting(store)).toEqual(["owners", "s57", "s58", "s59"]);
      for (const place of Array(60).keys()) await send(store, `o${place}`, { by: OWNER_PRINCIPAL, cap: CAP });
      expect(await waiting(store)).toEqual(["s57", "s58", "s59", "o57", "o58", "o59"]);
    });

    test("is summarized to a turn of the person whose messages were dropped", async () => {
      await using opened = await open();
      const { store } = opened;
      await send(store, "running", { by: OWNER_PRINCIPAL, claim: alice });
      const cap = { max: 1, drop: "summarize" as const };
      for (const name of ["a", "b"]) await send(store, name, { by: ada, cap });
      expect(await store.queue.unseenDrops(work, { principal: OWNER_PRINCIPAL })).toEqual([]);
      expect(await store.queue.unseenDrops(work, { principal: ada })).toMatchObject([{ id: "item-a" }]);
    });

    test("keeps the messages of others where an interruption drops what waits", async () => {
      await using opened = await open();
      const { store } = opened;
      const { claim } = await send(store, "running", { by: OWNER_PRINCIPAL, claim: alice });
      await send(store, "owners", { by: OWNER_PRINCIPAL });
      await send(store, "first", { by: ada });
      await send(store, "stop", { by: ada, mode: "interrupt", drains: "drop" });
      expect(await waiting(store)).toEqual(["owners", "stop"]);
      expect(await store.runs.get(claim!.run)).toMatchObject({ abort: undefined });
      await send(store, "mine", { by: OWNER_PRINCIPAL, mode: "interrupt" });
      expect(await store.runs.get(claim!.run)).toMatchObject({ abort: expect.any(String) });
    });
  });

  describe("the owner's work", () => {
    test("is claimed before that of others, also within a session", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      for (const name of ["a", "b"]) await send(store, name, { by: ada });
      await send(store, "c", { by: ada, to: "other" });
      clock.advance(1_000);
      await send(store, "owners", { by: OWNER_PRINCIPAL });
      const [claim] = await lease(store, 1, 1);
      expect(labels([claim!])).toEqual(["work"]);
      expect(await store.queue.itemsOf(claim!.turn)).toMatchObject([{ id: "item-owners" }]);
      const { next } = await store.turns.commit(turnFor(claim!, { claimNext: { ...alice, others: 1 } }));
      expect(labels([next!])).toEqual(["other"]);
    });

    test("gets the slots that others may not have", async () => {
      await using opened = await open();
      const { store } = opened;
      for (const name of ["a", "b", "c", "d"]) await send(store, name, { by: ada, to: name });
      expect(await lease(store, 4, 2)).toHaveLength(2);
      const request = { ...alice, others: 2 };
      expect(await send(store, "e", { by: ben, to: "e", claim: request })).not.toHaveProperty("claim");
      expect(await store.queue.nextReadyMs(request)).toBeUndefined();
      expect(await store.queue.nextReadyMs()).toBeDefined();
      const owners = await send(store, "o", { by: OWNER_PRINCIPAL, to: "o", claim: request });
      expect(owners.claim).toBeDefined();
    });

    test("never waits for more than the turns that were running, whatever others send", async () => {
      await assert(
        asyncProperty(
          integer({ min: 1, max: 4 }),
          array(record({ by: constantFrom(ada, ben), to: constantFrom("work", "x", "y", "z") }), {
            maxLength: 30,
          }),
          constantFrom("work", "x", "alone"),
          async (slots, sent, to) => {
            await using opened = await open();
            const { store } = opened;
            const request = { ...alice, others: Math.max(slots - 1, 1) };
            const running: Claim[] = [];
            for (const [place, one] of sent.entries()) {
              const claim = running.length < slots ? { claim: request } : {};
              const given = (await send(store, `s${place}`, { ...one, ...claim })).claim;
              if (given !== undefined) running.push(given);
            }
            const claim = running.length < slots ? { claim: request } : {};
            const owners = await send(store, "owners", { by: OWNER_PRINCIPAL, to, ...claim });
            const isBusy = running.some(({ lease: { session: label } }) => label === session(to));
            const leased =
              running.length < slots ? await store.queue.lease(request, slots - running.length) : [];
            let begun = [owners.claim, ...leased].filter((each) => each !== undefined);
            if (isBusy || running.length === slots) {
              const ending = running.find((each) => each.lease.session === session(to)) ?? running[0]!;
              const { next } = await store.turns.commit(turnFor(ending, { claimNext: request }));
              begun = [next!];
            }
            const items = await Promise.all(begun.map(({ turn }) => store.queue.itemsOf(turn)));
            expect(items.flat().map(({ id }) => id)).toContain("item-owners");
          },
        ),
        { numRuns: 30 },
      );
    });
  });

  test("people take turns, however many sessions each of them has", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    for (const place of Array(6).keys()) await send(store, `a${place}`, { by: ada, to: `a${place}` });
    clock.advance(1_000);
    for (const place of Array(2).keys()) await send(store, `b${place}`, { by: ben, to: `b${place}` });
    const order: string[] = [];
    let [claim] = await lease(store, 1, 1);
    while (claim !== undefined) {
      order.push(claim.lease.session);
      claim = (await store.turns.commit(turnFor(claim, { claimNext: { ...alice, others: 1 } }))).next;
    }
    expect(order).toEqual(["a0", "b0", "a1", "b1", "a2", "a3", "a4", "a5"]);
  });
});
