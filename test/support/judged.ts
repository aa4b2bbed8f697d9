/** What hooks make of an event, when all of them have judged it. */
import { expect } from "vitest";

import type { Incoming } from "../../src/events/incoming.ts";
import type { EventId } from "../../src/model/ids.ts";
import type { Cortex } from "../../src/runtime/cortex.ts";
import type { EventDispatch, HookRun } from "../../src/store/store.ts";
import { acceptOwn } from "./own-event.ts";
import { PATIENT } from "./server.ts";

export interface Judged {
  readonly event: EventId;
  readonly runs: readonly HookRun[];
  readonly dispatches: readonly EventDispatch[];
}

let count = 0;

/** Takes an event in and waits until it is judged. What is not given does not matter. */
export async function judge(cortex: Cortex, incoming: Partial<Incoming>): Promise<Judged> {
  const { channel = "test", timestampMs = Date.UTC(2026, 2, 1, 12) } = incoming;
  const { event } = await acceptOwn(cortex, {
    adapter: channel,
    sourceId: `judged-${++count}`,
    content: null,
    ...incoming,
    channel,
    timestampMs,
  });
  return judged(cortex, event);
}

/** Waits until nothing is left to be judged. */
export async function judged({ store: { hooks, events } }: Cortex, event: EventId): Promise<Judged> {
  await expect.poll(() => hooks.unjudged(), PATIENT).toEqual([]);
  return { event, runs: await hooks.ofEvent(event), dispatches: await events.dispatches(event) };
}
