/** What every store promises about talks in places: where they go on, what is said with an event, what is taken back. */
import { describe, expect, test } from "vitest";

import { delivery, dispatch, event, session, toSession } from "../../test/support/sample.ts";
import { STORES } from "../../test/support/stores.ts";
import type { EventId } from "../model/ids.ts";
import { MAX_REMARKS, type NewEvent } from "./store.ts";

const FROM = session("agent:main:main");
const PLACE = { channel: "test", place: "dm-1" };

const said = (name: string, more: Partial<NewEvent> = {}): NewEvent => ({
  ...event(name),
  messageId: name,
  ...more,
});

const moving = (name: string, to: string) =>
  [said(name), { moves: { from: FROM, to: session(to) } }] as const;

describe.each(Object.entries(STORES))("%s", (_, open) => {
  test("a talk is where the newest move before an event took it, each place and session apart", async () => {
    await using opened = await open();
    const { events, sessions } = opened.store;
    expect(await sessions.movedTo(PLACE, FROM)).toBeUndefined();
    await events.accept(said("before"));
    await events.accept(...moving("first", "one"));
    await events.accept(said("between"));
    await events.accept(...moving("second", "two"));
    await events.accept(...moving("first", "three")); // the same event again
    expect(await sessions.movedTo(PLACE, FROM)).toBe("two");
    const before = (name: string) => sessions.movedTo(PLACE, FROM, `test:${name}` as EventId);
    expect(await before("before")).toBeUndefined();
    expect(await before("between")).toBe("one");
    expect(await before("unknown")).toBe("two");
    expect(await sessions.movedTo({ ...PLACE, topic: "7" }, FROM)).toBeUndefined();
    expect(await sessions.movedTo({ ...PLACE, account: "work" }, FROM)).toBeUndefined();
    expect(await sessions.movedTo(PLACE, session("other"))).toBeUndefined();
  });

  test("notices of an event are queued with it, once", async () => {
    await using opened = await open();
    const { events, outbox } = opened.store;
    const notices = [{ ...delivery("reply"), content: "done" }];
    await events.accept(said("a"), { notices });
    await events.accept(said("a"), { notices });
    await events.accept(said("b"), { notices });
    expect((await outbox.list()).items.map(({ content }) => content)).toEqual(["done"]);
  });

  test("a message that waits is withdrawn by its deletion, and a later dispatch of it is dropped", async () => {
    await using opened = await open();
    const { events, queue } = opened.store;
    await events.accept(said("a"), { dispatch: dispatch("a", toSession(FROM)) });
    const deletion = { direction: "deleted", about: "a", messageId: undefined } as const;
    const remark = { ...dispatch("gone", toSession(FROM)), hook: "remark", remark: true } as const;
    const { messageId: __, ...gone } = { ...said("gone"), ...deletion };
    await events.accept(gone, { withdraws: "test:a" as EventId, dispatch: remark });
    const [first] = await events.dispatches("test:a" as EventId);
    expect(await queue.outcome(first!.item)).toMatchObject({ state: "dropped", policy: "withdrawn" });
    expect(await queue.unseenDrops(FROM)).toEqual([]);
    await events.dispatch("test:a" as EventId, { ...dispatch("later", toSession("work")), hook: "late" });
    const later = (await events.dispatches("test:a" as EventId)).at(-1);
    expect(await queue.outcome(later!.item)).toMatchObject({ state: "dropped", policy: "withdrawn" });
    expect(await queue.pending(FROM)).toEqual([]);
  });

  test("remarks wait for the next turn, whoever it is for, up to a limit, and no turn begins for them", async () => {
    await using opened = await open();
    const { events, queue } = opened.store;
    await events.accept(said("a"), { dispatch: dispatch("a", toSession(FROM)) });
    for (let i = 0; i < MAX_REMARKS + 3; i++) {
      const name = `r${i}`;
      const remark = { ...dispatch(name, toSession(FROM)), hook: "remark", remark: true } as const;
      await events.accept(said(name, { direction: "observed" }), { dispatch: remark });
    }
    expect(await queue.unseenDrops(FROM, { principal: "owner" as never })).toHaveLength(MAX_REMARKS);
    expect(await queue.pending(FROM)).toHaveLength(1);
  });

  test("a sent message is found by the platform's id of it, in its place", async () => {
    await using opened = await open();
    const { outbox } = opened.store;
    await outbox.notify({
      ...delivery("one", "dm-1", { target: { ...PLACE, topic: "7" } }),
      content: "hello",
    });
    const [claim] = await outbox.claim({ holder: "alice", ttlMs: 30_000 }, 1);
    await outbox.plan(claim!, ["hello"]);
    await outbox.sending(claim!, 0);
    await outbox.settle(claim!, 0, { kind: "sent", platformId: "99" });
    expect(await outbox.findSent(PLACE, "99")).toMatchObject({ content: "hello" });
    expect(await outbox.findSent({ ...PLACE, place: "other" }, "99")).toBeUndefined();
    expect(await outbox.findSent(PLACE, "98")).toBeUndefined();
  });
});
