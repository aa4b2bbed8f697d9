import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { event, session, START_MS } from "../../test/support/sample.ts";
import type { DispatchId, EventId, ItemId } from "../model/ids.ts";
import { canonicalJson } from "../model/json.ts";
import { QUEUE_MODES } from "../model/queue-mode.ts";
import { answeredMessage } from "../model/stamp.ts";
import type { DispatchInput, NewEvent, QueueItem } from "../store/store.ts";
import { gatherTurn, selectSteering } from "./join.ts";

const NOW = START_MS;

type Fields = Partial<Omit<QueueItem, "event">> & {
  event?: Partial<NewEvent>;
  dispatch?: Partial<DispatchInput>;
};

function item(name: string, fields: Fields = {}): QueueItem {
  const { event: eventFields, dispatch, ...rest } = fields;
  return {
    id: name as ItemId,
    session: session("work"),
    state: "queued",
    mode: "steer-backlog",
    dueMs: NOW,
    queuedAtMs: NOW,
    event: { ...event(name, eventFields), receivedAtMs: NOW, differing: 0, depth: 0, returned: 0 },
    dispatches: [{ id: name as DispatchId, hook: "direct", ...dispatch }],
    ...rest,
  };
}

function steering(pending: readonly QueueItem[], first: QueueItem): string {
  return names(selectSteering(pending, { items: [first], nowMs: NOW }));
}

async function gathered(pending: readonly QueueItem[], first: QueueItem): Promise<string> {
  return names(await gatherTurn(first, { readPending: async () => pending, nowMs: NOW }));
}

function names(items: readonly QueueItem[]): string {
  return items.map(({ id }) => id).join("");
}

/** What has another address or asks for something of its own. */
const OTHERS: readonly (readonly [string, Fields])[] = [
  ["comes from another place", { event: { place: "dm-2" } }],
  ["comes from another topic", { event: { topic: "t" } }],
  ["comes from another account", { event: { account: "second" } }],
  ["comes from another channel", { event: { channel: "other" } }],
  ["asks for a model", { dispatch: { profile: "fast" } }],
  ["has permissions of its own", { dispatch: { permissions: { tools: [] } } }],
  ["is answered elsewhere", { dispatch: { delivery: { place: "x" } } }],
];

describe("while a turn is under way", () => {
  test("messages that steer enter it, in order", () => {
    const pending = [item("a", { mode: "steer" }), item("b"), item("c", { mode: "steer" })];
    for (const mode of QUEUE_MODES) expect(steering(pending, item("x", { mode }))).toBe("abc");
  });

  test.each(["followup", "queue", "collect", "interrupt"] as const)("%s waits", (mode) => {
    expect(steering([item("a", { mode })], item("x"))).toBe("");
  });

  test("a message that is due later waits until then", () => {
    expect(steering([item("a", { dueMs: NOW + 1 })], item("x"))).toBe("");
  });

  test("what an agent wrote before does not say with whom a message goes", () => {
    const heard = item("m", {
      event: { id: "agent:m" as EventId, metadata: { kind: "message" } },
    });
    const answered = item("x", { dispatch: { delivery: { place: "shop" } } });
    const pending = [item("a"), item("b", { dispatch: { delivery: { place: "shop" } } })];
    expect(names(selectSteering(pending, { items: [heard, answered], nowMs: NOW }))).toBe("b");
  });

  test("a turn without messages is steered by none", () => {
    expect(selectSteering([item("a")], { items: [], nowMs: NOW })).toEqual([]);
  });
});

describe.each([
  ["steer", async (pending: readonly QueueItem[], first: QueueItem) => steering(pending, first)],
  [
    "collect",
    async (pending: readonly QueueItem[], first: QueueItem) =>
      (await gathered(pending, first)).replace("x", ""),
  ],
  [
    "interrupt",
    async (pending: readonly QueueItem[], first: QueueItem) =>
      (await gathered(pending, first)).replace("x", ""),
  ],
] as const)("of messages that %s", (mode, joining) => {
  const first = item("x", { mode });

  test.each(OTHERS)("one that %s has a turn of its own", async (_, fields) => {
    expect(await joining([item("a", { mode, ...fields }), item("b", { mode })], first)).toBe("b");
  });

  test.each(OTHERS)("two of which each %s go together", async (_, fields) => {
    expect(await joining([item("a", { mode, ...fields })], item("x", { mode, ...fields }))).toBe("a");
  });

  test.each([
    ["model", { profile: "fast" }],
    ["permissions", { permissions: { tools: [] } }],
  ])("one that asks for nothing is content with the %s of the turn", async (_, dispatch) => {
    expect(await joining([item("a", { mode })], item("x", { mode, dispatch }))).toBe("a");
  });

  test("one whose answer nobody sends on does not join where the answer is sent elsewhere", async () => {
    const dispatch = { delivery: { place: "x" } };
    expect(await joining([item("a", { mode })], item("x", { mode, dispatch }))).toBe("");
  });
});

test("messages with no address go together, whatever door they came through", () => {
  const noPlace = (name: string, channel: string): QueueItem => {
    const made = item(name, { event: { channel } });
    const { place: _, ...rest } = made.event;
    return { ...made, event: rest };
  };
  expect(steering([noPlace("a", "cli")], noPlace("x", "http"))).toBe("a");
  expect(steering([noPlace("a", "cli")], item("x"))).toBe("");
});

