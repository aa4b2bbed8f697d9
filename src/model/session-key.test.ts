import * as fc from "fast-check";
import { expect, test } from "vitest";

import { CortexError } from "./errors.ts";
import type { AgentId } from "./ids.ts";
import {
  buildSessionKey,
  dmSessionKey,
  MAIN_SESSION,
  MAX_SESSION_KEY_LENGTH,
  normalizeSessionKey,
  type ParsedSessionKey,
  parseSessionKey,
} from "./session-key.ts";

const main = "main" as AgentId;
const atlas = "atlas" as AgentId;
const telegramGroup = {
  kind: "place",
  agent: main,
  channel: "telegram",
  placeKind: "group",
  place: "123",
} as const;
const slackChannel = {
  kind: "place",
  agent: main,
  channel: "slack",
  placeKind: "channel",
  place: "C123",
} as const;

/** Every form of a key, as it is stored. */
const CANONICAL: readonly (readonly [string, ParsedSessionKey])[] = [
  ["agent:main:main", { kind: "main", agent: main }],
  ["agent:atlas:main", { kind: "main", agent: atlas }],
  ["agent:main:dm:tyler", { kind: "dm", agent: main, peer: "tyler" }],
  ["agent:main:telegram:dm:42", { kind: "dm", agent: main, channel: "telegram", peer: "42" }],
  [
    "agent:main:telegram:dm:42:thread:7",
    { kind: "dm", agent: main, channel: "telegram", peer: "42", topic: "7" },
  ],
  ["agent:main:telegram:group:123", telegramGroup],
  ["agent:main:telegram:group:-100123", { ...telegramGroup, place: "-100123" }],
  ["agent:main:telegram:group:123:thread:456", { ...telegramGroup, topic: "456" }],
  ["agent:main:slack:channel:C123", slackChannel],
  ["agent:main:slack:channel:C123:thread:1731.002", { ...slackChannel, topic: "1731.002" }],
  [
    "agent:main:subagent:01aryz6s41tsv4rrffq69g5fav",
    { kind: "subagent", agent: main, id: "01aryz6s41tsv4rrffq69g5fav" },
  ],
  ["agent:main:cron:job-1", { kind: "cron", agent: main, job: "job-1" }],
  ["agent:main:webhook:github", { kind: "other", agent: main, rest: ["webhook", "github"] }],
  ["agent:main:work", { kind: "other", agent: main, rest: ["work"] }],
  ["thr:thr_0a1b2c3d:writer", { kind: "relay", relay: "thr_0a1b2c3d", slot: "writer" }],
  ["thr:thr_0a1b2c3d:writer:0", { kind: "relay", relay: "thr_0a1b2c3d", slot: "writer", step: 0 }],
  ["thr:thr_0a1b2c3d:writer:12", { kind: "relay", relay: "thr_0a1b2c3d", slot: "writer", step: 12 }],
  ["thr:thr_0a1b2c3d:hook-start", { kind: "relay", relay: "thr_0a1b2c3d", slot: "hook-start" }],
  ["thr:thr_0a1b2c3d:hook-end:3", { kind: "relay", relay: "thr_0a1b2c3d", slot: "hook-end", step: 3 }],
  ["work", { kind: "label", label: "work" }],
  ["fork-01aryz6s41tsv4rrffq69g5fav", { kind: "label", label: "fork-01aryz6s41tsv4rrffq69g5fav" }],
  ["a._-9", { kind: "label", label: "a._-9" }],
  ["x".repeat(64), { kind: "label", label: "x".repeat(64) }],
];

test.each(CANONICAL)("%s is read, and written the same", (key, parsed) => {
  expect(parseSessionKey(key)).toEqual(parsed);
  expect(buildSessionKey(parsed)).toBe(key);
  expect(normalizeSessionKey(key)).toBe(key);
});

