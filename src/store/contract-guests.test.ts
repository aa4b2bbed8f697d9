/** What every store promises of events of guests: so many are kept in a day, and others are counted. */
import { describe, expect, test } from "vitest";

import { dispatch, event, toSession } from "../../test/support/sample.ts";
import { STORES } from "../../test/support/stores.ts";
import { DAY_MS } from "../model/durations.ts";
import type { EventId } from "../model/ids.ts";
import { guestPrincipal, type Identity, personPrincipal } from "../model/principal.ts";
import type { Accepted, Store } from "./store.ts";

const QUOTA = { perDay: 2, allPerDay: 3 };

function write(store: Store, name: string, who: string): Promise<Accepted> {
  const guest = guestPrincipal(`test:${who}` as Identity);
  return store.events.accept(event(name, { principal: guest, sender: who }), { guest: { guest, ...QUOTA } });
}

const isKept = async (store: Store, name: string): Promise<boolean> =>
  (await store.events.get(`test:${name}` as EventId)) !== undefined;

describe.each(Object.entries(STORES))("%s", (_, open) => {
  test("events of one guest, and of all, are stored up to a limit; others are acknowledged and counted", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    expect(await write(store, "a", "ann")).toEqual({ fresh: true });
    await write(store, "b", "ann");
    expect(await write(store, "c", "ann")).toEqual({ fresh: true, unkept: true });
    await write(store, "d", "bob");
    expect(await write(store, "e", "cat")).toEqual({ fresh: true, unkept: true });
    expect(await write(store, "a", "ann")).toEqual({ fresh: false });
    expect(await Promise.all(Array.from("abcde", (name) => isKept(store, name)))).toEqual([
      true,
      true,
      false,
      true,
      false,
    ]);
    const counted = "select guest, events, unkept from guest_day order by guest";
    const rows = [
      { guest: "", events: 5, unkept: 2 },
      { guest: "guest:test:ann", events: 2, unkept: 0 },
      { guest: "guest:test:bob", events: 1, unkept: 0 },
    ];
    expect(await store.query(counted)).toEqual(rows);
    clock.advance(DAY_MS);
    expect(await write(store, "f", "ann")).toEqual({ fresh: true });
    expect(await store.query(counted)).toHaveLength(2);
  });

  test("a thousand guests cost one row beyond the limit, and no message of a person", async () => {
    await using opened = await open();
    const { store } = opened;
    for (const place of Array(200).keys()) await write(store, `g${place}`, `guest-${place}`);
    expect(await store.query("select count(*) as rows from guest_day")).toEqual([
      { rows: 1 + QUOTA.allPerDay },
    ]);
    const sent = event("p", { principal: personPrincipal("ada") });
    expect(await store.events.accept(sent, { dispatch: dispatch("p", toSession("work")) })).toMatchObject({
      fresh: true,
      dispatched: { outcome: "queued" },
    });
  });
});
