import { expect, test } from "vitest";

import { openTestStore } from "../../test/support/open-store.ts";
import { dispatch, event, session, toSession } from "../../test/support/sample.ts";
import type { EventId } from "../model/ids.ts";
import type { Principal } from "../model/principal.ts";
import { audienceOfTurn, confinedTo } from "./audience.ts";

const ada = "person:ada" as Principal;

async function itemsOf(fields: Parameters<typeof event>[1], delivery?: object) {
  await using opened = await openTestStore();
  const { store } = opened;
  const to = delivery === undefined ? {} : { delivery: { ...delivery } };
  await store.events.accept(event("a", fields), { dispatch: dispatch("a", toSession("work"), to) });
  return store.queue.pending(session("work"));
}

const dm = { place: "7", sender: "7", placeKind: "dm", principal: ada } as const;

test.each([
  ["a chat of two", dm, undefined, "person:ada"],
  ["a group", { ...dm, placeKind: "group" as const }, undefined, "room:test:7"],
  ["another place", dm, { place: "-1" }, "room:test:-1"],
  ["the same place", dm, { place: 7 }, "person:ada"],
  [
    "a group where the owner writes",
    { ...dm, placeKind: "group" as const, principal: "owner" as Principal },
    undefined,
    "room:test:7",
  ],
  ["where the owner says", { ...dm, principal: "owner" as Principal }, { place: "-1" }, "owner"],
  [
    "where a program of the owner says",
    { ...dm, principal: "source:timer" as Principal },
    { place: "-1" },
    "owner",
  ],
  [
    "a report of work, sent where its caller is",
    { id: "agent:a" as EventId, principal: ada, audience: ada },
    { channel: "test", place: "7" },
    "person:ada",
  ],
  [
    "a report of the owner's work in a room",
    { id: "agent:a" as EventId, principal: "owner" as Principal, audience: "room:test:-1" },
    { channel: "test", place: "-1" },
    "room:test:-1",
  ],
])("an answer to %s is read by its audience", async (_, fields, delivery, audience) => {
  expect(audienceOfTurn(await itemsOf(fields, delivery))).toBe(audience);
});

test("a hook that sends the answer elsewhere says who reads it", async () => {
  const [report] = await itemsOf({ principal: ada, audience: ada }, { place: "-1", channel: "test" });
  const [sent] = report!.dispatches;
  const byHook = [{ ...report!, dispatches: [{ ...sent!, hook: "mine" }] }];
  expect(audienceOfTurn(byHook)).toBe("room:test:-1");
});

test("a turn whose answer cannot wait is kept to its reader's data, whatever the persona says", async () => {
  expect(confinedTo(await itemsOf(dm), { answers: "own" })).toBe(ada);
  expect(confinedTo(await itemsOf(dm), { answers: "ask" })).toBeUndefined();
  const [said] = await itemsOf({ ...dm, channel: "http" });
  const { place: _, ...at } = said!.event;
  const byApi = [{ ...said!, event: at }];
  expect(confinedTo(byApi, { answers: "ask" })).toBe(ada);
});
