/** What every store promises about requests to a person. */
import { describe, expect, test } from "vitest";

import {
  alice,
  bob,
  delivery,
  dispatch,
  event,
  message,
  session,
  START_MS,
  toSession,
  turnFor,
} from "../../test/support/sample.ts";
import { begin, finishTurn, STORES } from "../../test/support/stores.ts";
import { HOUR_MS } from "../model/durations.ts";
import type { ApprovalId, DeliveryId, ItemId, TurnId } from "../model/ids.ts";
import { OWNER_PRINCIPAL, personPrincipal } from "../model/principal.ts";
import type { ApprovalAnswer, Claim, NewApproval, Store } from "./store.ts";

const refusal = (code: string) =>
  expect.objectContaining({ name: "CortexError", code, hint: expect.any(String) });

const a1 = "a1" as ApprovalId;
const q1 = "q1" as ApprovalId;
const wait = { id: "w", kind: "approval" as const, detail: null };
const approve: ApprovalAnswer = { kind: "approve", by: "tyler" };
const deny: ApprovalAnswer = { kind: "deny", by: "tyler", reason: "too risky" };

function approval(id: string, fields: Partial<NewApproval> = {}): NewApproval {
  return {
    id: id as ApprovalId,
    kind: "approval",
    callHash: `hash of ${id}`,
    request: { tool: "Bash", args: { command: "make" }, reason: "no sandbox" },
    expiresAtMs: START_MS + HOUR_MS,
    ...fields,
  };
}

function question(id: string): NewApproval {
  return approval(id, { kind: "question", request: { question: "Which?" }, expiresAtMs: undefined });
}

async function suspended(
  store: Store,
  name: string,
  requests: readonly NewApproval[],
  label = "work",
): Promise<Claim> {
  const claim = await begin(store, name, label);
  await store.runs.suspend(claim.lease, claim.run, wait, requests);
  return claim;
}

async function takeUp(store: Store): Promise<Claim> {
  const [claim] = await store.queue.lease(alice, 1);
  return claim!;
}

/** What the feed tells of a request, in order. */
async function told(store: Store): Promise<string[]> {
  const { changes } = await store.changes.since(0);
  return changes.flatMap((change) => (change.kind === "approval" ? [change.state] : []));
}

