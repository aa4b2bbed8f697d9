import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { openTestCortex, writeHome } from "../../test/support/home.ts";
import { acceptOwn } from "../../test/support/own-event.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import type { Incoming } from "../events/incoming.ts";
import type { EventId, TurnId } from "../model/ids.ts";
import type { Principal } from "../model/principal.ts";
import type { SessionKey } from "../model/session-key.ts";
import { openSqliteStore, type SqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { EventDispatch, HookRun, QueueItem } from "../store/store.ts";
import type { Cortex } from "../runtime/cortex.ts";
import { databasePath } from "../config/home.ts";
import type { Outcome } from "../feature/outcomes.ts";

const PAIRED = { channels: { paired: [{ channel: "telegram", sender: "ada" }] } };
const FIRES = `export default async () => ({ fire: true, routing: { session: "work" } });`;

const message = (fields: Partial<Incoming> = {}): Incoming => ({
  adapter: "telegram",
  sourceId: "1",
  channel: "telegram",
  sender: "ada",
  place: "dm-ada",
  content: "hello",
  timestampMs: Date.now(),
  ...fields,
});

interface Judgement {
  readonly runs: readonly HookRun[];
  readonly dispatches: readonly EventDispatch[];
  readonly items: readonly QueueItem[];
}

/** What hooks made of an event, when all of them have been heard. */
async function judged({ store }: Pick<Cortex, "store">, event: EventId): Promise<Judgement> {
  await expect
    .poll(async () => (await store.hooks.unjudged()).map((unjudged) => unjudged.event.id))
    .not.toContain(event);
  const [runs, dispatches] = await Promise.all([store.hooks.ofEvent(event), store.events.dispatches(event)]);
  const items = await Promise.all(dispatches.map(async ({ item }) => (await store.queue.item(item))!));
  return { runs, dispatches, items };
}

function turnOf(outcome: Outcome | undefined): TurnId {
  if (outcome?.kind !== "turn") throw new Error(`There is no turn: ${JSON.stringify(outcome)}`);
  return outcome.turn;
}

async function accept(cortex: Cortex, fields: Partial<Incoming> = {}): Promise<Judgement> {
  const { event } = await acceptOwn(cortex, message(fields));
  return judged(cortex, event);
}

test("an event becomes a turn by a hook, with what the hook gives along, and is answered where it came from", async () => {
  await using cortex = await openTestCortex({
    cortex: PAIRED,
    script: "- { when: .*, plays: [{ say: on my way }] }",
    hooks: {
      "helps.ts": `import type { HookContext, HookResult } from "cortexd/hooks";
        export default async function ({ event }: HookContext): Promise<HookResult> {
          return {
            fire: true,
            routing: { session: "work", queue_mode: "followup" },
            context: { prompt: "Help at once.", extracted: { said: event.content, by: event.sender_id } },
          };
        }`,
    },
  });
  const { dispatches, items } = await accept(cortex);
  const outcome = await cortex.outcome(dispatches[0]!.item, new AbortController().signal);
  const { turn, messages } = (await cortex.store.turns.read(turnOf(outcome)))!;
  expect(turn.session).toBe("work");
  expect(messages[0]).toMatchObject({
    content: "hello",
    body: { extracted: 'Help at once.\n{"by":"ada","said":"hello"}' },
  });
  expect(items[0]).toMatchObject({
    mode: "followup",
    dispatches: [{ permissions: { authority: "paired" } }],
  });
  expect(await cortex.store.outbox.ofTurn(turn.id)).toMatchObject([
    { target: { channel: "telegram", place: "dm-ada" }, content: "on my way" },
  ]);
});

test("a hook can say where the answer goes", async () => {
  await using cortex = await openTestCortex({
    hooks: {
      "tells.ts": `export default () => ({ fire: true, delivery: { channel: "telegram", place: 7, reply_to: "9" } });`,
      "wrong.ts": `export default () => ({ fire: true, delivery: { channel: "telegram" } });`,
    },
  });
  const { runs, items } = await accept(cortex, { channel: "webhook", adapter: "webhook:pay" });
  expect(items).toMatchObject([
    { dispatches: [{ delivery: { channel: "telegram", place: "7", replyTo: "9" } }] },
  ]);
  expect(runs.find(({ hook }) => hook === "wrong")!.error).toContain("Invalid delivery");
});

test("a hook can have its turn read without what was said before", async () => {
  await using cortex = await openTestCortex({
    cortex: { ...PAIRED, memory: { tokens: 0 } },
    script: "- { when: .*, plays: [{ say: fine }] }",
    hooks: {
      "fresh.ts": `export default ({ event }) => ({ fire: event.channel === "telegram", routing: { session: "work" },
        context: { include_history: event.content !== "alone" } });`,
    },
  });
  const first = await cortex.send({ content: "long ".repeat(2_000), session: "work" });
  await cortex.outcome(first.item, new AbortController().signal);
  const inputTo = async (content: string): Promise<number> => {
    const { dispatches } = await accept(cortex, { content, sourceId: content });
    const outcome = await cortex.outcome(dispatches[0]!.item, new AbortController().signal);
    return (await cortex.store.turns.read(turnOf(outcome)))!.turn.facts.usage.input;
  };
  expect((await inputTo("as usual")) - (await inputTo("alone"))).toBeGreaterThan(1_000);
});

test("nothing is done for a stranger, whatever hooks say", async () => {
  await using cortex = await openTestCortex({ cortex: PAIRED, hooks: { "fires.ts": FIRES } });
  const { runs, dispatches } = await accept(cortex, { sender: "mallory" });
  expect(runs).toMatchObject([{ hook: "fires", fired: true }]);
  expect(dispatches).toEqual([]);
});

test("a target that is not there is an error of its hook", async () => {
  await using cortex = await openTestCortex({
    cortex: PAIRED,
    hooks: {
      "agent.ts": `export default () => ({ fire: true, routing: { agent_id: "main" } });`,
      "nobody.ts": `export default () => ({ fire: true, routing: { agent_id: "nobody" } });`,
      "persona.ts": `export default () => ({ fire: true, routing: { agent_id: "atlas" } });`,
      "relay.ts": `export default () => ({ fire: true, routing: { relay: "review" } });`,
      "thread.ts": `export default () => ({ fire: true, routing: { thread: "01ARZ3NDEKTSV4RRFFQ69G5FAV" } });`,
    },
  });
  const { runs, dispatches } = await accept(cortex);
  const errors = runs
    .filter(({ error }) => error !== undefined)
    .map(({ hook, error }) => `${hook}: ${error}`);
  expect(errors).toEqual([
    'nobody: Unknown persona "nobody"',
    'relay: Unknown relay template or agent "review"',
    expect.stringContaining("thread: "),
  ]);
  // Both name the same session: one turn, which has the contexts of both.
  expect(dispatches.map(({ hook, session }) => [hook, session])).toEqual(
    expect.arrayContaining([
      ["agent", "agent:main:main"],
      ["persona", "agent:main:main"],
    ]),
  );
  expect(new Set(dispatches.map(({ item }) => item)).size).toBe(1);
});

test("a message with a target of its own is judged too, and hooks see the target", async () => {
  await using cortex = await openTestCortex({
    hooks: {
      "sees.ts": `export default ({ event }) => ({ fire: true, routing: { session: "audit" },
        context: { extracted: event.target } });`,
    },
  });
  const sent = await cortex.send({ content: "hello", session: "work" });
  const { dispatches, items } = await judged(cortex, sent.event);
  expect(dispatches.map(({ hook, session }) => `${hook} ${session}`).toSorted()).toEqual([
    "direct work",
    "sees audit",
  ]);
  const audit = items.find(({ session }) => session === ("audit" as SessionKey));
  expect(audit!.dispatches).toMatchObject([{ context: { extracted: { session: "work" } } }]);
});

test("answers are judged only by hooks that ask for them", async () => {
  await using cortex = await openTestCortex({
    script: "- { when: .*, plays: [{ say: the answer }] }",
    hooks: {
      "answers.ts": `export const filter = { directions: ["sent"] };
        export default ({ event }) => ({ fire: event.channel === "http", routing: { session: "log" } });`,
      "others.ts": `export default () => ({ fire: false });`,
    },
  });
  const { item, event } = await cortex.send({ content: "hello" });
  const outcome = await cortex.outcome(item, new AbortController().signal);
  const answer = `cortex:${turnOf(outcome)}` as EventId;
  expect((await judged(cortex, answer)).runs).toMatchObject([{ hook: "answers", fired: true }]);
  expect((await judged(cortex, event)).runs.map(({ hook }) => hook)).toEqual(["others"]);
});

test("hooks read the ledger, and cannot write it", async () => {
  await using cortex = await openTestCortex({
    cortex: PAIRED,
    hooks: {
      "reads.ts": `export default async ({ query, search, event }) => {
        const rows = await query("select content from events where id = ?", [event.id]);
        const found = await search("hello", { channels: ["telegram"], since: 0, until: new Date(8e15), limit: 1 });
        return { fire: true, routing: { session: "work" }, context: { extracted: { rows, found } } };
      };`,
      "writes.ts": `export default async ({ query }) => { await query("delete from event"); return { fire: true }; };`,
    },
  });
  const { runs, items } = await accept(cortex);
  expect(runs[1]!.error).toContain("The query was refused");
  expect(items).toMatchObject([
    {
      dispatches: [
        {
          context: {
            extracted: { rows: [{ content: "hello" }], found: [{ eventId: "telegram:1", text: "hello" }] },
          },
        },
      ],
    },
  ]);
});

test("a hook asks the model that is configured for hooks, and what that costs is recorded", async () => {
  await using cortex = await openTestCortex({
    cortex: PAIRED,
    script: "- { when: Is this, plays: [{ say: 'Sure: ```json {\"urgent\": true} ```' }] }",
    hooks: {
      "asks.ts": `export default async ({ llm }) => {
        const { urgent } = JSON.parse(await llm("Is this urgent? Return JSON.", { json: true, max_tokens: 50 }));
        return { fire: urgent, routing: { session: "urgent" } };
      };`,
    },
  });
  const { runs, dispatches } = await accept(cortex);
  expect(runs).toMatchObject([{ hook: "asks", fired: true, llmCalls: 1, costUsd: 0 }]);
  expect(dispatches).toMatchObject([{ session: "urgent" }]);
});

test("a file that is dropped into the folder is a hook at once, and one that is wrong is shown", async () => {
  const lines: string[] = [];
  await using cortex = await openTestCortex({ cortex: PAIRED }, { log: (line) => lines.push(line) });
  expect((await accept(cortex, { sourceId: "before" })).runs).toEqual([]);
  writeFileSync(join(cortex.home, "hooks", "fires.ts"), FIRES);
  writeFileSync(join(cortex.home, "hooks", "broken.ts"), "export default (");
  await expect.poll(() => cortex.store.hooks.get("fires")).toMatchObject({ state: "active" });
  await expect.poll(() => cortex.store.hooks.get("broken")).toMatchObject({ state: "errored" });
  await expect.poll(() => cortex.hooks.wants("received")).toBe(true); // what is noted is in use a moment later
  expect((await accept(cortex, { sourceId: "after" })).dispatches).toMatchObject([{ hook: "fires" }]);
  await expect.poll(() => lines.join("\n")).toContain("Cannot load hook broken: SyntaxError");
});

test("a hook is enabled and disabled while it is at work", async () => {
  await using cortex = await openTestCortex({ cortex: PAIRED, hooks: { "fires.ts": FIRES } });
  await cortex.hooks.setEnabled("fires", false);
  expect(cortex.hooks.wants("received")).toBe(false);
  expect((await accept(cortex, { sourceId: "1" })).runs).toEqual([]);
  await cortex.hooks.setEnabled("fires", true);
  expect((await accept(cortex, { sourceId: "2" })).runs).toMatchObject([{ fired: true }]);
  await expect(cortex.hooks.setEnabled("nobody", true)).rejects.toMatchObject({ code: "hook_unknown" });
});

test("a hook can be tried out without anything coming of it", async () => {
  await using cortex = await openTestCortex({
    hooks: {
      "mail.ts": `export const filter = { channels: ["email"] };
        export default () => ({ fire: true, routing: { agent_id: "main" } });`,
      "throws.ts": `export default () => { throw new Error("no"); };`,
      "broken.ts": `export default (`,
    },
  });
  const event = message({ channel: "email", adapter: "email" });
  expect(await cortex.hooks.test("mail", event)).toMatchObject({
    hook: "mail",
    matches: true,
    fired: true,
    result: { destination: { kind: "agent", agent: "main" } },
    error: null,
  });
  expect(await cortex.hooks.test("mail", message())).toMatchObject({ matches: false, fired: false });
  expect(await cortex.hooks.test("throws", event)).toMatchObject({
    fired: false,
    error: expect.stringContaining("no"),
  });
  await expect(cortex.hooks.test("broken", event)).rejects.toMatchObject({ code: "hook_failed" });
  await expect(cortex.hooks.test("nobody", event)).rejects.toMatchObject({ code: "hook_unknown" });
  await expect(cortex.hooks.test("mail", "x:1" as EventId)).rejects.toMatchObject({ code: "event_unknown" });
  expect((await cortex.store.events.list({ channel: "email" })).items).toEqual([]);
});

test("an event that was taken in before a crash is judged after it", async () => {
  using folder = temporaryFolder();
  const home = folder.path;
  writeHome(home, { cortex: PAIRED, hooks: { "fires.ts": FIRES } });
  const first = await openTestCortex({}, { home });
  await (first.store as SqliteStore).crash();
  await first.stop().catch(() => {});
  const store = await openSqliteStore({ path: databasePath(home), clock: Date.now });
  const event = {
    ...message(),
    id: "telegram:late" as EventId,
    direction: "received",
    atMs: Date.now(),
    principal: "person:telegram-ada" as Principal,
  } as const;
  await store.events.accept(event, { judge: true });
  await store.crash();

  await using second = await openTestCortex({}, { home });
  const { runs, dispatches } = await judged(second, event.id);
  expect(runs).toMatchObject([{ hook: "fires", fired: true }]);
  expect(dispatches).toHaveLength(1);
});

test("without hooks nothing is to be judged", async () => {
  await using cortex = await openTestCortex();
  expect([cortex.hooks.wants("received"), cortex.hooks.wants("received", "timer")]).toEqual([false, false]);
  const { event } = await cortex.send({ content: "hello" });
  expect(await cortex.store.hooks.unjudged()).toEqual([]);
  expect(await cortex.store.hooks.ofEvent(event)).toEqual([]);
});
