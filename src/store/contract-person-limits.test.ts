/** What every store promises of the limits of people. */
import { describe, expect, test } from "vitest";

import {
  alice,
  dispatch,
  event,
  facts,
  session,
  START_MS,
  toSession,
  turnFor,
} from "../../test/support/sample.ts";
import { STORES } from "../../test/support/stores.ts";
import type { EventId, PersonaId } from "../model/ids.ts";
import { OWNER_PRINCIPAL, personPrincipal, type Principal } from "../model/principal.ts";
import type { Dispatched, NewEvent, PersonQuota, Store } from "./store.ts";

const ada = personPrincipal("ada");
const ben = personPrincipal("ben");
const MINUTE_MS = 60_000;
const target = { channel: "test", place: "dm-1" };
const QUOTA: PersonQuota = { pending: 3, perMinute: 5, usdPerDay: 1, dayMs: START_MS, notice: { target } };
const atlas = "atlas" as PersonaId;

interface Sending {
  readonly by?: Principal;
  readonly to?: string;
  readonly quota?: PersonQuota;
  readonly fields?: Partial<NewEvent>;
}

async function send(
  store: Store,
  name: string,
  { by = ada, to = "work", quota = QUOTA, fields = {} }: Sending = {},
): Promise<Dispatched> {
  const options = { dispatch: dispatch(name, toSession(to), { quota }) };
  const { cause } = fields;
  const sent = event(name, { principal: by, ...fields });
  if (cause === undefined) return (await store.events.accept(sent, options)).dispatched!;
  const { principal: _, ...caused } = sent; // as whatever caused it
  return (await store.events.accept(caused, options)).dispatched!;
}

async function policy(store: Store, { item }: Dispatched): Promise<string | undefined> {
  return (await store.queue.outcome(item))?.policy;
}

async function notices(store: Store): Promise<(string | undefined)[]> {
  return (await store.outbox.list()).items.map(({ content }) => content);
}

async function finishNext(store: Store, costUsd = 0): Promise<void> {
  const [claim] = await store.queue.lease(alice, 1);
  await store.turns.commit(turnFor(claim!, { facts: { ...facts, costUsd } }));
}

