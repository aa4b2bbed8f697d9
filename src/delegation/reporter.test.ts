import { expect, test } from "vitest";

import { type Delegating, openDelegating } from "../../test/support/delegating.ts";
import { message, turnFor } from "../../test/support/sample.ts";
import { PATIENT } from "../../test/support/server.ts";
import type { Config } from "../config/config.ts";
import { MAIN_SESSION } from "../model/session-key.ts";
import { stampOf } from "../model/stamp.ts";
import type { Claim, QueueItem, Store } from "../store/store.ts";
import { Reporter } from "./reporter.ts";

const TASK = { agent: "coder", task: "Do it." };

async function giveAndDo(scene: Delegating, params: object = {}): Promise<{ caller: Claim; worker: Claim }> {
  const caller = await scene.begin("a");
  await scene.call(caller, "dispatch_to_agent", { ...TASK, ...params });
  const [worker] = await scene.lease();
  return { caller, worker: worker! };
}

function start(scene: Delegating): Reporter {
  const reporter = new Reporter(scene.ports);
  reporter.start();
  return reporter;
}

async function reports(store: Store): Promise<readonly QueueItem[]> {
  const { items } = await store.queue.list({ session: MAIN_SESSION });
  return items.filter(({ event }) => stampOf(event)?.kind === "report");
}

test("an outcome is told once, by however many and however often", async () => {
  await using scene = await openDelegating();
  const { worker } = await giveAndDo(scene);
  await scene.store.turns.commit(turnFor(worker));
  for (let i = 0; i < 3; i++) {
    await using both = new AsyncDisposableStack();
    both.use(start(scene));
    both.use(start(scene));
    await expect.poll(() => scene.store.delegations.unreported(), PATIENT).toEqual([]);
  }
  const [item, ...more] = await reports(scene.store);
  expect(more).toEqual([]);
  expect(item!.event).toMatchObject({
    content: expect.stringContaining(`answer of ${worker.turn}`),
    sender: "coder",
  });
  expect(item!.dispatches[0]).toMatchObject({ delivery: { channel: "test", place: "dm-1" } });
  expect(stampOf(item!.event)).toMatchObject({
    from: { session: worker.lease.session, turn: worker.turn },
  });
});

test("what ended while nobody was there is told after the next start", async () => {
  await using scene = await openDelegating();
  const { worker } = await giveAndDo(scene);
  await scene.store.turns.commit(turnFor(worker));
  await scene.opened.crash();
  await using _ = start(scene);
  await expect.poll(() => reports(scene.store), PATIENT).toHaveLength(1);
});

test("what ends is told without being asked for", async () => {
  await using scene = await openDelegating();
  await using _ = start(scene);
  const { worker } = await giveAndDo(scene);
  await scene.store.turns.commit(turnFor(worker));
  await expect.poll(() => reports(scene.store), PATIENT).toHaveLength(1);
});

test("a turn that waits is made ready, and no message is sent", async () => {
  await using scene = await openDelegating();
  const { caller, worker } = await giveAndDo(scene, { wait: true });
  await scene.store.runs.suspend(caller.lease, caller.run, { id: "w", kind: "child", detail: null });
  await scene.store.turns.commit(turnFor(worker));
  expect(await scene.lease()).toEqual([]);
  await using _ = start(scene);
  await expect.poll(async () => (await scene.lease()).map(({ run }) => run), PATIENT).toEqual([caller.run]);
  expect(await reports(scene.store)).toEqual([]);
});

test("work whose time is over ends, and that is told", async () => {
  await using scene = await openDelegating();
  await giveAndDo(scene, { type: "explore" });
  scene.opened.clock.advance(600_000);
  await using _ = start(scene);
  await expect.poll(() => reports(scene.store), PATIENT).toHaveLength(1);
  const [item] = await reports(scene.store);
  expect(item!.event.content).toMatch(/^The work timed out after 600 s/);
});

test("a result is told even where much waits, and drops nothing", async () => {
  await using scene = await openDelegating({ broker: { queue: { cap: 1 } } });
  const { worker } = await giveAndDo(scene);
  await scene.store.turns.commit(turnFor(worker));
  await scene.begin("waiting").catch(() => {}); // the session is busy, so that there is no claim
  await using _ = start(scene);
  await expect.poll(() => reports(scene.store), PATIENT).toHaveLength(1);
  expect((await scene.store.queue.list({ session: MAIN_SESSION })).items).toHaveLength(2);
});

test("what cannot be told now is told later, and somebody hears of it once", async () => {
  await using scene = await openDelegating();
  const { worker } = await giveAndDo(scene);
  await scene.store.turns.commit(turnFor(worker, { messages: [message(worker.turn, "assistant", "done")] }));
  let failures = 3;
  const problems: unknown[] = [];
  const { ports } = scene;
  const failing = (): Config => {
    if (failures-- > 0) throw new Error("not now");
    return ports.settings.config();
  };
  const settings = { ...ports.settings, config: failing };
  const log = (line: string): void => void problems.push(line);
  await using reporter = new Reporter({ ...ports, settings, log }, { retryMs: 1 });
  reporter.start();
  await expect.poll(() => reports(scene.store), PATIENT).toHaveLength(1);
  expect(problems).toHaveLength(1);
});