test.each([
  // `main` is an alias.
  ["main", MAIN_SESSION],
  ["MAIN", MAIN_SESSION],
  // A key with a colon and without a prefix belongs to the agent `main`.
  ["cron:job-1", "agent:main:cron:job-1"],
  ["telegram:group:123", "agent:main:telegram:group:123"],
  ["dm:tyler", "agent:main:dm:tyler"],
  ["subagent:01ARYZ6S41TSV4RRFFQ69G5FAV", "agent:main:subagent:01aryz6s41tsv4rrffq69g5fav"],
  ["agents:main", "agent:main:agents:main"],
  ["thread:x", "agent:main:thread:x"],
  // Keys are lower-cased,
  ["Work", "work"],
  ["fork-01ARYZ6S41TSV4RRFFQ69G5FAV", "fork-01aryz6s41tsv4rrffq69g5fav"],
  ["AGENT:Atlas:MAIN", "agent:atlas:main"],
  ["agent:main:DM:Tyler", "agent:main:dm:tyler"],
  ["agent:main:Cron:Job-1", "agent:main:cron:job-1"],
  ["agent:main:Webhook:GitHub", "agent:main:webhook:github"],
  ["THR:THR_0A1B2C3D:Writer:2", "thr:thr_0a1b2c3d:writer:2"],
  ["agent:main:Telegram:Group:AbC", "agent:main:telegram:group:abc"],
  ["agent:main:discord:channel:AbC:thread:DeF", "agent:main:discord:channel:abc:thread:def"],
  ["agent:main:telegram:dm:TyLer", "agent:main:telegram:dm:tyler"],
  // except the ids of platforms on which case matters.
  ["AGENT:MAIN:Slack:Channel:C123", "agent:main:slack:channel:C123"],
  ["slack:channel:c123", "agent:main:slack:channel:c123"],
  ["slack:dm:U123", "agent:main:slack:dm:U123"],
  ["slack:channel:C123:Thread:P456", "agent:main:slack:channel:C123:thread:P456"],
  ["matrix:group:!RoOm", "agent:main:matrix:group:!RoOm"],
  // Newer and other words for the same.
  ["agent:main:direct:tyler", "agent:main:dm:tyler"],
  ["agent:main:telegram:direct:42", "agent:main:telegram:dm:42"],
  ["agent:main:telegram:group:123:topic:456", "agent:main:telegram:group:123:thread:456"],
  ["slack:Direct:U1:Topic:2", "agent:main:slack:dm:U1:thread:2"],
  // What is escaped needlessly is written plainly, and what must be escaped stays so.
  ["agent:main:dm:t%79ler", "agent:main:dm:tyler"],
  ["agent:main:m%61in", "agent:main:main"],
  ["slack:channel:%43123", "agent:main:slack:channel:C123"],
  ["matrix:group:!r%3aserver", "agent:main:matrix:group:!r%3Aserver"],
  ["agent:main:dm:100%25", "agent:main:dm:100%25"],
  // White space around a key is not part of it.
  ["  work\n", "work"],
  [" agent:main:dm:tyler ", "agent:main:dm:tyler"],
])("%j names the session %s", (text, key) => {
  expect(normalizeSessionKey(text)).toBe(key);
});

test("an id with a colon, a percent sign, white space or any script comes back from its key", () => {
  const parsed = { ...slackChannel, place: "a:b%c d\u00A0e\n\u0000é漢🦀", topic: ":%" } as const;
  const key = buildSessionKey(parsed);
  expect(key).toBe("agent:main:slack:channel:a%3Ab%25c%20d%C2%A0e%0A%00é漢🦀:thread:%3A%25");
  expect(parseSessionKey(key)).toEqual(parsed);
});

