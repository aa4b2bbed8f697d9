import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  alice,
  answer,
  dispatch,
  event,
  session,
  START_MS,
  toSession,
  turnFor,
  type TestEvent,
} from "../../test/support/sample.ts";
import type { DispatchId, EventId, ItemId } from "../model/ids.ts";
import { canonicalJson } from "../model/json.ts";
import type { Principal } from "../model/principal.ts";
import { QUEUE_MODES } from "../model/queue-mode.ts";
import { answeredMessage } from "../model/stamp.ts";
import type { Claim, DispatchInput, NewDispatch, QueueItem, Store } from "../store/store.ts";
import {
  droppedNote,
  gatherTurn,
  joinWaiting,
  MAX_DROPPED_LINE_LENGTH,
  MAX_DROPPED_LINES,
  selectSteering,
} from "./join.ts";
import { loadFiles } from "../../test/support/config-home.ts";
import { openTestStore } from "../../test/support/open-store.ts";
import { promptText } from "../model/message.ts";
import { TurnJournal } from "./journal.ts";
import { memoryOf, withMemory } from "./memory.ts";
import { toQuery } from "./query.ts";

const NOW = START_MS;

type Fields = Partial<Omit<QueueItem, "event">> & {
  event?: Partial<TestEvent>;
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
  ["is from another person", { event: { principal: "person:eve" as Principal } }],
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

const { config } = await loadFiles({ "cortex.json": { timezone: "UTC" } });
const WORK = session("work");
const CAP = { max: 1, drop: "summarize" } as const;

function partsOf(store: Store) {
  return { store, settings: { config: () => config }, clock: () => START_MS };
}

/** A turn of a message that collects: all the others that collect join it. */
async function begin(store: Store, name: string): Promise<Claim> {
  const work = { dispatch: dispatch(name, toSession("work"), { mode: "collect" }), claim: alice };
  return (await store.events.accept(event(name), work)).dispatched!.claim!;
}

/** The store, with another answer to what waits. */
function withPending(store: Store, pending: Store["queue"]["pending"]): Store {
  return { ...store, queue: { ...store.queue, pending } };
}

async function queue(store: Store, names: string, fields: Partial<NewDispatch> = {}): Promise<void> {
  for (const name of names) {
    await store.events.accept(event(name), {
      dispatch: dispatch(name, toSession("work"), { mode: "collect", ...fields }),
    });
  }
}

/** What a run of the claim would work with. */
async function workOf(store: Store, claim: Claim) {
  const items: QueueItem[] = [...(await store.queue.itemsOf(claim.turn))];
  const { messages } = await store.runs.readJournal(claim.run);
  const journal = new TurnJournal({
    store,
    claim,
    pinned: { system: "", tools: [], profile: "offline" },
    messages: messages.length > 0 ? messages : items.map((item) => toQuery(item, "UTC")),
    toolCalls: [],
    written: messages.length,
  });
  return { claim, journal, items };
}

async function journalled(store: Store, { run }: Claim): Promise<string[]> {
  return (await store.runs.readJournal(run)).messages.map(({ content }) => content);
}

async function unseen(store: Store): Promise<string[]> {
  return (await store.queue.unseenDrops(WORK)).map(({ id }) => id);
}

test("messages that join are in the journal before anything else, and are settled with the turn", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store, "a");
  await queue(store, "bc");
  const work = await workOf(store, claim);
  await joinWaiting(work, partsOf(store));

  expect(await journalled(store, claim)).toEqual(["message a", "message b", "message c"]);
  expect(work.journal.messages.map(({ content }) => content)).toEqual([
    "message a",
    "message b",
    "message c",
  ]);
  expect(work.items.map(({ id }) => id)).toEqual(["item-a", "item-b", "item-c"]);
  await store.turns.commit(turnFor(claim, { messages: [answer(claim.turn)] }));
  for (const name of "abc") {
    expect(await store.queue.outcome(`item-${name}` as ItemId)).toMatchObject({ turn: claim.turn });
  }
});

test("what was recalled for the turn stays with it when others join", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store, "a");
  await queue(store, "b");
  const work = await workOf(store, claim);
  const [first] = work.journal.messages;
  const pinned = { system: "", tools: [], profile: "offline" };
  const messages = [withMemory(first!, "From the ledger")];
  const journal = new TurnJournal({ store, claim, pinned, messages, toolCalls: [], written: 0 });
  await joinWaiting({ ...work, journal }, partsOf(store));
  const written = (await store.runs.readJournal(claim.run)).messages;
  expect(written.map(memoryOf)).toEqual(["From the ledger", undefined]);
});

test("a turn that nothing joins and that is told of nothing writes nothing", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store, "a");
  const work = await workOf(store, claim);
  await joinWaiting(work, partsOf(store));
  expect(await journalled(store, claim)).toEqual([]);
  expect(work.journal.unwritten).toHaveLength(1);
});

test("what was dropped is told in the first message, beside its words, once", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store, "a");
  await queue(store, "bcd", { cap: CAP });
  const work = await workOf(store, claim);
  await joinWaiting(work, partsOf(store));

  const [first] = (await store.runs.readJournal(claim.run)).messages;
  expect(first!.content).toBe("message a");
  expect(promptText(first!)).toContain(
    "2 messages were dropped because the queue was full:\n- tyler: message b\n",
  );
  expect(await unseen(store)).toEqual([]);
});

