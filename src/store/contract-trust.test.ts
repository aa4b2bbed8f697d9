/** What every store promises about the marks of a thread: see `trust.ts` of the model. */
import { describe, expect, test } from "vitest";

import { dispatch, event, session, toSession, turnFor } from "../../test/support/sample.ts";
import { begin, finishTurn, STORES } from "../../test/support/stores.ts";
import type { ItemId } from "../model/ids.ts";
import type { Settings, Store } from "./store.ts";

const work = session("work");
const untrusted = { trust: { untrusted: { "person:ada": true } } };

async function settingsOf(store: Store, label: string): Promise<Settings> {
  return (await store.sessions.get(session(label)))!.settings;
}

describe.each(Object.entries(STORES))("%s", (_, open) => {
  test("a fork has the marks of the session that its turn was made in, and no other settings", async () => {
    await using opened = await open();
    const { store } = opened;
    const turn = await finishTurn(store, "a");
    expect((await store.sessions.fork(turn, session("fork-0"))).settings).toEqual({});
    await store.sessions.configure(work, {
      profile: "fast",
      trust: { untrusted: { "person:ada": true }, private: false, outward: true },
    });
    const marks = { trust: { untrusted: { "person:ada": true }, outward: true } };
    expect((await store.sessions.fork(turn, session("fork-1"))).settings).toEqual(marks);
  });

  test("the fork that a message to a turn makes has them too", async () => {
    await using opened = await open();
    const { store } = opened;
    const turn = await finishTurn(store, "a");
    await store.sessions.configure(work, untrusted);
    await finishTurn(store, "b");
    const toTurn = { kind: "turn" as const, turn, forkAs: session("fork-1") };
    await store.events.accept(event("c"), { dispatch: dispatch("c", toTurn) });
    expect(await settingsOf(store, "fork-1")).toEqual(untrusted);
  });

  test("a session that a message opens has none", async () => {
    await using opened = await open();
    const { store } = opened;
    await store.events.accept(event("a"), { dispatch: dispatch("a", toSession("new")) });
    expect(await settingsOf(store, "new")).toEqual({});
  });

  test("marks that were set in another session which points at the turn count", async () => {
    await using opened = await open();
    const { store } = opened;
    const turn = await finishTurn(store, "a");
    await store.sessions.fork(turn, session("fork-1"));
    await store.sessions.configure(session("fork-1"), { trust: { private: { owner: true } } });
    await store.sessions.configure(work, untrusted);
    expect((await store.sessions.fork(turn, session("fork-2"))).settings).toEqual({
      trust: { untrusted: { "person:ada": true }, private: { owner: true } },
    });
  });

  test("marks pass on from fork to fork", async () => {
    await using opened = await open();
    const { store } = opened;
    const turn = await finishTurn(store, "a");
    await store.sessions.configure(work, untrusted);
    await store.sessions.fork(turn, session("fork-1"));
    const later = await finishTurn(store, "b", "fork-1");
    expect((await store.sessions.fork(later, session("fork-2"))).settings).toEqual(untrusted);
  });

  test("a session that starts afresh loses its marks and keeps its other settings", async () => {
    await using opened = await open();
    const { store } = opened;
    await finishTurn(store, "a");
    await store.sessions.configure(work, { profile: "fast", ...untrusted });
    await store.sessions.reset(work);
    expect(await settingsOf(store, "work")).toEqual({ profile: "fast" });
  });

  test("a fork of the thread that was left has the marks that it had", async () => {
    await using opened = await open();
    const { store } = opened;
    const before = await finishTurn(store, "a");
    const claim = await begin(store, "b");
    await store.sessions.configure(work, untrusted);
    await store.turns.commit(turnFor(claim));
    await store.sessions.reset(work);
    expect((await store.sessions.fork(claim.turn, session("fork-1"))).settings).toEqual(untrusted);
    expect((await store.sessions.fork(before, session("fork-2"))).settings).toEqual({});
  });

  test("marks stay while a run is under way, or a dead letter may be tried again", async () => {
    await using opened = await open();
    const { store } = opened;
    const { lease, run } = await begin(store, "a");
    await store.sessions.configure(work, untrusted);
    const resets = async (): Promise<Settings> => {
      await store.sessions.reset(work);
      return settingsOf(store, "work");
    };
    expect(await resets()).toEqual(untrusted);
    await store.runs.fail({ lease, run, error: "e", outcome: { kind: "dead" } });
    expect(await resets()).toEqual(untrusted);
    await store.queue.retryDead("item-a" as ItemId);
    expect(await resets()).toEqual(untrusted);
    await store.queue.drop(["item-a" as ItemId], "old");
    expect(await resets()).toEqual({});
  });
});
