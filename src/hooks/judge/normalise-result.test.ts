import * as fc from "fast-check";
import { expect, test } from "vitest";

import { CortexError } from "../../model/errors.ts";
import { normaliseResult } from "./normalise-result.ts";

const routed = (routing: unknown): unknown => {
  const verdict = normaliseResult({ fire: true, routing });
  return verdict.fire && verdict.destination;
};

test.each<[unknown, unknown]>([
  [undefined, { kind: "default" }],
  [{}, { kind: "default" }],
  [{ thread: "turn-abc-123" }, { kind: "thread", thread: "turn-abc-123" }],
  [{ session: "main" }, { kind: "session", session: "agent:main:main" }],
  [{ session: "telegram:group:123" }, { kind: "session", session: "agent:main:telegram:group:123" }],
  [{ persona: "atlas" }, { kind: "persona", persona: "atlas" }],
  [
    { persona: "atlas", session: null, thread: undefined },
    { kind: "persona", persona: "atlas" },
  ],
  [{ agent_id: "atlas" }, { kind: "agent", agent: "atlas" }],
  [{ agentId: "atlas" }, { kind: "agent", agent: "atlas" }],
  [
    { agent: "atlas", agent_id: "atlas" },
    { kind: "agent", agent: "atlas" },
  ],
  [
    { mode: "persona", target: "atlas" },
    { kind: "persona", persona: "atlas" },
  ],
  [
    { mode: "session", target: "work" },
    { kind: "session", session: "work" },
  ],
  [
    { mode: "session", session: "work" },
    { kind: "session", session: "work" },
  ],
  [
    { mode: "thread", target: "turn-1" },
    { kind: "thread", thread: "turn-1" },
  ],
  [
    { mode: "persona", agent_id: "work" },
    { kind: "agent", agent: "work" },
  ],
  [
    { mode: "session", target: "whatsapp:dm:7", agent_id: "work" },
    { kind: "session", session: "agent:work:whatsapp:dm:7" },
  ],
  [
    { mode: "session", target: "agent:work:main", agent_id: "work" },
    { kind: "session", session: "agent:work:main" },
  ],
  [{ relay: "review" }, { kind: "relay", relay: "review" }],
])("the routing %j is understood", (routing, destination) => {
  expect(routed(routing)).toEqual(destination);
});

test.each<[unknown, string]>([
  [{ session: "a", persona: "b" }, "session and persona"],
  [{ persona: "atlas", session: "main", queueMode: "queue" }, "session and persona"],
  [{ agent_id: "a", thread: "b" }, "thread and agent"],
  [{ agent: "a", agent_id: "b" }, "agent and agent_id"],
  [{ relay: "a", session: "b" }, "session and relay"],
  [{ mode: "session", target: "a", persona: "b" }, "mode and persona"],
  [{ mode: "session", target: "a", session: "b" }, "target and session"],
  [{ mode: "thread", target: "a", agent_id: "b" }, "thread and agent"],
  [{ mode: "session", target: "agent:x:main", agent_id: "y" }, "session and agent"],
])("the routing %j names two targets", (routing, what) => {
  expect(() => routed(routing)).toThrow(`more than one target, ${what}`);
});

