/** The model that the servers ask: it outlives them, answers what its tasks say, and fails now and then. */
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
  /** Kills whoever asks, at a request to come; resolves when that is done or no longer wanted. */
  interrupt(interruption: Interruption): Promise<void>;
  letBe(): void;
}

const MAX_DELAY_MS = 25;
/** How long the first half of an answer has to arrive. */
const HALF_MS = 5;

export async function startModel(random: Random): Promise<Model> {
  let planned: (Interruption & { left: number; done: () => void }) | undefined;
  const letBe = (): void => {
    planned?.done();
    planned = undefined;
  };
  const server = await startModelServer({
    answer(request): Reply {
      const reply: Reply = { ...answerTask(request), delayMs: random.below(MAX_DELAY_MS) };
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
    interrupt: (interruption) =>
      new Promise((done) => (planned = { ...interruption, left: interruption.count, done })),
    letBe,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