test.each([
  ["", "a label has"],
  ["   ", "a label has"],
  [":", "empty"],
  ["two words", "a label has"],
  ["été", "a label has"],
  ["a/b", "a label has"],
  ["50%25", "a label has"],
  ["x".repeat(65), "a label has"],
  ["agent:", 'invalid agent id ""'],
  ["agent:main", "missing session after the agent id"],
  ["agent:main:", "empty"],
  ["agent::main", 'invalid agent id ""'],
  ["agent:-main:main", 'invalid agent id "-main"'],
  ["agent:a.b:main", 'invalid agent id "a.b"'],
  [`agent:${"a".repeat(65)}:main`, "invalid agent id"],
  ["agent:m%61in:main", 'invalid agent id "m%61in"'],
  ["agent: main:main", 'invalid agent id " main"'],
  ["agent:main:dm:", "empty"],
  ["agent:main:telegram::123", "empty"],
  ["telegram:group:123:", "empty"],
  [":telegram:group", "empty"],
  ["agent:main:dm:a b", "contains whitespace"],
  ["agent:main:dm:a\u0000b", "contains whitespace"],
  ["agent:main:dm:50%", "invalid percent-encoding"],
  ["agent:main:dm:%zz", "invalid percent-encoding"],
  ["agent:main:dm:%ff", "invalid percent-encoding"],
  ["thr:", 'invalid relay id ""'],
  ["thr:0a1b2c3d:writer", 'invalid relay id "0a1b2c3d"'],
  ["thr:thr_0a1b2c3:writer", 'invalid relay id "thr_0a1b2c3"'],
  ["thr:thr_0a1b2c3g:writer", 'invalid relay id "thr_0a1b2c3g"'],
  ["thr:thr_0a1b2c3d", 'invalid slot ""'],
  ["thr:thr_0a1b2c3d:", 'invalid slot ""'],
  ["thr:thr_0a1b2c3d:a slot", 'invalid slot "a slot"'],
  ["thr:thr_0a1b2c3d:hook:start", 'invalid step number "start"'],
  ["thr:thr_0a1b2c3d:writer:", 'invalid step number ""'],
  ["thr:thr_0a1b2c3d:writer:-1", 'invalid step number "-1"'],
  ["thr:thr_0a1b2c3d:writer:01", 'invalid step number "01"'],
  ["thr:thr_0a1b2c3d:writer:1e3", 'invalid step number "1e3"'],
  ["thr:thr_0a1b2c3d:writer:1:2", 'unexpected part "2"'],
])("%j is no session key, and the error says so", (text, why) => {
  const error = errorOf(() => parseSessionKey(text));
  expect(error.code).toBe("session_key_invalid");
  expect(error.message).toContain(`Invalid session key "${text.trim()}"`);
  expect(error.message).toContain(why);
});

test("a key has a greatest length, and a longer one is shown cut", () => {
  const longest = `agent:main:dm:${"x".repeat(MAX_SESSION_KEY_LENGTH - 14)}`;
  expect(normalizeSessionKey(longest)).toBe(longest);
  const error = errorOf(() => parseSessionKey(`${longest}x`));
  expect(error).toMatchObject({
    code: "session_key_invalid",
    message: expect.stringContaining("513 characters"),
  });
  expect(error.message).toContain("agent:main:dm:xxxx");
  expect(error.message.length).toBeLessThan(200);
});

test("a key that grows too long by being escaped is refused when it is built", () => {
  const parsed: ParsedSessionKey = { kind: "dm", agent: main, peer: ":".repeat(400) };
  expect(errorOf(() => buildSessionKey(parsed)).code).toBe("session_key_invalid");
});

const notKeys: readonly ParsedSessionKey[] = [
  { kind: "dm", agent: main, peer: "" },
  { ...telegramGroup, place: "" },
  { ...telegramGroup, topic: "" },
  { ...telegramGroup, channel: "" },
  { ...telegramGroup, channel: "two words" },
  { kind: "subagent", agent: main, id: "" },
  { kind: "other", agent: main, rest: [] },
  { kind: "other", agent: main, rest: ["a", ""] },
  { kind: "main", agent: "no agent" as AgentId },
  { kind: "label", label: "" },
  { kind: "label", label: "two words" },
  { kind: "relay", relay: "0a1b2c3d", slot: "writer" },
  { kind: "relay", relay: "thr_0a1b2c3d", slot: "" },
  { kind: "relay", relay: "thr_0a1b2c3d", slot: "writer", step: 1.5 },
];