test.each([
  ["person:ada", /was dropped[^]*message d/, ["item-b"]],
  ["owner", /message a$/, ["item-b", "item-d"]],
])("of dropped messages, %s is told of their own", async (principal, told, untold) => {
  await using opened = await openTestStore();
  const { store } = opened;
  const accept = (name: string, by: string, cap?: typeof CAP) =>
    store.events.accept(event(name, { principal: by as Principal }), {
      dispatch: dispatch(name, toSession("work"), cap === undefined ? {} : { cap }),
      ...(cap === undefined ? { claim: alice } : {}),
    });
  const { dispatched } = await accept("a", principal);
  for (const [name, by] of [
    ["b", "person:bob"],
    ["c", "person:bob"],
    ["d", "person:ada"],
    ["e", "person:ada"],
  ] as const)
    await accept(name, by, CAP);
  const work = await workOf(store, dispatched!.claim!);
  await joinWaiting(work, partsOf(store));
  expect(promptText(work.journal.messages[0]!)).toMatch(told);
  expect(await unseen(store)).toEqual(untold);
});

test("a message that somebody drops meanwhile does not join, and the others do", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store, "a");
  await queue(store, "bc");
  let reads = 0;
  const dropping = withPending(store, async (...query) => {
    const pending = await store.queue.pending(...query);
    if (reads++ === 0) await store.queue.drop(["item-b" as ItemId], "test");
    return pending;
  });
  await joinWaiting(await workOf(store, claim), partsOf(dropping));
  expect(await journalled(store, claim)).toEqual(["message a", "message c"]);
  expect(reads).toBe(2);
});

test("where something vanishes each time, the turn begins without", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store, "a");
  await queue(store, "b");
  const [gone] = await store.queue.pending(WORK);
  await store.queue.drop([gone!.id], "test");
  await joinWaiting(await workOf(store, claim), partsOf(withPending(store, async () => [gone!])));
  expect(await journalled(store, claim)).toEqual([]);
});

test("a turn that has begun, or is to be aborted, takes nothing more in", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store, "a");
  await queue(store, "b");
  await joinWaiting(await workOf(store, { ...claim, abort: "test" }), partsOf(store));
  expect(await journalled(store, claim)).toEqual([]);
  const work = await workOf(store, claim);
  await work.journal.addMessages([]);
  await joinWaiting(work, partsOf(store));
  expect(await journalled(store, claim)).toEqual(["message a"]);
});

test("after a crash, what had joined is there, and what came later waits", async () => {
  await using opened = await openTestStore();
  const claim = await begin(opened.store, "a");
  await queue(opened.store, "b");
  await joinWaiting(await workOf(opened.store, claim), partsOf(opened.store));
  const store = await opened.crash();
  await queue(store, "c");
  const [again] = await store.queue.lease({ holder: "next", ttlMs: 30_000 }, 1);
  const work = await workOf(store, again!);
  await joinWaiting(work, partsOf(store));
  expect(work.journal.messages.map(({ content }) => content)).toEqual(["message a", "message b"]);
  expect((await store.queue.pending(WORK)).map(({ id }) => id)).toEqual(["item-c"]);
});

test("a dead letter that is to be tried again keeps its own turn", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const dead = await begin(store, "a");
  await store.runs.fail({ lease: dead.lease, run: dead.run, error: "x", outcome: { kind: "dead" } });
  const claim = await begin(store, "b");
  await store.queue.retryDead("item-a" as ItemId);
  await queue(store, "c");
  await joinWaiting(await workOf(store, claim), partsOf(store));
  expect(await journalled(store, claim)).toEqual(["message b", "message c"]);
});

test("another failure of the store is the run's", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store, "a");
  await queue(store, "b");
  const work = await workOf(store, claim);
  await store.queue.release([claim.lease]);
  await expect(joinWaiting(work, partsOf(store))).rejects.toMatchObject({ code: "lease_lost" });
});

function droppedItem(content: string | null, message?: string, fields: Partial<TestEvent> = {}): QueueItem {
  return {
    id: "item-1" as ItemId,
    session: session("work"),
    state: "dropped",
    mode: "followup",
    dueMs: START_MS,
    queuedAtMs: START_MS,
    event: {
      ...event("a", { content, ...fields }),
      receivedAtMs: START_MS,
      differing: 0,
      depth: 0,
      returned: 0,
    },
    dispatches: [{ id: "d" as DispatchId, hook: "direct", ...(message === undefined ? {} : { message }) }],
  };
}

test("each message has a line, with who wrote it", () => {
  expect(droppedNote([droppedItem("one"), droppedItem("ignored", "two")])).toBe(
    "2 messages were dropped because the queue was full:\n- tyler: one\n- tyler: two",
  );
});

test("one message is said in the singular, and one of nobody has no name", () => {
  const { sender: _, ...anonymous } = droppedItem(null).event;
  expect(droppedNote([{ ...droppedItem(null), event: anonymous }])).toBe(
    "A message was dropped because the queue was full:\n-",
  );
});

test.each([
  ["a\nb\r\n\tc\u2028d\u0000e", "- tyler: a b c d e"],
  ["x".repeat(10_000), `- tyler: ${"x".repeat(MAX_DROPPED_LINE_LENGTH - 10)}…`],
  [
    `${"x".repeat(MAX_DROPPED_LINE_LENGTH - 11)}🙂🙂`,
    `- tyler: ${"x".repeat(MAX_DROPPED_LINE_LENGTH - 11)}\uFFFD…`,
  ],
])("whatever is written stays on its line (%#)", (content, line) => {
  const told = droppedNote([droppedItem(content)]).split("\n");
  expect(told.slice(1)).toEqual([line]);
  expect(line.length).toBeLessThanOrEqual(MAX_DROPPED_LINE_LENGTH);
});

test("of very many, the first are told and the others counted", () => {
  const lines = droppedNote(Array.from({ length: 1_000 }, (_, i) => droppedItem(String(i)))).split("\n");
  expect(lines).toHaveLength(MAX_DROPPED_LINES + 2);
  expect(lines.at(-1)).toBe(`- and ${1_000 - MAX_DROPPED_LINES} more`);
});
