import { expect, test } from "vitest";

import { openChannelPorts } from "../../../test/support/channel-ports.ts";
import { openTestStore } from "../../../test/support/open-store.ts";
import { MINUTE_MS } from "../../model/durations.ts";
import type { EventId } from "../../model/ids.ts";
import { openTimer } from "./timer.ts";

test("the timer's events are in the ledger, with what was missed, and each minute is there once", async () => {
  await using opened = await openTestStore();
  const { clock } = opened;
  const ledger = async () =>
    (await opened.store.events.list({ channel: "timer", direction: "received" })).items;
  const runOnce = async (count: number) => {
    using ports = await openChannelPorts(opened, {});
    await using timer = openTimer(ports);
    timer.start();
    await expect.poll(async () => (await ledger()).length).toBe(count);
  };
  await runOnce(1);
  await runOnce(1);
  clock.advance(10 * MINUTE_MS);
  await runOnce(2);
  const [newest, oldest] = await ledger();
  expect(oldest).toMatchObject({ id: "timer:2026-01-01T00:00Z", content: null, metadata: {} });
  expect(newest).toMatchObject({
    id: "timer:2026-01-01T00:10Z",
    metadata: { missed: { fromMs: oldest!.atMs + MINUTE_MS, toMs: newest!.atMs - MINUTE_MS } },
  });

  // A clock that was ahead and was set right: the minutes from before the mistake count, and no answers do.
  clock.advance(-5 * MINUTE_MS);
  const answer = {
    channel: "timer",
    direction: "sent",
    content: "Done",
    atMs: oldest!.atMs + 1_000,
  } as const;
  await opened.store.events.accept({ ...answer, id: "cortex:answer" as EventId });
  await runOnce(3);
  expect((await ledger())[1]).toMatchObject({
    id: "timer:2026-01-01T00:05Z",
    metadata: { missed: { fromMs: oldest!.atMs + MINUTE_MS } },
  });
});