test.each(notKeys)("what cannot be read is not built: %j", (parsed) => {
  expect(errorOf(() => buildSessionKey(parsed)).code).toBe("session_key_invalid");
});

test("what is built is normalised, however its parts are written", () => {
  expect(buildSessionKey({ kind: "label", label: "Main" })).toBe(MAIN_SESSION);
  expect(buildSessionKey({ ...telegramGroup, channel: "Telegram", place: "AbC" })).toBe(
    "agent:main:telegram:group:abc",
  );
  expect(buildSessionKey({ ...slackChannel, channel: "Slack" })).toBe("agent:main:slack:channel:C123");
  expect(buildSessionKey({ kind: "other", agent: main, rest: ["direct", "Tyler"] })).toBe(
    "agent:main:dm:tyler",
  );
});

test.each([
  ["main", "owner", "agent:atlas:main"],
  ["main", "ty", "agent:atlas:telegram:dm:tyler"],
  ["main", undefined, "agent:atlas:telegram:dm:tyler"],
  ["per-peer", "owner", "agent:atlas:dm:owner"],
  ["per-peer", "ty", "agent:atlas:dm:ty"],
  ["per-peer", undefined, "agent:atlas:telegram:dm:tyler"],
  ["per-channel-peer", "owner", "agent:atlas:telegram:dm:tyler"],
  ["per-channel-peer", "ty", "agent:atlas:telegram:dm:tyler"],
  ["per-channel-peer", undefined, "agent:atlas:telegram:dm:tyler"],
] as const)("with the DM scope %s, a message of the person %s belongs to %s", (scope, person, key) => {
  const dm = { agent: atlas, scope, channel: "telegram", peer: "Tyler" };
  expect(dmSessionKey(person === undefined ? dm : { ...dm, person })).toBe(key);
});

test("an account of a platform has sessions of its own, and the default one is not named", () => {
  const group = { kind: "place", agent: main, channel: "telegram", placeKind: "group", place: "1" } as const;
  expect(buildSessionKey({ ...group, account: "work" })).toBe("agent:main:telegram@work:group:1");
  expect(buildSessionKey({ ...group, account: "default" })).toBe("agent:main:telegram:group:1");
  expect(normalizeSessionKey("telegram@Work:group:1:topic:7")).toBe(
    "agent:main:telegram@work:group:1:thread:7",
  );
  const dm = { agent: main, scope: "per-channel-peer", channel: "slack", account: "T1", peer: "U1" } as const;
  expect(dmSessionKey({ ...dm, topic: "7" })).toBe("agent:main:slack@T1:dm:U1:thread:7");
});

test("a DM without links keeps the ids of platforms on which case matters", () => {
  const dm = { agent: main, channel: "slack", peer: "U123" } as const;
  expect(dmSessionKey({ ...dm, scope: "per-channel-peer" })).toBe("agent:main:slack:dm:U123");
});

test("peers of one channel are kept apart even where their ids hold what separates the parts of a key", () => {
  const keyOf = (peer: string): string =>
    dmSessionKey({ agent: main, scope: "per-channel-peer", channel: "matrix", peer });
  expect(keyOf("@a:b:thread:c")).not.toBe(
    buildSessionKey({ kind: "dm", agent: main, channel: "matrix", peer: "@a:b", topic: "c" }),
  );
  expect(parseSessionKey(keyOf("@a:b:thread:c"))).toMatchObject({ kind: "dm", peer: "@a:b:thread:c" });
});

test("a DM of nobody has no session", () => {
  const dm = { agent: main, scope: "per-channel-peer", channel: "telegram", peer: "" } as const;
  expect(errorOf(() => dmSessionKey(dm)).code).toBe("session_key_invalid");
});

