import { expect, test } from "vitest";

import { openDelegating } from "../../../test/support/delegating.ts";
import { turnFor } from "../../../test/support/sample.ts";
import type { AgentId } from "../../model/ids.ts";
import { MAIN_SESSION } from "../../model/session-key.ts";
import { stampOf } from "../../model/stamp.ts";
import type { Claim, Delegation, Store } from "../../store/store.ts";
import { MAX_OPEN_DELEGATIONS } from "../delegate.ts";

const TASK = { agent: "coder", task: "Do it." };

async function given(store: Store): Promise<readonly Delegation[]> {
  return (await store.delegations.list({ limit: 200 })).items.toReversed();
}

async function eventOf(claim: Claim, store: Store) {
  const [item] = await store.queue.itemsOf(claim.turn);
  return item!.event;
}

test("work that is given is a message to a new session, stamped with who gave it", async () => {
  await using scene = await openDelegating();
  const { store } = scene;
  const caller = await scene.begin("a");
  const outcome = await scene.call(caller, "dispatch_to_agent", { ...TASK, type: "explore" });

  const [delegation] = await given(store);
  expect(outcome).toMatchObject({ kind: "done", result: { childSession: delegation!.session } });
  expect(delegation).toMatchObject({
    caller: MAIN_SESSION,
    callerTurn: caller.turn,
    ordinal: 0,
    waits: false,
  });
  expect(await store.sessions.get(delegation!.session)).toMatchObject({
    agent: "coder",
    persona: "atlas",
    parentSession: MAIN_SESSION,
    parentTurn: caller.turn,
    parentCall: "call-0",
    worker: { type: "explore", maxTurns: 6 },
  });
  const [worker] = await scene.lease();
  const event = await eventOf(worker!, store);
  expect(event).toMatchObject({
    channel: "subagent:explore",
    direction: "sent",
    sender: "main",
    content: "Do it.",
  });
  expect(stampOf(event)).toEqual({
    kind: "task",
    from: { session: MAIN_SESSION, agent: "main", turn: caller.turn },
  });
});

test.each(["dispatch_to_agent", "sub_agent"])(
  "the same call of %s made again gives no work twice",
  async (tool) => {
    await using scene = await openDelegating();
    const caller = await scene.begin("a");
    const params = tool === "sub_agent" ? { type: "code", task: "Do it." } : { ...TASK, wait: true };
    const first = await scene.call(caller, tool, params);
    await scene.opened.crash();
    const second = await scene.call(caller, tool, params);

    expect(second).toEqual(first);
    expect(first).toMatchObject({ kind: "suspend", waitKind: "child" });
    expect(await given(scene.store)).toHaveLength(1);
    expect((await scene.store.queue.list()).items).toHaveLength(1);
  },
);

test("a message that is sent again by the same call is one message", async () => {
  await using scene = await openDelegating();
  const caller = await scene.begin("a");
  for (let i = 0; i < 2; i++)
    await scene.call(caller, "send_message_to_agent", { to: "coder", content: "hello" });
  for (let i = 0; i < 2; i++)
    await scene.call(caller, "reply_to_caller", { content: "hi" }, { callKey: `${caller.turn}-1` });
  expect((await scene.store.queue.list()).items).toHaveLength(1);
  expect((await scene.store.outbox.list()).items).toMatchObject([
    { content: "hi", target: { place: "dm-1" } },
  ]);
});

test("a turn that is being aborted gives no more work away", async () => {
  await using scene = await openDelegating();
  const caller = await scene.begin("a");
  await scene.store.runs.requestAbort(caller.run, "enough");
  expect(await scene.call(caller, "dispatch_to_agent", TASK)).toContain("is being aborted");
  expect(await given(scene.store)).toEqual([]);
});

test("a session has so much work given away at once, and no more", async () => {
  await using scene = await openDelegating();
  const caller = await scene.begin("a");
  const call = (ordinal: number) =>
    scene.call(caller, "dispatch_to_agent", TASK, { callKey: `${caller.turn}-${ordinal}` });
  for (let ordinal = 0; ordinal < MAX_OPEN_DELEGATIONS; ordinal++) await call(ordinal);
  expect(await call(MAX_OPEN_DELEGATIONS)).toContain(`${MAX_OPEN_DELEGATIONS} workers`);
  expect(await call(0)).toMatchObject({ kind: "done" });
  expect(await given(scene.store)).toHaveLength(MAX_OPEN_DELEGATIONS);
});

test("what a call asks for is never more than its type allows", async () => {
  await using scene = await openDelegating();
  const caller = await scene.begin("a");
  await scene.call(caller, "sub_agent", {
    type: "explore",
    task: "Look.",
    tools: ["file_read", "shell"],
    maxTurns: 50,
    systemPrompt: "Look hard.",
    timeoutMs: 1_000,
  });
  const [{ session, deadlineMs, startedAtMs } = {} as Delegation] = await given(scene.store);
  expect(await scene.store.sessions.get(session)).toMatchObject({
    worker: {
      maxTurns: 6,
      systemPrompt: "Look hard.",
      process: {},
      permissions: { tools: { allow: [["*"], ["Read", "Grep", "List", "Stat"], ["Read", "Bash"]] } },
    },
  });
  expect(deadlineMs! - startedAtMs).toBe(1_000);
});

