import { expect, test } from "vitest";

import { parseRoute, type RouteWish } from "./target.ts";

test.each<[RouteWish, unknown]>([
  [{ thread: "01ARYZ6S41TSV4RRFFQ69G5FAV" }, { kind: "turn", turn: "01ARYZ6S41TSV4RRFFQ69G5FAV" }],
  [{ session: "work" }, { kind: "session", session: "work" }],
  [{ session: "main" }, { kind: "session", session: "agent:main:main" }],
  [{ session: "Telegram:Group:123" }, { kind: "session", session: "agent:main:telegram:group:123" }],
  [{ persona: "atlas" }, { kind: "persona", persona: "atlas" }],
  [
    { persona: "atlas", session: undefined, thread: undefined },
    { kind: "persona", persona: "atlas" },
  ],
  [
    { session: "work", smart: true },
    { kind: "session", session: "work" },
  ],
])("the route %j leads to %j", (route, target) => {
  expect(parseRoute(route)).toEqual(target);
});

test.each<RouteWish>([{}, { smart: true }, { session: undefined }])(
  "the route %j names no target",
  (route) => {
    expect(parseRoute(route)).toBeUndefined();
  },
);

test.each<[RouteWish, readonly string[]]>([
  [{ thread: "01A", session: "work" }, ['thread "01A"', 'session "work"']],
  [{ session: "work", persona: "atlas" }, ['session "work"', 'persona "atlas"']],
  [{ thread: "01A", persona: "atlas" }, ['thread "01A"', 'persona "atlas"']],
  [
    { thread: "01A", session: "work", persona: "atlas" },
    ['thread "01A"', 'session "work"', 'persona "atlas"'],
  ],
  [{ thread: "", session: "work" }, ['thread ""', 'session "work"']],
])("a message cannot have more targets than one: %j", (route, named) => {
  expect(() => parseRoute(route)).toThrow(
    expect.objectContaining({
      code: "target_conflict",
      message: expect.stringContaining(named.join(" and ")),
    }),
  );
});

test("fields that are null are not there", () => {
  expect(parseRoute({ thread: null, session: "work", persona: null })).toEqual({
    kind: "session",
    session: "work",
  });
});

test.each(["thread", "session", "persona"])("an empty %s is not the same as none", (field) => {
  for (const value of ["", "  "]) {
    expect(() => parseRoute({ [field]: value })).toThrow(
      expect.objectContaining({ code: "target_invalid", message: expect.stringContaining(field) }),
    );
  }
});

test("a session that is not a key is refused as such", () => {
  expect(() => parseRoute({ session: "two words" })).toThrow(
    expect.objectContaining({ code: "session_key_invalid", message: expect.stringContaining("two words") }),
  );
});
