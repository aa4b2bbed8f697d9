/** What is configured as a secret is in none of the files of a store, whichever way it came. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { openWarmStore } from "../../../test/support/open-store.ts";
import {
  alice,
  answer,
  delivery,
  dispatch,
  event,
  facts,
  message,
  session,
  START_MS,
  testClock,
  toSession,
  turnFor,
} from "../../../test/support/sample.ts";
import { memoryParent, temporaryFolder } from "../../../test/support/temporary.ts";
import type { ApprovalId, EventId, TurnId } from "../../model/ids.ts";
import { assistantMessage, type AssistantBody } from "../../model/message.ts";
import { createRedact, type Redact } from "../../model/redact.ts";
import type { Identity } from "../../model/principal.ts";
import { NO_USAGE } from "../../model/usage.ts";
import type { Claim } from "../store.ts";
import type { SqliteStore } from "./sqlite-store.ts";

interface Opened extends AsyncDisposable {
  readonly store: SqliteStore;
  /** Everything that is on disk. */
  bytes(): string;
}

async function open(redact: Redact): Promise<Opened> {
  const folder = temporaryFolder(memoryParent());
  const store = await openWarmStore({ path: join(folder.path, "cortex.db"), clock: testClock(), redact });
  return {
    store,
    bytes: () =>
      readdirSync(folder.path)
        .map((name) => readFileSync(join(folder.path, name), "utf8"))
        .join("\n"),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

async function begin(store: SqliteStore, name: string): Promise<Claim> {
  const work = { dispatch: dispatch(name, toSession("work")), claim: alice };
  return (await store.events.accept(event(name), work)).dispatched!.claim!;
}

/** Gives the secret to every verb of the store, wherever a text from outside can stand. */
async function tellEverything(store: SqliteStore, secret: string): Promise<void> {
  const told = `It is ${secret}, keep it.`;
  const json = {
    [told]: [told, { deep: told, encoded: encodeURIComponent(secret) }],
    text: `{"a":${JSON.stringify(told)}}`,
  };
  const target = { channel: "test", account: told, place: told, topic: told };
  const spoken = event("a", {
    sender: told,
    ...target,
    replyTo: told,
    content: told,
    contentType: told,
    attachments: json,
    payload: json,
    metadata: json,
  });
  const asked = { message: told, context: json, permissions: json, delivery: json };
  const accepted = await store.events.accept(spoken, {
    dispatch: dispatch("a", toSession("work"), asked),
    claim: alice,
  });
  const { lease, run, turn } = accepted.dispatched!.claim!;
  const hook = { name: "hook", title: told, description: told, mode: "persistent", digest: "1" } as const;
  await store.hooks.sync([{ ...hook, filter: json, error: told }]);
  const judged = { event: spoken.id, hook: "hook", startedAtMs: START_MS, endedAtMs: START_MS };
  const firing = { ...dispatch("fired", toSession("hooked")), ...asked, dueMs: START_MS + 60_000 };
  await store.hooks.record({ ...judged, fired: true, dispatch: firing, result: json, error: told });
  const later = { hook: "other", dueMs: START_MS + 60_000, ...asked };
  await store.events.dispatch(spoken.id, dispatch("b", toSession("home"), later));
  await store.sessions.configure(session("work"), { note: json });
  await store.runs.pin(lease, run, json);
  await store.runs.journal(lease, run, [
    { kind: "message", place: 0, message: { ...message("q", "user", told), body: json } },
    { kind: "call", ordinal: 0, callId: told, tool: told, params: json, startedAtMs: START_MS },
    { kind: "result", ordinal: 0, status: "ok", result: json, completedAtMs: START_MS },
    { kind: "call", ordinal: 1, callId: "c", tool: "AskUser", params: {}, startedAtMs: START_MS },
  ]);
  await store.outbox.add(lease, run, { ...delivery("add"), target, replyTo: told, content: told });
  await store.outbox.notify({ ...delivery("say"), target, replyTo: told, content: told });
  const id = "q1" as ApprovalId;
  const request = { id, kind: "question", callHash: "h", request: json, expiresAtMs: undefined } as const;
  await store.runs.suspend(lease, run, { id: "w", kind: "question", detail: json }, [request]);
  await store.approvals.answer(id, { kind: "answer", by: told, text: told });
  await store.runs.requestAbort(run, told);
  const [again] = await store.queue.lease(alice, 1);
  const retry = { kind: "retry", atMs: START_MS } as const;
  const notice = { ...delivery("notice"), content: told };
  await store.runs.fail({ lease: again!.lease, run, error: told, outcome: retry, deliveries: [notice] });
  const [last] = await store.queue.lease(alice, 1);
  const result = {
    kind: "result",
    ordinal: 1,
    status: "error",
    result: json,
    completedAtMs: START_MS,
  } as const;
  await store.runs.journal(last!.lease, last!.run, [result]);
  const call = { ordinal: 2, callId: told, tool: told, params: json, startedAtMs: START_MS };
  await store.turns.commit(
    turnFor(last!, {
      messages: [{ ...answer(turn), content: told, body: json }],
      toolCalls: [{ ...call, status: "ok", result: json }],
      facts: { ...facts, permissions: { granted: json, used: json } },
      answer: { id: `cortex:${turn}` as EventId, ...target, atMs: START_MS, payload: json, metadata: json },
      deliveries: [{ ...delivery("b"), target }],
    }),
  );
  const next = await begin(store, "next");
  await store.turns.compact({
    lease: next.lease,
    run: next.run,
    turn: "summary" as TurnId,
    facts,
    summary: { ...message("summary", "assistant", told), body: json },
    firstKept: undefined,
  });
  const claims = await store.outbox.claim(alice, 10);
  await store.outbox.plan(claims[0]!, [told, told]);
  await store.outbox.sending(claims[0]!, 0);
  await store.outbox.settle(claims[0]!, 0, { kind: "sent", platformId: told });
  await store.outbox.settle(claims[0]!, 1, { kind: "dead", error: told });
  await store.outbox.fail(claims[1]!, { kind: "dead", error: told });
}

describe("secrets", () => {
  test.each([
    ["plain", "canary-7f3a9c21"],
    ["with characters that JSON and URLs escape", 'cañary "7f3a" \\9c/21'],
    ["of digits only", "8675309421"],
  ])("a secret %s is in no file, whichever verb it was given to", async (_, secret) => {
    await using opened = await open(createRedact([{ name: "MY_KEY", value: secret }]));
    const { store } = opened;
    await tellEverything(store, secret);
    const inJson = JSON.stringify(secret).slice(1, -1);
    const spellings = [secret, inJson, JSON.stringify(inJson).slice(1, -1), encodeURIComponent(secret)];
    const bytes = opened.bytes();
    expect(spellings.filter((spelling) => bytes.includes(spelling))).toEqual([]);
    expect(await store.verify()).toEqual({ ok: true, turns: 2, pruned: 0, audited: 1 });

    const shown = "It is [MY_KEY], keep it.";
    expect(await store.events.get("test:a" as EventId)).toMatchObject({ content: shown, place: shown });
    expect(await store.approvals.get("q1" as ApprovalId)).toMatchObject({
      answer: { text: shown, by: shown },
    });
    expect((await store.sessions.get(session("work")))!.settings).toMatchObject({
      note: { [shown]: [shown, { deep: shown, encoded: "[MY_KEY]" }] },
    });
  });

  test("the same test finds a secret that is not configured", async () => {
    await using opened = await open(createRedact([]));
    await tellEverything(opened.store, "canary-7f3a9c21");
    expect(opened.bytes()).toContain("canary-7f3a9c21");
  });

  test("a secret that was a number leaves JSON that can be read", async () => {
    await using opened = await open(createRedact([{ name: "PIN", value: "8675309421" }]));
    const { store } = opened;
    const payload = { pin: 8675309421, other: 8675309, list: [8675309421, null, true] };
    await store.events.accept(event("a", { payload }));
    expect((await store.events.get("test:a" as EventId))!.payload).toEqual({
      pin: "[PIN]",
      other: 8675309,
      list: ["[PIN]", null, true],
    });
  });

  test("what holds no secret is stored to the byte: signatures of providers stay good", async () => {
    await using opened = await open(createRedact([{ name: "MY_KEY", value: "canary-7f3a9c21" }]));
    const { store } = opened;
    const { lease, run } = await begin(store, "a");
    const body: AssistantBody = {
      blocks: [
        { type: "thinking", thinking: "The key is canary-7f3a9c21.", thinkingSignature: "c2lnbmVk+/==" },
        { type: "text", text: "Done.", textSignature: "v1:é\\u00e9" },
      ],
      stop: "stop",
      provider: "p",
      model: "m",
      usage: NO_USAGE,
      costUsd: 0.125,
    };
    const whole = assistantMessage("m", body, START_MS);
    await store.runs.journal(lease, run, [{ kind: "message", place: 0, message: whole }]);
    const stored = await store.runs.readMessage(run, 0);
    const [thinking, text] = body.blocks;
    expect(stored).toMatchObject({
      content: "Done.",
      body: {
        blocks: [
          { ...thinking, thinking: "The key is [MY_KEY]." },
          { type: "text", textSignature: (text as { textSignature: string }).textSignature },
        ],
        costUsd: 0.125,
      },
    });
  });

  test("secrets that become known later are taken out from then on", async () => {
    let redact = createRedact([]);
    await using opened = await open((text) => redact(text));
    const { store } = opened;
    await store.events.accept(event("a", { content: "canary-7f3a9c21" }));
    redact = createRedact([{ name: "MY_KEY", value: "canary-7f3a9c21" }]);
    await store.events.accept(event("b", { content: "canary-7f3a9c21" }));
    expect(await store.events.get("test:a" as EventId)).toMatchObject({ content: "canary-7f3a9c21" });
    expect(await store.events.get("test:b" as EventId)).toMatchObject({ content: "[MY_KEY]" });
  });

  test("what was written is the same when it is written again", async () => {
    await using opened = await open(createRedact([{ name: "MY_KEY", value: "canary-7f3a9c21" }]));
    const { store } = opened;
    const { lease, run } = await begin(store, "a");
    const entry = { kind: "message", place: 0, message: message("q", "user", "canary-7f3a9c21") } as const;
    await store.runs.journal(lease, run, [entry]);
    await store.runs.journal(lease, run, [entry]);
    const again = event("e", { content: "canary-7f3a9c21" });
    await store.events.accept(again);
    await store.events.accept(again);
    expect(await store.events.get(again.id)).toMatchObject({ differing: 0 });
  });
});

test("an event is the same before a secret is known, while it is known, and after", async () => {
  const known = { secrets: [] as { name: string; value: string }[] };
  await using opened = await open((text) => createRedact(known.secrets)(text));
  const { store } = opened;
  const early = event("early hunter2hunter2");
  const late = event("late hunter2hunter2");
  expect(await store.events.accept(early)).toEqual({ fresh: true });
  known.secrets = [{ name: "KEY", value: "hunter2hunter2" }];
  expect(await store.events.accept(early)).toEqual({ fresh: false });
  expect(store.events.keptId(early.id)).toBe(early.id);

  const kept = store.events.keptId(late.id);
  expect(kept).toMatch(/^test:sha256:[0-9a-f]{64}$/);
  expect(await store.events.accept(late)).toEqual({ fresh: true });
  expect(await store.events.accept(late)).toEqual({ fresh: false });
  expect(await store.events.accept({ ...late, id: kept })).toEqual({ fresh: false });
  expect(opened.bytes()).not.toContain("late hunter2hunter2");

  known.secrets = [];
  expect(await store.events.accept(late)).toEqual({ fresh: false });
  expect(store.events.keptId(late.id)).toBe(kept);
});

test("no new session is named by a secret, in lower case either", async () => {
  const redact = createRedact([{ name: "KEY", value: "Hunter2Hunter2" }]);
  await using opened = await open(redact);
  const claim = await begin(opened.store, "a");
  const { turn } = claim;
  await opened.store.turns.commit(turnFor(claim));
  await expect(opened.store.sessions.fork(turn, session("about-hunter2hunter2"))).rejects.toThrow(
    "The session contains the value of a secret",
  );
  expect(opened.bytes().toLowerCase()).not.toContain("hunter2hunter2");
});

test("no person and no identity has the name of a secret", async () => {
  await using opened = await open(createRedact([{ name: "KEY", value: "hunter2hunter2" }]));
  const { people } = opened.store;
  const by = { principal: "owner" };
  const ada = { id: "ada", name: "Ada", role: "member" } as const;
  const identity = "telegram:hunter2hunter2" as Identity;
  await expect(people.add({ ...ada, id: "hunter2hunter2" }, by)).rejects.toThrow("value of a secret");
  await expect(people.add({ ...ada, identities: [identity] }, by)).rejects.toThrow("value of a secret");
  await people.add(ada, by);
  await expect(people.change("ada", { link: [identity] }, by)).rejects.toThrow("value of a secret");
  expect(opened.bytes()).not.toContain("hunter2hunter2");
});