describe.each(Object.entries(STORES))("%s", (_, open) => {
  test("a person's messages wait up to a limit over all sessions; further ones are dropped by name", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    for (const name of ["a", "b", "c"])
      expect(await send(store, name, { to: name })).toMatchObject({ outcome: "queued" });
    const over = await send(store, "d", { to: "d" });
    expect(over.outcome).toBe("dropped");
    expect(await policy(store, over)).toBe("person-pending");
    expect(await store.events.get("test:d" as EventId)).toMatchObject({ content: "message d" });
    await send(store, "e", { to: "e" });
    expect(await notices(store)).toEqual([expect.stringMatching(/^Not taken: 3 messages of yours may wait/)]);

    expect(await send(store, "f", { by: ben, to: "d" })).toMatchObject({ outcome: "queued" });
    expect(await send(store, "o", { by: OWNER_PRINCIPAL, to: "d" })).toMatchObject({ outcome: "queued" });
    await finishNext(store);
    await finishNext(store);
    clock.advance(10 * MINUTE_MS);
    expect(await send(store, "g", { to: "g" })).toMatchObject({ outcome: "queued" });
    await send(store, "h");
    await send(store, "i");
    expect(await notices(store)).toHaveLength(2);
  });

  test("so many messages of a person are taken in a minute", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const quota = { ...QUOTA, pending: 100 };
    for (const name of "abcde")
      expect(await send(store, name, { quota })).toMatchObject({ outcome: "queued" });
    expect(await policy(store, await send(store, "f", { quota }))).toBe("person-rate");
    clock.advance(MINUTE_MS / 5 - 1);
    expect(await policy(store, await send(store, "g", { quota }))).toBe("person-rate");
    clock.advance(1);
    expect(await send(store, "h", { quota })).toMatchObject({ outcome: "queued" });
    expect(await policy(store, await send(store, "i", { quota }))).toBe("person-rate");
    clock.advance(60 * MINUTE_MS);
    for (const name of "jklmn")
      expect(await send(store, name, { quota })).toMatchObject({ outcome: "queued" });
    expect(await policy(store, await send(store, "o", { quota }))).toBe("person-rate");
  });

  test("an event to two sessions counts once", async () => {
    await using opened = await open();
    const { store } = opened;
    const quota = { ...QUOTA, perMinute: 1 };
    await send(store, "a", { quota });
    const second = dispatch("a2", toSession("other"), { quota, hook: "second" });
    expect(await store.events.dispatch("test:a" as EventId, second)).toMatchObject({ outcome: "queued" });
    expect(await policy(store, await send(store, "b", { quota }))).toBe("person-rate");
    const dropped = dispatch("b2", toSession("other"), { quota, hook: "second" });
    expect(await policy(store, await store.events.dispatch("test:b" as EventId, dropped))).toBe(
      "person-rate",
    );
  });

  test("what a person's messages cause counts against their budget, and nothing of it is dropped", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const quota = { ...QUOTA, perMinute: 2 };
    await send(store, "a", { quota });
    const cause = { cause: "test:a" as EventId };
    for (const name of ["w", "x", "y", "z"]) await send(store, name, { to: name, quota, fields: cause });
    for (let turns = 0; turns < 5; turns++) await finishNext(store, 0.2);
    expect(await store.turns.spentByUsd(ada, START_MS)).toBeCloseTo(1);
    expect(await store.turns.spentByUsd(ben, START_MS)).toBe(0);
    expect(await store.turns.spentByUsd(OWNER_PRINCIPAL, START_MS)).toBe(0);
    expect(await store.turns.spentUsd(atlas, START_MS, { others: true })).toBeCloseTo(1);
    expect(await policy(store, await send(store, "b", { quota }))).toBe("person-budget");
    await send(store, "c", { quota });
    expect(await notices(store)).toEqual([expect.stringMatching(/budget for today/)]);
    clock.advance(1);
    expect(await send(store, "d", { quota: { ...quota, dayMs: START_MS + 1 } })).toMatchObject({
      outcome: "queued",
    });
  });

  test("each allowance of a person is counted on its own, and refills steadily", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const messages = { principal: ada, what: "messages", amount: 1, max: 5, refillMs: MINUTE_MS } as const;
    for (let n = 0; n < 4; n++) expect(await store.people.take(messages)).toBe(true);
    expect(await send(store, "a")).toMatchObject({ outcome: "queued" });
    expect(await store.people.take(messages)).toBe(false);
    expect(await policy(store, await send(store, "b"))).toBe("person-rate");
    const files = { principal: ada, what: "attachments", amount: 60, max: 100, refillMs: 1_000 } as const;
    expect(await store.people.take(files)).toBe(true);
    expect(await store.people.take(files)).toBe(false);
    expect(await store.people.take({ ...files, principal: ben })).toBe(true);
    clock.advance(200);
    expect(await store.people.take(files)).toBe(true);
  });

  test("a person's own limits come first", async () => {
    await using opened = await open();
    const { store } = opened;
    const by = { principal: OWNER_PRINCIPAL };
    await store.people.add({ id: "ada", name: "Ada", role: "member", limits: { pending: 1 } }, by);
    await send(store, "a");
    expect(await policy(store, await send(store, "b"))).toBe("person-pending");
    await store.people.change("ada", { limits: { pending: 2 } }, by);
    expect(await send(store, "c")).toMatchObject({ outcome: "queued" });
  });

  test("the model use of others is counted apart", async () => {
    await using opened = await open();
    const { store } = opened;
    await send(store, "a");
    await send(store, "o", { by: OWNER_PRINCIPAL, to: "owners" });
    await finishNext(store, 0.5);
    await finishNext(store, 0.5);
    const everything = { sinceMs: 0, untilMs: START_MS + 1_000 };
    expect(await store.turns.costs({ by: "person", ...everything })).toMatchObject([
      { key: "owner", costUsd: 0.5 },
      { key: "person:ada", costUsd: 0.5 },
    ]);
    expect(await store.turns.spentUsd(atlas, 0)).toBe(1);
    expect(await store.turns.spentUsd(atlas, 0, { others: true })).toBe(0.5);
    expect((await store.sessions.get(session("work")))?.head).toBeDefined();
  });
});
