import * as fc from "fast-check";
import { expect, test } from "vitest";

import { event } from "../../test/support/sample.ts";
import type { EventId } from "../model/ids.ts";
import { MAIN_SESSION, type DmScope, parseSessionKey } from "../model/session-key.ts";
import type { StoredEvent } from "../store/store.ts";
import { sessionOfEvent } from "./session-of-event.ts";

type Fields = { readonly [Name in keyof StoredEvent]?: StoredEvent[Name] | undefined };

/** Of a message by Ada, who is `telegram:42`. */
function sessions(dmScope: DmScope) {
  return (fields: Fields, principal = "person:ada"): string => {
    const { place: _, ...message } = event("a", { channel: "telegram", sender: "42" });
    const said = { ...message, receivedAtMs: 0, differing: 0, ...fields, principal } as StoredEvent;
    return sessionOfEvent(said, { dmScope, channels: { telegram: undefined } as never, agents: {} });
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
])("%s has a session of its own", (_, fields, key) => {
  for (const scope of ["main", "per-channel-peer"] as const) expect(sessions(scope)(fields)).toBe(key);
});

const TELEGRAM = { channel: "telegram", sender: "42" };
const DISCORD = { channel: "discord", sender: "9" };

test.each<[DmScope, string, Fields, string]>([
  ["main", "owner", TELEGRAM, MAIN_SESSION],
  ["main", "owner", DISCORD, MAIN_SESSION],
  ["main", "person:ada", TELEGRAM, "agent:main:telegram:dm:42"],
  ["main", "person:ada", DISCORD, "agent:main:discord:dm:9"],
  ["main", "person:ada", { ...DISCORD, account: "work" }, "agent:main:discord@work:dm:9"],
  ["per-peer", "owner", TELEGRAM, "agent:main:dm:owner"],
  ["per-peer", "person:ada", TELEGRAM, "agent:main:dm:ada"],
  ["per-peer", "person:ada", DISCORD, "agent:main:dm:ada"],
  ["per-channel-peer", "owner", TELEGRAM, "agent:main:telegram:dm:42"],
  ["per-channel-peer", "person:ada", TELEGRAM, "agent:main:telegram:dm:42"],
  ["per-channel-peer", "person:ada", DISCORD, "agent:main:discord:dm:9"],
])("with the DM scope %s, a direct message of %s (%j) goes to %s", (scope, principal, fields, key) => {
  expect(sessions(scope)(fields, principal)).toBe(key);
});

test("what the owner and programs say has no place, and goes to the main session", () => {
  for (const scope of ["main", "per-peer", "per-channel-peer"] as const) {
    const sessionOf = sessions(scope);
    expect(sessionOf({ channel: "cli", sender: "owner" }, "owner")).toBe(MAIN_SESSION);
    expect(sessionOf({ channel: "timer", sender: undefined }, "source:timer")).toBe(MAIN_SESSION);
    expect(sessionOf({ id: "agent:1" as EventId, channel: "agent", sender: "main" }, "owner")).toBe(
      MAIN_SESSION,
    );
  }
});

test("what agents cause for a person is with the person, never in the main session", () => {
  const fields = { id: "agent:1" as EventId, channel: "agent", sender: "main" };
  for (const scope of ["main", "per-peer", "per-channel-peer"] as const)
    expect(sessions(scope)(fields)).toBe("agent:main:dm:ada");
});

test("whatever another person sends, and whatever the scope, it is never in the main session", () => {
  const text = fc.option(fc.string({ minLength: 1, maxLength: 20 }), { nil: undefined });
  fc.assert(
    fc.property(
      fc.constantFrom("main" as const, "per-peer" as const, "per-channel-peer" as const),
      fc.record({
        sender: fc.string({ minLength: 1, maxLength: 20 }),
        place: text,
        topic: text,
        placeKind: fc.constantFrom("dm" as const, undefined),
        channel: fc.constantFrom("telegram", "slack", "main", "dm"),
      }),
      (scope, fields) => {
        expect(sessions(scope)(fields)).not.toBe(MAIN_SESSION);
      },
    ),
  );
});

test("a group without a place is an error that says what to give", () => {
  const sessionOf = sessions("main");
  expect(() => sessionOf({ metadata: { is_group: true } })).toThrow(
    /Event test:a is from a group but has no `place`/,
  );
});

test("no message of a group is in the main session", () => {
  const scopes = (["main", "per-peer", "per-channel-peer"] as const).map((scope) => sessions(scope));
  fc.assert(
    fc.property(
      fc.constantFrom(...scopes),
      fc.record({
        place: fc.string({ minLength: 1, maxLength: 20 }),
        sender: fc.option(fc.string({ minLength: 1, maxLength: 20 }), { nil: undefined }),
        placeKind: fc.constantFrom("group" as const, "channel" as const),
        channel: fc.constantFrom("telegram", "slack", "main", "dm"),
      }),
      fc.constantFrom("owner", "person:ada", "source:timer"),
      (sessionOf, fields, principal) => {
        expect(parseSessionKey(sessionOf(fields, principal))).toMatchObject({
          kind: "place",
          place: expect.anything(),
        });
      },
    ),
  );
});
