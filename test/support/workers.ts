/** Managers and workers over a running Cortex: what they play, and what became of it. */
import { expect } from "vitest";

import type { ItemId } from "../../src/model/ids.ts";
import { MAIN_SESSION, type SessionKey } from "../../src/model/session-key.ts";
import { type Stamp, stampOf } from "../../src/model/stamp.ts";
import type { Tool } from "../../src/model/tool.ts";
import type { Cortex, CortexOptions } from "../../src/runtime/cortex.ts";
import type { Delegation, StoredEvent } from "../../src/store/store.ts";
import { DONE, openTestCortex, testTool } from "./home.ts";
import { PATIENT } from "./server.ts";

const NEVER = new AbortController().signal;
export const AGENTS = { agents: { main: {}, coder: {}, scout: {} }, broker: { retryMs: 0, maxAttempts: 1 } };

/** A play that makes calls, then one that says something. */
export function plays(calls: readonly (readonly [tool: string, args: object])[], say = "done"): string {
  const made = calls.map(([tool, args]) => ({ tool, args }));
  return JSON.stringify([...(made.length === 0 ? [] : [{ calls: made }]), { say }]);
}

export function entry(when: string, agent: string | undefined, script: string): string {
  return `- when: ${JSON.stringify(when)}\n${agent === undefined ? "" : `  agent: ${agent}\n`}  plays: ${script}\n`;
}

export function openWorkers(
  script: readonly string[],
  options: Partial<CortexOptions> = {},
  cortex: object = AGENTS,
): Promise<Cortex> {
  return openTestCortex({ cortex, script: script.join("") }, options);
}

export async function answerTo(cortex: Cortex, item: ItemId): Promise<string> {
  const outcome = await cortex.outcome(item, NEVER);
  if (outcome?.kind !== "turn") throw new Error(`There is no turn: ${JSON.stringify(outcome)}`);
  return (await cortex.store.turns.read(outcome.turn))!.messages.at(-1)!.content;
}

/** Of the newest turn of a session: what its calls were answered. */
export async function resultsOf({ store }: Cortex, session: SessionKey = MAIN_SESSION): Promise<string[]> {
  const head = await store.sessions.head(session);
  const { toolCalls } = (await store.turns.read(head!))!;
  return toolCalls.map(({ result }) => (result as { text: string }).text);
}

export async function delegationsOf(
  { store }: Cortex,
  caller: SessionKey = MAIN_SESSION,
): Promise<readonly Delegation[]> {
  return (await store.delegations.list({ caller })).items.toReversed();
}

/** What was sent to a session by agents, oldest first. */
export async function messagesTo(
  { store }: Cortex,
  session: SessionKey,
  kind: Stamp["kind"],
): Promise<StoredEvent[]> {
  const { items } = await store.events.list({ limit: 100 });
  const found: StoredEvent[] = [];
  for (const event of items.toReversed()) {
    if (stampOf(event)?.kind !== kind) continue;
    if ((await store.events.dispatches(event.id)).some((dispatch) => dispatch.session === session))
      found.push(event);
  }
  return found;
}

/** Nothing is under way or waits any more. */
export async function settled({ store }: Cortex): Promise<void> {
  await expect
    .poll(async () => {
      const before = await store.changes.last();
      const [active, queued, unreported] = await Promise.all([
        store.runs.active(),
        store.queue.list(),
        store.delegations.unreported(),
      ]);
      // What moves on between the three reads is in none of them.
      const moved = (await store.changes.last()) - before;
      return active.length + queued.items.length + unreported.length + moved;
    }, PATIENT)
    .toBe(0);
}

/** A tool whose calls end when so many are under way at the same time. */
export function meetTool(count: number): Tool {
  const all = Promise.withResolvers<void>();
  let there = 0;
  return testTool("Meet", async () => {
    if (++there === count) all.resolve();
    await all.promise;
    return DONE;
  });
}

/** A tool that works until the test, or an abort, ends it. */
export function holdTool(): {
  readonly tool: Tool & { readonly calls: unknown[] };
  readonly release: () => void;
  aborted: number;
} {
  const held = Promise.withResolvers<void>();
  const hold = {
    aborted: 0,
    release: () => held.resolve(),
    tool: testTool("Hold", async (_, { signal }) => {
      const stopped = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => stopped.resolve(), { once: true });
      await Promise.race([held.promise, stopped.promise]);
      if (signal.aborted) hold.aborted++;
      return DONE;
    }),
  };
  return hold;
}