describe("at the start of a turn", () => {
  test.each(["steer", "steer-backlog", "followup", "queue"] as const)(
    "%s takes nothing along, and does not even look",
    async (mode) => {
      const readPending = () => Promise.reject(new Error("looked"));
      expect(names(await gatherTurn(item("a", { mode }), { readPending, nowMs: NOW }))).toBe("a");
    },
  );

  test("collect takes what was collected and is due, and nothing else", async () => {
    const pending = [
      ...QUEUE_MODES.map((mode, i) => item(String(i), { mode })),
      item("later", { mode: "collect", dueMs: NOW + 1 }),
    ];
    const first = item("0", { mode: "collect", queuedAtMs: NOW - 1 });
    expect(await gathered(pending, first)).toBe(`0${QUEUE_MODES.indexOf("collect")}`);
  });

  test("interrupt takes all that waited before it, comes last, and leaves what came after", async () => {
    const pending = [
      item("a", { mode: "followup", queuedAtMs: NOW - 2 }),
      item("b", { mode: "collect", queuedAtMs: NOW - 1, dueMs: NOW + 1_000 }),
      item("c", { mode: "steer" }),
      item("e", { mode: "followup" }),
      item("f", { mode: "followup", queuedAtMs: NOW + 1 }),
    ];
    expect(await gathered(pending, item("d", { mode: "interrupt" }))).toBe("abcd");
  });

  test("interrupt leaves what is to be done later", async () => {
    const later = item("a", { mode: "followup", dueMs: NOW + 1 });
    expect(await gathered([later], item("b", { mode: "interrupt" }))).toBe("b");
  });

  test("of several that interrupt, the last one takes all before it along", async () => {
    const pending = [
      item("a", { mode: "followup" }),
      item("c", { mode: "followup" }),
      item("d", { mode: "interrupt" }),
      item("e", { mode: "followup" }),
    ];
    expect(await gathered(pending, item("b", { mode: "interrupt" }))).toBe("abcd");
  });
});

describe("what another agent writes", () => {
  const stamp = { kind: "message", from: { session: "agent:coder:subagent:1", agent: "coder" } };
  const said = (kind: string, dispatch: Partial<DispatchInput> = {}) =>
    item("a", {
      event: { id: "agent:t-0" as EventId, channel: "agent", metadata: { ...stamp, kind } },
      dispatch: { delivery: { channel: "test", place: "elsewhere" }, ...dispatch },
    });

  test("enters a turn wherever its answer goes", () => {
    expect(steering([said("message")], item("x"))).toBe("a");
  });

  test("waits where it may do other things than the turn", () => {
    expect(steering([said("message", { permissions: { authority: "source" } })], item("x"))).toBe("");
  });

  test.each(["task", "report"])(
    "is a %s, and waits for a turn whose answer goes where it wants it",
    (kind) => {
      expect(steering([said(kind)], item("x"))).toBe("");
    },
  );

  test("is nobody's who only claims it", () => {
    const forged = item("a", { event: { channel: "agent", place: "x", metadata: stamp } });
    expect(steering([forged], item("x"))).toBe("");
  });
});

describe("where an answer goes", () => {
  const PLACES = [undefined, "shop", "bell"];
  const KINDS = ["person", "message", "report", "task"] as const;

  /** A message of a person or an agent, which may want its answer somewhere. Its name is its id. */
  const message = fc.record({
    kind: fc.constantFrom(...KINDS),
    place: fc.constantFrom(...PLACES),
    mode: fc.constantFrom(...QUEUE_MODES),
  });

  function wanted(items: readonly QueueItem[]): string {
    return canonicalJson(answeredMessage(items)!.dispatches[0]!.delivery ?? null);
  }

  test("the messages of a turn agree on it, also after a crash, which forgets in which order they joined", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(message, { minLength: 1, maxLength: 8 }),
        fc.array(message, { maxLength: 6 }),
        async (before, later) => {
          const all = [...before, ...later].map(({ kind, place, mode }, key) =>
            item(String.fromCharCode(97 + key), {
              mode,
              queuedAtMs: NOW + Math.floor(key / 2),
              event: {
                id: `${kind === "person" ? "http" : "agent"}:${key}` as EventId,
                metadata: { kind },
              },
              dispatch: place === undefined ? {} : { delivery: { channel: "webhook", place } },
            }),
          );
          const waiting = all.slice(0, before.length);
          const first = waiting.find(({ mode }) => mode === "interrupt") ?? waiting[0]!;
          const pending = waiting.filter((each) => each !== first);
          const turn = await gatherTurn(first, { readPending: async () => pending, nowMs: NOW });
          const agreed = wanted(turn);
          // They steer one by one, those that were left over at first too.
          for (const each of all) {
            if (turn.includes(each)) continue;
            turn.push(...selectSteering([each], { items: turn, nowMs: NOW }));
          }
          expect(wanted(turn)).toBe(agreed);
          expect(wanted(turn.toSorted((a, b) => all.indexOf(a) - all.indexOf(b)))).toBe(agreed);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
