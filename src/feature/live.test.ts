import { expect, test } from "vitest";

import { openTestStore } from "../../test/support/open-store.ts";
import { alice, dispatch, event, toSession, turnFor } from "../../test/support/sample.ts";
import type { RunId } from "../model/ids.ts";
import type { Claim, Store } from "../store/store.ts";
import { Bell, Live, type LiveEntry, type LiveOptions, MAX_WAITING_DELTAS } from "./live.ts";

async function begin(store: Store, name: string): Promise<Claim> {
  const work = { dispatch: dispatch(name, toSession("work")), claim: alice };
  return (await store.events.accept(event(name), work)).dispatched!.claim!;
}

/** Reads along until the entries satisfy the test. */
async function readUntil(
  live: Live,
  enough: (entries: readonly LiveEntry[]) => boolean,
  options: Partial<LiveOptions> = {},
): Promise<LiveEntry[]> {
  const seen: LiveEntry[] = [];
  for await (const entries of live.read({ signal: new AbortController().signal, ...options })) {
    seen.push(...entries);
    if (enough(seen)) break;
  }
  return seen;
}

function kinds(entries: readonly LiveEntry[]): string[] {
  return entries.map((entry) => (entry.kind === "change" ? entry.change.kind : entry.kind));
}

const hasTurn = (entries: readonly LiveEntry[]): boolean => kinds(entries).includes("turn");

test("a reader that was away goes on where it was, and misses nothing", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  const live = new Live(store, clock);
  const claim = await begin(store, "a");
  const before = await store.changes.last();
  await store.turns.commit(turnFor(claim));

  const all = await readUntil(live, hasTurn, { since: 0 });
  expect(kinds(all)).toEqual(expect.arrayContaining(["event", "dispatch", "run", "turn"]));
  const rest = await readUntil(live, hasTurn, { since: before });
  expect(rest).toEqual(all.filter((entry) => entry.kind === "change" && entry.change.seq > before));
});

test("more changes than are read at a time all come, in order", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  const live = new Live(store, clock);
  const count = 450;
  await Promise.all(Array.from({ length: count }, (_, i) => store.events.accept(event(String(i)))));
  const seen = await readUntil(live, (entries) => entries.length >= count, { since: 0 });
  const numbers = seen.map((entry) => (entry.kind === "change" ? entry.change.seq : 0));
  expect(numbers).toEqual(Array.from({ length: count }, (_, i) => i + 1));
});

test("a reader that begins now is told of what comes, not of what was", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  const live = new Live(store, clock);
  const claim = await begin(store, "a");
  const reader = live.read({ signal: new AbortController().signal });
  const first = reader.next();
  await store.turns.commit(turnFor(claim));
  const { value } = await first;
  expect(kinds(value as LiveEntry[])).not.toContain("dispatch");
  expect(kinds(value as LiveEntry[])).toContain("turn");
  await reader.return(undefined);
});

test("a reader from a time that this ledger does not know is told so, once, and then of what comes", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  const live = new Live(store, clock);
  const claim = await begin(store, "a");
  const reading = readUntil(live, hasTurn, { since: 1_000_000 });
  await store.turns.commit(turnFor(claim));
  const seen = await reading;
  expect(seen[0]).toEqual({ kind: "gap" });
  expect(seen.filter(({ kind }) => kind === "gap")).toHaveLength(1);
});

test("words that come fast are gathered, each kind of each run for itself", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  const live = new Live(store, clock);
  const claim = await begin(store, "a");
  live.tell(claim, { kind: "text", text: "nobody listens" });
  const reader = live.read({ since: 0, signal: new AbortController().signal });
  await reader.next(); // it has begun
  for (const text of ["one ", "two ", "three"]) live.tell(claim, { kind: "text", text });
  live.tell(claim, { kind: "thinking", text: "hm" });
  const { value: deltas } = await reader.next();
  await reader.return(undefined);
  const { turn, run } = claim;
  expect(deltas).toEqual([
    {
      kind: "delta",
      session: "work",
      turn,
      run,
      atMs: clock(),
      delta: { kind: "text", text: "one two three" },
    },
    { kind: "delta", session: "work", turn, run, atMs: clock(), delta: { kind: "thinking", text: "hm" } },
  ]);
});

test("a reader that does not keep up loses words, never changes or notices", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  const live = new Live(store, clock);
  const claim = await begin(store, "a");
  const { signal } = new AbortController();
  const [reader, quick] = [live.read({ since: 0, signal }), live.read({ since: 0, signal })];
  await Promise.all([reader.next(), quick.next()]);
  for (let i = 0; i < MAX_WAITING_DELTAS + 5; i++) {
    live.tell({ ...claim, run: `run-${i}` as RunId }, { kind: "text", text: "word" });
  }
  await quick.next(); // the words were given out, and the other reader is still busy
  live.announce("config.changed");
  await store.turns.commit(turnFor(claim));

  const { value } = await reader.next();
  const seen = kinds(value as LiveEntry[]);
  expect(seen.filter((kind) => kind === "delta")).toHaveLength(MAX_WAITING_DELTAS);
  expect(seen).toContain("notice");
  expect(seen).toContain("turn");
  await Promise.all([reader.return(undefined), quick.return(undefined)]);
});

test("reading ends with its signal, and when Cortex stops", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  const live = new Live(store, clock);
  const controller = new AbortController();
  const first = readUntil(live, () => false, { signal: controller.signal });
  const second = readUntil(live, () => false);
  controller.abort();
  expect(await first).toEqual([]);
  live[Symbol.dispose]();
  expect(await second).toEqual([]);
  expect(await readUntil(live, () => false)).toEqual([]);
});

test("a ring wakes whoever waits, and also one who begins to wait after it", async () => {
  const bell = new Bell();
  const waiting = bell.next();
  bell.ring();
  bell.ring();
  await waiting;

  const working = bell.next();
  bell.ring();
  await Promise.resolve();
  await working;
  expect(await Promise.race([bell.next(), Promise.resolve("nothing rang since")])).toBe("nothing rang since");
});
