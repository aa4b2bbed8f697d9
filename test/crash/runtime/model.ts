/** The model that the servers ask: it outlives them, answers what its tasks say, and fails now and then. */
import { setTimeout as delay } from "node:timers/promises";

import type { Random } from "../../simulation/random.ts";
import { type Reply, startModelServer } from "../../support/model-server.ts";
import { answerTask } from "./task.ts";

interface Interruption {
  /** At which request from now on. */
  readonly count: number;
  readonly at: "start" | "middle";
  readonly kill: () => void;
}

export interface Model extends AsyncDisposable {
  readonly url: string;
  /** What was said to it that is no proper conversation. */
  readonly problems: readonly string[];
  /** Kills whoever asks, at a request to come; resolves when that is done or no longer wanted. */
  interrupt(interruption: Interruption): Promise<void>;
  letBe(): void;
}

const MAX_DELAY_MS = 25;
/** How long it falls silent now and then, in the middle of an answer. */
const PAUSE_MS = 30;
const CHARACTERS_PER_TOKEN = 4;
/** How long the first half of an answer has to arrive. */
const HALF_MS = 5;

export async function startModel(random: Random): Promise<Model> {
  let planned: (Interruption & { left: number; done: () => void }) | undefined;
  const letBe = (): void => {
    planned?.done();
    planned = undefined;
  };
  const server = await startModelServer({
    strict: true,
    answer(request): Reply {
      const input = Math.ceil(JSON.stringify(request.body).length / CHARACTERS_PER_TOKEN);
      const reply: Reply = {
        ...answerTask(request),
        usage: { input },
        delayMs: random.below(MAX_DELAY_MS),
        ...(random.chance(0.2) && { gate: delay(PAUSE_MS), gateAt: "middle" }),
      };
      if (planned === undefined || --planned.left > 0)
        return random.chance(0.02) ? { fault: { status: 503, body: "It is busy." } } : reply;
      const { at, kill } = planned;
      letBe();
      if (at === "start") kill();
      else setTimeout(kill, HALF_MS);
      return { ...reply, delayMs: 0, gate: new Promise(() => {}), gateAt: at };
    },
  });
  return {
    url: server.openaiUrl,
    problems: server.problems,
    interrupt: (interruption) =>
      new Promise((done) => (planned = { ...interruption, left: interruption.count, done })),
    letBe,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
