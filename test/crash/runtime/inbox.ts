/** Where answers are sent: a receiver of webhooks that outlives the servers, and takes a moment for each. */
import type { Random } from "../../simulation/random.ts";
import { accept, openReceiver, type Received } from "../../support/webhook-receiver.ts";

interface Interruption {
  /** At which message from now on. */
  readonly count: number;
  /** Before it is told that the message has arrived, or right after. */
  readonly at: "before" | "after";
  readonly kill: () => void;
}

export interface Inbox extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  /** Kills whoever sends, at a message to come; resolves when that is done or no longer wanted. */
  interrupt(interruption: Interruption): Promise<void>;
  letBe(): void;
}

const MAX_DELAY_MS = 20;

export async function openInbox(random: Random): Promise<Inbox> {
  let planned: (Interruption & { left: number; done: () => void }) | undefined;
  const letBe = (): void => {
    planned?.done();
    planned = undefined;
  };
  const receiver = await openReceiver();
  receiver.behave((response, request) => {
    const answer = (): void => accept(response, request);
    if (planned === undefined || --planned.left > 0) {
      setTimeout(answer, random.below(MAX_DELAY_MS));
      return;
    }
    const { at, kill } = planned;
    letBe();
    if (at === "before") return kill();
    response.on("finish", kill);
    answer();
  });
  return {
    url: receiver.url,
    received: receiver.received,
    interrupt: (interruption) =>
      new Promise((done) => (planned = { ...interruption, left: interruption.count, done })),
    letBe,
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  };
}