describe.each(Object.entries(STORES))("%s", (_, open) => {
  test("open requests are counted by who caused them, over all turns but one", async () => {
    await using opened = await open();
    const { store } = opened;
    const claims: Claim[] = [];
    for (const name of ["a", "b"]) {
      const sent = event(name, { principal: personPrincipal("ada") });
      const work = { dispatch: dispatch(name, toSession(name)), claim: alice };
      claims.push((await store.events.accept(sent, work)).dispatched!.claim!);
    }
    for (const [place, { lease, run }] of claims.entries())
      await store.runs.suspend(lease, run, wait, [approval(`x${place}`), question(`y${place}`)]);
    const ada = personPrincipal("ada");
    expect(await store.approvals.countOpen(ada, claims[0]!.turn)).toBe(2);
    expect(await store.approvals.countOpen(ada, "another" as TurnId)).toBe(4);
    expect(await store.approvals.countOpen(OWNER_PRINCIPAL, "another" as TurnId)).toBe(0);
    await store.approvals.answer("x0" as ApprovalId, deny);
    expect(await store.approvals.countOpen(ada, "another" as TurnId)).toBe(3);
  });

  test("a place that is told of a request is told once, and the request is found by its message", async () => {
    await using opened = await open();
    const { store } = opened;
    const target = { channel: "telegram", place: "42" };
    const notice = { id: "d1" as DeliveryId, target, content: "Which?" };
    const claim = await begin(store, "a", "work");
    const asked = [{ ...question("q1"), notice }];
    await store.runs.suspend(claim.lease, claim.run, wait, asked);
    await store.runs.suspend(claim.lease, claim.run, wait, asked); // the same call again
    const [sending] = await store.outbox.claim(alice, 2);
    expect(sending).toMatchObject({ delivery: notice.id });
    await store.outbox.plan(sending!, ["Which?"]);
    await store.outbox.sending(sending!, 0);
    await store.outbox.settle(sending!, 0, { kind: "sent", platformId: "m7" });

    expect(await store.approvals.get(q1)).toMatchObject({ notice: "d1", chat: "work" });
    expect(await store.approvals.openIn(target)).toMatchObject([{ id: "q1" }]);
    for (const message of ["m7", "d1"])
      expect(await store.approvals.toldBy(target, message)).toMatchObject({ id: "q1" });
    for (const [place, message] of [
      [target, "m8"],
      [{ ...target, place: "43" }, "m7"],
      [{ ...target, account: "other" }, "m7"],
    ] as const)
      expect(await store.approvals.toldBy(place, message)).toBeUndefined();
    await store.approvals.answer(q1, { kind: "answer", by: "tyler", text: "the red one" });
    expect(await store.approvals.openIn(target)).toEqual([]);
    expect(await store.approvals.toldBy(target, "m7")).toMatchObject({ state: "answered" });
  });

  test("what a person is asked is there once its run is suspended, and is listed", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const { run, turn } = await suspended(store, "a", [approval("a1")]);
    clock.advance(1_000);
    await suspended(store, "b", [question("q1")], "home");

    expect(await store.approvals.get(a1)).toEqual({
      ...approval("a1"),
      session: "work",
      chat: "work",
      notice: undefined,
      turn,
      run,
      state: "open",
      answer: undefined,
      askedAtMs: START_MS,
      answeredAtMs: undefined,
    });
    expect(await store.approvals.get("none" as ApprovalId)).toBeUndefined();
    const ids = async (options: Parameters<typeof store.approvals.list>[0]) =>
      (await store.approvals.list(options)).items.map(({ id }) => id);
    await store.approvals.answer(a1, deny);
    expect(await ids({})).toEqual(["q1", "a1"]);
    expect(await ids({ state: "open" })).toEqual(["q1"]);
    expect(await ids({ state: "denied" })).toEqual(["a1"]);
    expect(await ids({ session: session("work") })).toEqual(["a1"]);
    expect(await ids({ state: "open", session: session("work") })).toEqual([]);
    const first = await store.approvals.list({ limit: 1 });
    expect(await ids({ limit: 1, cursor: first.next! })).toEqual(["a1"]);
    expect(
      await store.query(
        "select id, run_id, turn_id, session_label, kind, status, expires_at from approvals order by id",
      ),
    ).toMatchObject([
      { id: "a1", run_id: run, turn_id: turn, session_label: "work", status: "denied" },
      { id: "q1", session_label: "home", kind: "question", status: "open", expires_at: null },
    ]);
  });

  test("an approval wakes its run, and its call is taken up once", async () => {
    await using opened = await open();
    const { store } = opened;
    const { run } = await suspended(store, "a", [approval("a1")]);
    expect(await store.queue.lease(alice, 1)).toEqual([]);
    let wakes = 0;
    store.onWake("queue", () => wakes++);
    expect(await store.approvals.answer(a1, approve)).toMatchObject({
      state: "approved",
      answer: approve,
      answeredAtMs: START_MS,
    });
    const { lease } = await takeUp(store);
    expect(wakes).toBeGreaterThan(0);
    expect(await store.approvals.use(lease, run, a1)).toBe(true);
    expect(await store.approvals.get(a1)).toMatchObject({ state: "used", answer: approve });
    expect(await store.approvals.use(lease, run, a1)).toBe(false);
    expect(await told(store)).toEqual(["open", "approved", "used"]);
  });

  test("the answer to a question is for the run to read", async () => {
    await using opened = await open();
    const { store } = opened;
    await suspended(store, "a", [question("q1")]);
    const answer: ApprovalAnswer = { kind: "answer", by: "tyler", text: "The second." };
    expect(await store.approvals.answer(q1, answer)).toMatchObject({ state: "answered", answer });
    await takeUp(store);
    expect(await store.approvals.get(q1)).toMatchObject({ answer });
  });

  test("a request is answered once: the same answer again is no error, another one is", async () => {
    await using opened = await open();
    const { store } = opened;
    const { run } = await suspended(store, "a", [approval("a1")]);
    const first = await store.approvals.answer(a1, approve);
    expect(await store.approvals.answer(a1, approve)).toEqual(first);
    await expect(store.approvals.answer(a1, deny)).rejects.toEqual(refusal("state_conflict"));
    await expect(store.approvals.answer(a1, { ...approve, by: "ana" })).rejects.toEqual(
      refusal("state_conflict"),
    );
    await store.approvals.use((await takeUp(store)).lease, run, a1);
    expect(await store.approvals.answer(a1, approve)).toMatchObject({ state: "used" });
    expect(await told(store)).toEqual(["open", "approved", "used"]);
  });

  test("an answer that does not fit, or is for nothing, is refused and wakes nobody", async () => {
    await using opened = await open();
    const { store } = opened;
    await suspended(store, "a", [approval("a1"), question("q1")]);
    const text: ApprovalAnswer = { kind: "answer", by: "tyler", text: "yes" };
    await expect(store.approvals.answer(a1, text)).rejects.toEqual(refusal("state_conflict"));
    await expect(store.approvals.answer(q1, approve)).rejects.toEqual(refusal("state_conflict"));
    await expect(store.approvals.answer("a2" as ApprovalId, approve)).rejects.toEqual(
      refusal("approval_unknown"),
    );
    expect(await store.approvals.get(a1)).toMatchObject({ state: "open", answer: undefined });
    expect(await store.queue.lease(alice, 1)).toEqual([]);
    expect(await store.approvals.answer(q1, deny)).toMatchObject({ state: "denied" });
  });

  test("an answer that comes too late is refused, whether or not anybody has closed the request", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    await suspended(store, "a", [approval("a1"), question("q1")]);
    expect(await store.approvals.nextExpiryMs()).toBe(START_MS + HOUR_MS);
    clock.advance(HOUR_MS - 1);
    expect(await store.approvals.expire()).toEqual([]);
    clock.advance(1);
    await expect(store.approvals.answer(a1, approve)).rejects.toEqual(refusal("approval_expired"));
    expect(await store.approvals.get(a1)).toMatchObject({ state: "open" });
    expect(await store.approvals.expire()).toEqual(["a1"]);
    expect(await store.approvals.expire()).toEqual([]);
    await expect(store.approvals.answer(a1, approve)).rejects.toEqual(refusal("approval_expired"));
    expect(await store.approvals.get(a1)).toMatchObject({ state: "expired", answeredAtMs: undefined });
    expect(await store.approvals.nextExpiryMs()).toBeUndefined(); // the question stays open
    expect(await store.approvals.get(q1)).toMatchObject({ state: "open", expiresAtMs: undefined });
    expect(await store.queue.lease(alice, 1)).toHaveLength(1);
    expect(await told(store)).toEqual(["open", "open", "expired"]);
  });

  test("a call is not taken up without an approval, nor by whoever lost the lease, nor for another turn", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const claim = await suspended(store, "a", [approval("a1"), approval("a2")]);
    await store.approvals.answer("a2" as ApprovalId, deny);
    const { lease, run } = await takeUp(store);
    for (const id of ["a1", "a2"] as ApprovalId[])
      await expect(store.approvals.use(lease, run, id)).rejects.toEqual(refusal("state_conflict"));
    await expect(store.approvals.use(lease, run, "a3" as ApprovalId)).rejects.toEqual(
      refusal("approval_unknown"),
    );
    await store.approvals.answer(a1, approve);
    await expect(store.approvals.use(claim.lease, run, a1)).rejects.toEqual(refusal("lease_lost"));
    const other = await begin(store, "b", "home");
    await expect(store.approvals.use(other.lease, other.run, a1)).rejects.toEqual(refusal("state_conflict"));
    clock.advance(alice.ttlMs + 1);
    const taken = (await store.queue.lease(bob, 2)).find((each) => each.run === run);
    await expect(store.approvals.use(lease, run, a1)).rejects.toEqual(refusal("lease_lost"));
    expect(await store.approvals.get(a1)).toMatchObject({ state: "approved" });
    expect(await store.approvals.use(taken!.lease, run, a1)).toBe(true);
  });

  test("an answer that comes while the run is at work is not lost", async () => {
    await using opened = await open();
    const { store } = opened;
    const { run } = await suspended(store, "a", [approval("a1"), approval("a2")]);
    await store.approvals.answer(a1, approve);
    const { lease } = await takeUp(store);
    await store.approvals.answer("a2" as ApprovalId, approve);
    expect(await store.queue.lease(bob, 1)).toEqual([]); // whoever holds the run keeps it
    await store.runs.suspend(lease, run, { ...wait, id: "w2" }, [approval("a2")]);
    expect(await store.queue.lease(bob, 1)).toMatchObject([{ run }]);
  });

  test("what was asked before stays as it is when it is asked again, after a crash say", async () => {
    await using opened = await open();
    const { store } = opened;
    const { lease, run } = await suspended(store, "a", [approval("a1"), approval("a2")]);
    await store.runs.suspend(lease, run, wait, [approval("a1"), approval("a2")]); // the same call once more
    await store.approvals.answer("a2" as ApprovalId, deny);
    const again = await takeUp(store);
    const longer = approval("a1", { expiresAtMs: START_MS + 9 * HOUR_MS, request: { tool: "rm" } });
    await store.runs.suspend(again.lease, run, { ...wait, id: "w2" }, [longer]);
    expect(await store.approvals.get(a1)).toMatchObject(approval("a1"));
    expect(await store.queue.lease(alice, 1)).toEqual([]);
    expect(await told(store)).toEqual(["open", "open", "denied"]);
  });

  test("a request that another turn has made is refused, and the run is not suspended", async () => {
    await using opened = await open();
    const { store } = opened;
    await suspended(store, "a", [approval("a1")]);
    const { lease, run } = await begin(store, "b", "home");
    await expect(store.runs.suspend(lease, run, wait, [approval("a2"), approval("a1")])).rejects.toEqual(
      refusal("state_conflict"),
    );
    expect(await store.approvals.get("a2" as ApprovalId)).toBeUndefined();
    expect(await store.runs.get(run)).toMatchObject({ state: "running" });
  });

  test("an attempt that fails leaves its requests to the next attempt at the turn", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    await suspended(store, "a", [approval("a1"), approval("a2")]);
    await store.approvals.answer(a1, approve);
    const first = await takeUp(store);
    const outcome = { kind: "retry" as const, atMs: clock() + 5_000 };
    await store.runs.fail({ lease: first.lease, run: first.run, error: "cut", outcome });
    await store.approvals.answer("a2" as ApprovalId, approve);
    expect(await store.queue.lease(alice, 1)).toEqual([]); // its time has not come
    clock.advance(5_000);
    const second = await takeUp(store);
    expect(second.run).not.toBe(first.run);
    expect(await store.approvals.use(second.lease, second.run, a1)).toBe(true);
    await store.runs.suspend(second.lease, second.run, wait, [approval("a2"), approval("a3")]);
    const third = await takeUp(store);
    await store.runs.suspend(third.lease, third.run, { ...wait, id: "w3" }, [approval("a3")]);
    expect(await store.queue.lease(alice, 1)).toEqual([]);
    await store.approvals.answer("a3" as ApprovalId, deny);
    expect(await takeUp(store)).toMatchObject({ run: second.run });
  });

  test("an answer to an earlier attempt wakes the attempt that waits now", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    await suspended(store, "a", [approval("a1"), approval("a2")]);
    await store.approvals.answer(a1, approve);
    const first = await takeUp(store);
    const outcome = { kind: "retry" as const, atMs: clock() };
    await store.runs.fail({ lease: first.lease, run: first.run, error: "cut", outcome });
    const second = await takeUp(store);
    await store.runs.suspend(second.lease, second.run, wait, [approval("a2")]);
    await store.approvals.answer("a2" as ApprovalId, deny);
    expect(await takeUp(store)).toMatchObject({ run: second.run });
  });

  describe("nobody is left to decide", () => {
    const isVoid = async (store: Store): Promise<void> => {
      expect(await store.approvals.get(a1)).toMatchObject({ state: "void" });
      await expect(store.approvals.answer(a1, approve)).rejects.toEqual(refusal("state_conflict"));
      expect(await told(store)).toContain("void");
    };

    test.each(["completed", "aborted"] as const)("once the turn was %s", async (status) => {
      await using opened = await open();
      const { store } = opened;
      await suspended(store, "a", [approval("a1"), question("q1")]);
      await store.approvals.answer(q1, deny);
      await store.turns.commit(turnFor(await takeUp(store), { status }));
      await isVoid(store);
      expect(await store.approvals.get(q1)).toMatchObject({ state: "denied" }); // what was decided stays so
    });

    test("once the turn is a dead letter, which does not ask again when it is tried again", async () => {
      await using opened = await open();
      const { store } = opened;
      const { run } = await suspended(store, "a", [approval("a1")]);
      await store.runs.resume(run, "w", []);
      const { lease } = await takeUp(store);
      await store.runs.fail({ lease, run, error: "e", outcome: { kind: "dead" } });
      await isVoid(store);
      await store.queue.retryDead("item-a" as ItemId);
      const again = await takeUp(store);
      await store.runs.suspend(again.lease, again.run, wait, [approval("a1")]);
      expect(await store.queue.lease(alice, 1)).toHaveLength(1); // there is nothing to wait for
      await isVoid(store);
    });

    test("once an attempt after the one that asked has come to its end", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const { run } = await suspended(store, "a", [approval("a1")]);
      await store.runs.resume(run, "w", []);
      const { lease } = await takeUp(store);
      await store.runs.fail({ lease, run, error: "e", outcome: { kind: "retry", atMs: clock() } });
      expect(await store.approvals.get(a1)).toMatchObject({ state: "open" });
      await store.turns.commit(turnFor(await takeUp(store)));
      await isVoid(store);
    });

    test("once the run is asked to end, by a person or by a message that interrupts", async () => {
      await using opened = await open();
      const { store } = opened;
      const { run } = await suspended(store, "a", [approval("a1")]);
      await store.runs.requestAbort(run, "stop");
      await isVoid(store);
      expect(await takeUp(store)).toMatchObject({ run, abort: "stop" });

      await suspended(store, "b", [approval("a2")], "home");
      const interrupt = dispatch("c", toSession("home"), { mode: "interrupt" });
      await store.events.accept(event("c"), { dispatch: interrupt });
      expect(await store.approvals.get("a2" as ApprovalId)).toMatchObject({ state: "void" });
    });

    test("once a run is suspended that was asked to end before", async () => {
      await using opened = await open();
      const { store } = opened;
      const { lease, run } = await begin(store, "a");
      await store.runs.requestAbort(run, "stop");
      await store.runs.suspend(lease, run, wait, [approval("a1")]);
      await isVoid(store);
      expect(await takeUp(store)).toMatchObject({ run, abort: "stop" });
    });

    test("and what other turns have asked stays open", async () => {
      await using opened = await open();
      const { store } = opened;
      await suspended(store, "a", [approval("a1")]);
      await finishTurn(store, "b", "home");
      expect(await store.approvals.get(a1)).toMatchObject({ state: "open" });
    });
  });

  test("an approval outlives a commit that was refused", async () => {
    await using opened = await open();
    const { store } = opened;
    const { run } = await suspended(store, "a", [approval("a1")]);
    await store.runs.resume(run, "w", []);
    const claim = await takeUp(store);
    const nameless = { messages: [message("other", "assistant", "x")] };
    await expect(store.turns.commit(turnFor(claim, nameless))).rejects.toEqual(refusal("turn_invalid"));
    expect(await store.approvals.get(a1)).toMatchObject({ state: "open" });
  });

  /** Commits a turn whose answer waits for a person. */
  async function hold(store: Store): Promise<Claim> {
    const claim = await begin(store, "a", "work");
    const held = {
      request: approval("a1", { request: { tool: "answer", args: { text: "answer" } } }),
      deliveries: [delivery("answer")],
      refused: [{ ...delivery("notice"), content: "It is not sent." }],
    };
    await store.turns.commit(turnFor(claim, { held }));
    return claim;
  }

  const queued = async (store: Store): Promise<string[]> =>
    (await store.outbox.list()).items.map(({ id, content }) => `${id}: ${content}`);

  test("an answer that is held is in the ledger, and is sent once when a person approves it", async () => {
    await using opened = await open();
    const { store } = opened;
    const { turn } = await hold(store);
    expect(await store.turns.get(turn)).toMatchObject({ status: "completed" });
    expect(await queued(store)).toEqual([]);
    expect(await store.approvals.get(a1)).toMatchObject({ state: "open", turn, session: "work" });

    await store.approvals.answer(a1, approve);
    await store.approvals.answer(a1, approve);
    await expect(store.approvals.answer(a1, deny)).rejects.toEqual(refusal("state_conflict"));
    expect(await queued(store)).toEqual([`delivery-answer: answer of ${turn}`]);
    expect(await store.outbox.ofTurn(turn)).toMatchObject([{ id: "delivery-answer", state: "pending" }]);
  });

  test("an answer that is denied or expires is not sent, and its reader is told", async () => {
    await using denied = await open();
    await hold(denied.store);
    await denied.store.approvals.answer(a1, deny);
    expect(await queued(denied.store)).toEqual(["delivery-notice: It is not sent."]);

    await using late = await open();
    await hold(late.store);
    late.clock.advance(HOUR_MS);
    expect(await late.store.approvals.expire()).toEqual([a1]);
    expect(await late.store.approvals.expire()).toEqual([]);
    await expect(late.store.approvals.answer(a1, approve)).rejects.toEqual(refusal("approval_expired"));
    expect(await queued(late.store)).toEqual(["delivery-notice: It is not sent."]);
  });

  test("an answer stays held when the next turn of its session is committed", async () => {
    await using opened = await open();
    const { store } = opened;
    await hold(store);
    await finishTurn(store, "b");
    expect(await store.approvals.get(a1)).toMatchObject({ state: "open" });
  });
});