test("an agent's id means its worker that was opened last, else its main session", async () => {
  await using scene = await openDelegating();
  const { store } = scene;
  const caller = await scene.begin("a");
  const key = (ordinal: number) => ({ callKey: `${caller.turn}-${ordinal}` });
  await scene.call(caller, "send_message_to_agent", { to: "Coder", content: "1" }, key(0));
  await scene.call(caller, "dispatch_to_agent", TASK, key(1));
  await scene.call(caller, "dispatch_to_agent", TASK, key(2));
  await scene.call(caller, "send_message_to_agent", { to: "coder", content: "2" }, key(3));
  const [, latest] = await given(store);
  const pending = (await store.queue.list()).items.toReversed();
  expect(pending.map(({ session, mode, event }) => [session, mode, event.content])).toEqual([
    ["agent:coder:main", "followup", "1"],
    [expect.stringContaining("subagent"), "followup", "Do it."],
    [latest!.session, "followup", "Do it."],
    [latest!.session, "steer-backlog", "2"],
  ]);
});

test("messages between those who are not related may do no more than their sender", async () => {
  await using scene = await openDelegating();
  const caller = await scene.begin("a");
  const permissions = {
    tools: { allow: [["Read"]], deny: [] },
    ask: [],
    roots: [],
    hosts: [[]],
    channels: [[]],
    credentials: [],
    spendUsdPerDay: 1,
  };
  await scene.call(caller, "send_message_to_agent", { to: "coder", content: "x" }, { permissions });
  const [item] = (await scene.store.queue.list()).items;
  expect(item!.dispatches[0]!.permissions).toEqual({ ...permissions, authority: "owner" });
});

test("a reply to another agent's message goes to where it came from", async () => {
  await using scene = await openDelegating();
  const caller = await scene.begin("a");
  await scene.call(caller, "dispatch_to_agent", TASK);
  const [worker] = await scene.lease();
  await scene.call(worker!, "reply_to_caller", { content: "soon" }, { agent: "coder" as AgentId });
  const [item] = (await scene.store.queue.list()).items;
  expect(item).toMatchObject({
    session: MAIN_SESSION,
    mode: "steer-backlog",
    event: { content: "soon", sender: "coder" },
  });
  expect(stampOf(item!.event)).toMatchObject({ kind: "message" });
  // Whoever is idle when it comes answers to where the work was asked for.
  expect(item!.dispatches[0]!.delivery).toMatchObject({ channel: "test", place: "dm-1" });
});

test("a worker that is done can be given more work, in the same session", async () => {
  await using scene = await openDelegating();
  const { store } = scene;
  const caller = await scene.begin("a");
  await scene.call(caller, "dispatch_to_agent", { ...TASK, session: "bench" });
  const [worker] = await scene.lease();
  await store.turns.commit(turnFor(worker!));
  const again = { session: "bench", task: "More." };
  await scene.call(caller, "dispatch_to_agent", again, { callKey: `${caller.turn}-1` });
  expect(await given(store)).toMatchObject([
    { session: "bench", state: "done" },
    { session: "bench", state: "open" },
  ]);
  const other = await scene.call(
    caller,
    "dispatch_to_agent",
    { ...again, agent: "scout" },
    { callKey: `${caller.turn}-2` },
  );
  expect(other).toContain("belongs to agent coder");
});

test("a worker's word to its manager acts for whoever the work is for, and not for who came last", async () => {
  await using scene = await openDelegating();
  const { store } = scene;
  const paired = { authority: "paired", tools: { deny: ["Bash"] } };
  const guest = await scene.begin("a", "main", { permissions: paired }, { place: "guest" });
  await scene.call(guest, "dispatch_to_agent", TASK);
  await store.turns.commit(turnFor(guest));
  const [{ session } = {} as Delegation] = await given(store);
  const owner = await scene.begin("b", "main", {}, { place: "owner" });
  await scene.call(owner, "dispatch_to_agent", { session, task: "More." });
  const words = async (claim: Claim) => {
    await scene.call(
      claim,
      "send_message_to_agent",
      { to: "manager", content: "x" },
      { agent: "coder" as AgentId },
    );
    const [item] = await store.queue.pending(MAIN_SESSION);
    await store.queue.drop([item!.id], "test");
    return item!.dispatches[0]!;
  };

  const [first] = await scene.lease();
  expect(await words(first!)).toMatchObject({ permissions: paired, delivery: { place: "guest" } });
  await store.turns.commit(turnFor(first!));
  const [second] = await scene.lease();
  const said = await words(second!);
  expect(said).toMatchObject({ delivery: { place: "owner" } });
  expect(said).not.toHaveProperty("permissions");
});

test("a session with a name is bound by what the caller may do, also where it is new", async () => {
  await using scene = await openDelegating();
  const caller = await scene.begin("a");
  await scene.call(caller, "dispatch_to_agent", { ...TASK, session: "bench", type: "explore" });
  const [item] = (await scene.store.queue.list()).items;
  expect(item!.dispatches[0]!.permissions).toMatchObject({
    authority: "owner",
    tools: { allow: [["*"], ["Read", "Grep", "List", "Stat"]] },
  });
});
