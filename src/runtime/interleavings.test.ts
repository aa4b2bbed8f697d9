/**
 * However sends, modes, tool calls and aborts interleave: each message that was accepted is answered by a turn that saw it
 * and that it did not abort itself, or is visibly dropped.
 */
import { expect, test } from "vitest";

import { createRandom, type Random } from "../../test/simulation/random.ts";
import { DONE, openTestCortex, testTool } from "../../test/support/home.ts";
import { QUEUE_MODES } from "../model/queue-mode.ts";
import { MAIN_SESSION } from "../model/session-key.ts";
import type { Cortex } from "./cortex.ts";
import type { Sent } from "../intake/messages.ts";

const SEEDS = Array.from({ length: 12 }, (_, index) => index + 1);
const STEPS = 25;
const NEVER = new AbortController().signal;
const SCRIPT = `
- { when: work, plays: [{ calls: [{ tool: Work }] }, { say: worked }] }
- { when: .*, plays: [{ say: said }] }`;

/** A tool that works until it is let go or its turn is aborted. */
function openWork() {
  let isOver = false;
  const waiting = new Set<() => void>();
  const tool = testTool("Work", async (_, { signal }) => {
    await new Promise<void>((resolve) => {
      if (isOver || signal.aborted) return resolve();
      waiting.add(resolve);
      signal.addEventListener("abort", () => resolve());
    });
    return DONE;
  });
  const letGo = (): void => {
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  const end = (): void => {
    isOver = true;
    letGo();
  };
  return { tool, letGo, end };
}

/** Lets others get on, as far as they get in so many rounds. */
async function yieldTo(random: Random): Promise<void> {
  for (let rounds = random.below(6); rounds > 0; rounds--) await new Promise(setImmediate);
}

/** What is wrong with the end of a message. Undefined: nothing. */
async function problemOf(sent: Sent, cortex: Cortex): Promise<string | undefined> {
  const outcome = (await cortex.outcome(sent.item, NEVER))!;
  if (outcome.kind === "dropped") return outcome.policy === "interrupt" ? undefined : outcome.policy;
  if (outcome.kind === "dead") return outcome.error;
  const { turn, messages } = (await cortex.store.turns.read(outcome.turn))!;
  const sees = messages.some(({ id }) => id === (sent.item as string));
  if (!sees) return `${turn.id} has not seen it`;
  if (turn.status === "completed") return outcome.text === "" ? "it has an empty answer" : undefined;
  if (outcome.aborted === undefined) return "it was aborted, and nobody says so";
  return outcome.aborted.by === sent.event ? `it has aborted ${turn.id}, which it is part of` : undefined;
}

test.each(SEEDS)("no message is lost in an interleaving, seed %i", { timeout: 180_000 }, async (seed) => {
  const random = createRandom(seed);
  const { tool, letGo, end } = openWork();
  const onInterrupt = random.pick(["drain", "drop"]);
  const queue = { debounceMs: 1, cap: 2 * STEPS, onInterrupt };
  await using cortex = await openTestCortex(
    { script: SCRIPT, cortex: { broker: { queue } } },
    { tools: [tool] },
  );
  const sent: Sent[] = [];
  for (let step = 0; step < STEPS; step++) {
    const choice = random.fraction();
    if (choice < 0.7 || sent.length === 0) {
      // Several at once: they meet in one batch of the writer.
      const count = random.chance(0.3) ? 2 : 1;
      const messages = Array.from({ length: count }, (_, place) => ({
        content: `${random.pick(["work", "work", "say"])} ${step}.${place}`,
        mode: random.chance(0.4) ? "interrupt" : random.pick(QUEUE_MODES),
      }));
      sent.push(...(await Promise.all(messages.map((message) => cortex.send(message)))));
    } else if (choice < 0.85) letGo();
    else await cortex.abort(MAIN_SESSION);
    await yieldTo(random);
  }
  end();
  const problems = await Promise.all(sent.map((each) => problemOf(each, cortex)));
  expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
});
