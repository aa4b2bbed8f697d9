import * as fc from "fast-check";
import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import { event } from "../../test/support/sample.ts";
import { MAIN_SESSION, type DmScope, parseSessionKey } from "../model/session-key.ts";
import type { StoredEvent } from "../store/store.ts";
import { sessionOfEvent } from "./session-of-event.ts";

type Fields = { readonly [Name in keyof StoredEvent]?: StoredEvent[Name] | undefined };

async function sessions(dmScope: DmScope, links: Readonly<Record<string, readonly string[]>> = {}) {
  const { config } = await loadFiles({ "cortex.json": { dmScope, identityLinks: links } });
  return (fields: Fields, isPersons = true): string => {
    const { place: _, ...message } = event("a", { channel: "telegram", sender: "42" });
    const said = { ...message, receivedAtMs: 0, differing: 0, ...fields } as StoredEvent;
    return sessionOfEvent(said, { isPersons, config });
  };
}

test.each<[string, Fields, string]>([
  ["a direct message", { place: "42", placeKind: "dm" }, "agent:main:telegram:dm:42"],
  ["a message with no place", {}, "agent:main:telegram:dm:42"],
  ["a message at the sender's own id", { place: "42" }, "agent:main:telegram:dm:42"],
  ["a group", { place: "-100", placeKind: "group" }, "agent:main:telegram:group:-100"],
  [
    "a group that its metadata tells",
    { place: "-100", metadata: { is_group: true } },
    "agent:main:telegram:group:-100",
  ],
  [
    "a supergroup",
    { place: "-100", metadata: { chat_type: "supergroup" } },
    "agent:main:telegram:group:-100",
  ],
  ["a topic", { place: "-100", placeKind: "group", topic: "7" }, "agent:main:telegram:group:-100:thread:7"],
  ["a channel", { channel: "slack", place: "C123", placeKind: "channel" }, "agent:main:slack:channel:C123"],
  [
    "another account",
    { place: "-1", placeKind: "group", account: "work" },
    "agent:main:telegram@work:group:-1",
  ],
  ["a place of which nobody says what it is", { place: "99" }, "agent:main:telegram:group:99"],
])("%s has a session of its own", async (_, fields, key) => {
  expect((await sessions("per-channel-peer"))(fields)).toBe(key);
});

test("direct messages go where `dmScope` and `identityLinks` say", async () => {
  const links = { ada: ["telegram:42", "discord:9"] };
  const of = async (scope: DmScope, channel: string, sender: string) =>
    (await sessions(scope, links))({ channel, sender });
  expect(await of("main", "telegram", "42")).toBe(MAIN_SESSION);
  expect(await of("per-peer", "telegram", "42")).toBe("agent:main:dm:ada");
  expect(await of("per-peer", "discord", "9")).toBe("agent:main:dm:ada");
  expect(await of("per-channel-peer", "discord", "9")).toBe("agent:main:dm:ada");
  expect(await of("per-channel-peer", "discord", "10")).toBe("agent:main:discord:dm:10");
});

test("what the owner and programs say has no place, and goes to the main session", async () => {
  const sessionOf = await sessions("per-channel-peer");
  expect(sessionOf({ channel: "cli", sender: "owner" }, false)).toBe(MAIN_SESSION);
  expect(sessionOf({ channel: "timer", sender: undefined }, false)).toBe(MAIN_SESSION);
});

test("a group without a place is an error that says what to give", async () => {
  const sessionOf = await sessions("main");
  expect(() => sessionOf({ metadata: { is_group: true } })).toThrow(
    /Event test:a is from a group but has no `place`/,
  );
});

test("whatever is said in a group, its message is never in the main session", async () => {
  const scopes = await Promise.all(
    (["main", "per-peer", "per-channel-peer"] as const).map((scope) => sessions(scope)),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...scopes),
      fc.record({
        place: fc.string({ minLength: 1, maxLength: 20 }),
        sender: fc.option(fc.string({ minLength: 1, maxLength: 20 }), { nil: undefined }),
        placeKind: fc.constantFrom("group" as const, "channel" as const),
        channel: fc.constantFrom("telegram", "slack", "main", "dm"),
      }),
      fc.boolean(),
      (sessionOf, fields, isPersons) => {
        expect(parseSessionKey(sessionOf(fields, isPersons))).toMatchObject({
          kind: "place",
          place: expect.anything(),
        });
      },
    ),
  );
});