const anyUnit = fc.oneof(
  fc.constantFrom(":", "%", " ", "\t", "\u2028", "\u0000", "A", "z", "é", "İ", "Σ", "ẞ", "\uFFFD", "🦀"),
  fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)), // half pairs too
);
const id = fc.string({ unit: anyUnit, minLength: 1, maxLength: 10 });
const agent = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,63}$/).map((text) => text as AgentId);
const channel = fc.oneof(
  fc.constantFrom("telegram", "slack", "dm", "cron"),
  fc.stringMatching(/^[a-z0-9][a-z0-9_.-]{0,20}$/),
);
const topic = fc.record({ topic: id, account: id }, { requiredKeys: [] });

const anyParsed: fc.Arbitrary<ParsedSessionKey> = fc.oneof(
  fc.record({ kind: fc.constant("label" as const), label: fc.stringMatching(/^[a-z0-9._-]{1,64}$/) }),
  fc.record({ kind: fc.constant("main" as const), agent }),
  fc.record({ kind: fc.constant("dm" as const), agent, peer: id }),
  fc.tuple(fc.record({ kind: fc.constant("dm" as const), agent, channel, peer: id }), topic).map(merge),
  fc
    .tuple(
      fc.record({
        kind: fc.constant("place" as const),
        agent,
        channel,
        placeKind: fc.constantFrom("group" as const, "channel" as const),
        place: id,
      }),
      topic,
    )
    .map(merge),
  fc.record({ kind: fc.constant("subagent" as const), agent, id }),
  fc.record({ kind: fc.constant("cron" as const), agent, job: id }),
  fc.record({
    kind: fc.constant("other" as const),
    agent,
    rest: fc.array(id, { minLength: 1, maxLength: 3 }),
  }),
  fc.record(
    {
      kind: fc.constant("relay" as const),
      relay: fc.stringMatching(/^thr_[0-9a-f]{8}$/),
      slot: fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,63}$/),
      step: fc.nat({ max: 999_999_999 }),
    },
    { requiredKeys: ["kind", "relay", "slot"] },
  ),
);

test("reading a key that was built, and building it again, gives the same key", () => {
  fc.assert(
    fc.property(anyParsed, (parsed) => {
      const key = buildSessionKey(parsed);
      expect(buildSessionKey(parseSessionKey(key))).toBe(key);
    }),
    { numRuns: 2000 },
  );
});

test("ids on a platform where case matters come back exactly as they were given", () => {
  fc.assert(
    fc.property(id, id, (place, topic) => {
      const parsed = { ...slackChannel, place: place.toWellFormed(), topic: topic.toWellFormed() };
      expect(parseSessionKey(buildSessionKey(parsed))).toEqual(parsed);
    }),
    { numRuns: 1000 },
  );
});

const word = fc.constantFrom(
  "agent",
  "thr",
  "main",
  "dm",
  "direct",
  "group",
  "channel",
  "thread",
  "topic",
  "slack",
);
const anyText = fc.oneof(
  fc.string({ unit: anyUnit, maxLength: 30 }),
  fc
    .array(fc.oneof(word, id, fc.constantFrom("", "%41", "%", "%EF%BF%BD", "thr_0a1b2c3d", "telegram")), {
      maxLength: 7,
    })
    .map((parts) => parts.join(":")),
);

test("whatever the text, reading it gives a key or a CortexError, and normalising twice changes nothing", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const key = keyOf(text);
      fc.pre(key !== undefined);
      expect(normalizeSessionKey(key)).toBe(key);
      expect(key).not.toMatch(/[\s\p{Cc}\p{Cs}]/u);
    }),
    { numRuns: 3000, maxSkipsPerRun: 10 },
  );
});

/** Undefined where the text is refused. Another error than a refusal is the caller's. */
function keyOf(text: string): string | undefined {
  try {
    return normalizeSessionKey(text);
  } catch (error) {
    if (error instanceof CortexError && error.code === "session_key_invalid") return undefined;
    throw error;
  }
}

function errorOf(act: () => unknown): CortexError {
  try {
    act();
  } catch (error) {
    if (error instanceof CortexError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

function merge<A, B>([a, b]: [A, B]): A & B {
  return { ...a, ...b };
}