test.each<[unknown, string]>([
  [undefined, "expected {fire: true} or {fire: false}, got undefined"],
  [null, "expected {fire: true} or {fire: false}, got null"],
  ["yes", 'expected {fire: true} or {fire: false}, got "yes"'],
  [[true], "expected {fire: true} or {fire: false}, got [true]"],
  [{}, "expected true or false as `fire`"],
  [{ fire: "true" }, 'got "true"'],
  [{ fire: true, rooting: {} }, 'Unknown field "rooting"'],
  [{ fire: true, routing: "main" }, "expected an object as `routing`"],
  [{ fire: true, routing: { sesion: "a" } }, 'Unknown field "sesion"'],
  [{ fire: true, routing: { session: "" } }, "expected a non-empty string as `session`"],
  [{ fire: true, routing: { session: 7 } }, "expected a string as `session`"],
  [{ fire: true, routing: { session: "no good key!" } }, "Invalid session key"],
  [{ fire: true, routing: { mode: "smart", target: "x" } }, "expected thread, session, persona as `mode`"],
  [{ fire: true, routing: { target: "x" } }, "requires a `mode`"],
  [{ fire: true, routing: { mode: "thread" } }, "requires a `target`"],
  [{ fire: true, routing: { queue_mode: "soon" } }, 'Unknown queue mode "soon"'],
  [{ fire: true, context: { prompt: 1 } }, "expected a string as `prompt`"],
  [
    { fire: true, delivery: { channel: {} } },
    "expected channel, account, place, topic, replyTo in `delivery`",
  ],
  [{ fire: true, disable_hook: "yes" }, "expected true or false as `disable_hook`"],
  [{ fire: true, disable_hook: true, disableHook: false }, "duplicate field"],
])("the result %j is refused", (result, message) => {
  expect(() => normaliseResult(result)).toThrow(message);
});

test("everything that a result can say is kept, whichever case it is written in", () => {
  const verdict = {
    fire: true,
    disable: true,
    exclusive: true,
    destination: { kind: "session", session: "work" },
    smart: true,
    queueMode: "steer-backlog",
    context: { prompt: "p", extracted: { a: [1] }, includeHistory: false },
    delivery: { channel: "telegram", account: "default", place: "7", topic: "t", replyTo: "9" },
  };
  expect(
    normaliseResult({
      fire: true,
      disable_hook: true,
      exclusive: true,
      routing: { session: "work", smart: true, queue_mode: "steer+backlog" },
      context: { prompt: "p", extracted: { a: [1] }, include_history: false },
      delivery: { channel: "telegram", account: "default", place: 7, topic: "t", reply_to: "9" },
    }),
  ).toEqual(verdict);
  expect(
    normaliseResult({
      fire: true,
      disableHook: true,
      exclusive: true,
      routing: { session: "work", smart: true, queueMode: "steer-backlog" },
      context: { systemPrompt: "p", extracted: { a: [1] }, includeThreadHistory: false },
      delivery: { channel: "telegram", accountId: "default", peerId: "7", threadId: "t", replyToId: "9" },
    }),
  ).toEqual(verdict);
});

test("a hook that does not fire can still ask to be left alone", () => {
  expect(normaliseResult({ fire: false, disable_hook: true })).toEqual({ fire: false, disable: true });
  expect(normaliseResult({ fire: false, routing: { session: "a", persona: "b" } })).toEqual({
    fire: false,
    disable: false,
  });
});

test("whatever a hook returns is a verdict or an error in our words", () => {
  const fields = fc.constantFrom(
    "fire",
    "routing",
    "context",
    "delivery",
    "disable_hook",
    "session",
    "mode",
    "target",
    "agentId",
  );
  const value = fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(true, false, null, undefined, "", "main", "a:b:c", 7, "session"),
      fc.string(),
      fc.array(tie("any"), { maxLength: 2 }),
      fc.dictionary(fields, tie("any"), { maxKeys: 4 }),
    ),
  })).any;
  fc.assert(
    fc.property(value, (result) => {
      expect(["boolean", "hook_failed", "session_key_invalid", "id_invalid"]).toContain(outcomeOf(result));
    }),
    { numRuns: 2_000 },
  );
});

function outcomeOf(result: unknown): string {
  try {
    return typeof normaliseResult(result).fire;
  } catch (error) {
    return error instanceof CortexError ? error.code : String(error);
  }
}

test("of two targets none is ever chosen", () => {
  const names = ["thread", "session", "persona", "agent_id", "agentId", "agent", "relay"] as const;
  fc.assert(
    fc.property(fc.subarray([...names], { minLength: 2 }), (given) => {
      const kinds = new Set(given.map((name) => (name.startsWith("agent") ? "agent" : name)));
      const routing = Object.fromEntries(given.map((name) => [name, "same"]));
      expect(outcomeOf({ fire: true, routing })).toBe(kinds.size > 1 ? "hook_failed" : "boolean");
    }),
  );
});
