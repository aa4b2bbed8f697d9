import { expect, test } from "vitest";

import { type Delegating, openDelegating } from "../../test/support/delegating.ts";
import { message, turnFor } from "../../test/support/sample.ts";
import { says, spoken } from "../../test/support/scripted-model.ts";
import type { Claim, Delegation } from "../store/store.ts";
import { childResult, MAX_RESULT_LENGTH, readOutcome, reportText } from "./outcome.ts";

/** Work that was given, taken up by the worker, and ended as the test says. */
async function endOf(
  scene: Delegating,
  end: (worker: Claim, delegation: Delegation) => Promise<unknown>,
  params: object = {},
): Promise<Delegation> {
  const caller = await scene.begin("a");
  await scene.call(caller, "dispatch_to_agent", { agent: "coder", task: "Do it.", ...params });
  const [worker] = await scene.lease();
  const [open] = (await scene.store.delegations.list()).items;
  await end(worker!, open!);
  return (await scene.store.delegations.get(open!.id))!;
}

async function told(scene: Delegating, delegation: Delegation) {
  const outcome = await readOutcome(delegation, scene.store);
  return {
    outcome,
    report: reportText(delegation, outcome),
    result: await childResult(delegation, scene.store),
  };
}

function answered(worker: Claim, text: string, costUsd: number | null = 0.25) {
  return turnFor(worker, {
    messages: [message("q", "user", "q"), { ...spoken(worker.turn, says(text, { costUsd })), content: text }],
  });
}

test("a result is the answer, with the worker's session and what it cost", async () => {
  await using scene = await openDelegating();
  const done = await endOf(scene, (worker) => scene.store.turns.commit(answered(worker, "42")));
  const { report, result } = await told(scene, done);
  const footer = `[worker ${done.session}, 0.2500 USD]`;
  expect(result).toEqual({
    text: `42\n\n${footer}`,
    details: {
      delegation: done.id,
      session: done.session,
      state: "done",
      limitReached: false,
      costUsd: 0.25,
      turn: done.turn,
    },
    childSession: done.session,
  });
  expect(report).toBe(`The work is done:\n\n42\n\n${footer}`);
});

test("a price that nobody knows is left out", async () => {
  await using scene = await openDelegating();
  const done = await endOf(scene, (worker) => scene.store.turns.commit(answered(worker, "42", null)));
  expect((await told(scene, done)).result!.text).toBe(`42\n\n[worker ${done.session}]`);
});

test("a long answer is cut, and it is said where the rest is", async () => {
  await using scene = await openDelegating();
  const long = "x".repeat(MAX_RESULT_LENGTH + 5);
  const done = await endOf(scene, (worker) => scene.store.turns.commit(answered(worker, long)));
  const { text } = (await told(scene, done)).result!;
  expect(text).toContain(`${"x".repeat(10)}\n(5 more characters are in the turn ${done.turn})`);
});

test("one that is open has no outcome", async () => {
  await using scene = await openDelegating();
  const open = await endOf(scene, async () => {});
  expect((await told(scene, open)).result).toBeUndefined();
});

test("a failure says why, and is an error", async () => {
  await using scene = await openDelegating();
  const failed = await endOf(scene, ({ lease, run }) =>
    scene.store.runs.fail({ lease, run, error: "model_failed: no", outcome: { kind: "dead" } }),
  );
  const { result, report } = await told(scene, failed);
  expect(result).toMatchObject({
    text: expect.stringMatching(/^The work failed: model_failed: no\n\n\[worker/),
    isError: true,
  });
  expect(report).toBe(result!.text);
});

test("what was stopped has what there was", async () => {
  await using scene = await openDelegating();
  const aborted = await endOf(scene, (worker) =>
    scene.store.turns.commit({ ...answered(worker, "half of it"), status: "aborted" }),
  );
  expect((await told(scene, aborted)).result).toMatchObject({
    text: expect.stringMatching(/^The work was aborted\.\n\nPartial result:\n\nhalf of it/),
    isError: true,
  });
});

test("work that timed out has what the journal holds of it", async () => {
  await using scene = await openDelegating();
  const late = await endOf(
    scene,
    async ({ lease, run }) => {
      const said = { ...spoken("m1", says("I have begun")), content: "I have begun" };
      await scene.store.runs.journal(lease, run, [{ kind: "message", place: 0, message: said }]);
      scene.opened.clock.advance(600_000);
      await scene.store.delegations.expire();
    },
    { type: "explore" },
  );
  expect((await told(scene, late)).result!.text).toMatch(
    /^The work timed out after 600 s and was stopped\.\n\nPartial result:\n\nI have begun\n\n\[worker .*, 0\.5000 USD\]$/,
  );
});

test("work that was cancelled or dropped says so", async () => {
  await using scene = await openDelegating();
  const cancelled = await endOf(scene, (_, { caller }) => scene.store.delegations.cancel(caller, "enough"));
  expect((await told(scene, cancelled)).result).toMatchObject({
    text: expect.stringMatching(/^The work was cancelled\./),
    isError: true,
  });
});

test("what the worker has said already is not said again", async () => {
  await using scene = await openDelegating();
  const done = await endOf(scene, async (worker) => {
    const { lease, run } = worker;
    const call = {
      ordinal: 0,
      callId: "c",
      tool: "reply_to_caller",
      params: { content: "42" },
      startedAtMs: 0,
    };
    await scene.store.runs.journal(lease, run, [
      { kind: "message", place: 0, message: message("q", "user", "q") },
      { kind: "call", ...call },
      { kind: "result", ordinal: 0, status: "ok", result: { text: "" }, completedAtMs: 0 },
    ]);
    await scene.store.turns.commit(turnFor(worker, { messages: [message(worker.turn, "assistant", "42")] }));
  });
  const { report, result } = await told(scene, done);
  expect(report).toBeUndefined();
  expect(result!.text).toMatch(/^42/); // a call that waits has a result in any case
});
