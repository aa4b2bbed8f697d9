import type { EventId, ItemId, TurnId } from "../model/ids.ts";
import type { Store } from "../store/store.ts";
import { answerText } from "../model/reply-tool.ts";
import { Bell } from "./live.ts";

/** How a message ended. */
export type Outcome =
  | {
      readonly kind: "turn";
      readonly turn: TurnId;
      /** The answer, with the replies before it. */
      readonly text: string;
      /** Null: unknown. */
      readonly costUsd: number | null;
      readonly aborted?: Aborted;
    }
  | { readonly kind: "dropped"; readonly policy: string }
  | { readonly kind: "dead"; readonly error: string };

/** Why a turn ended early. Its output so far stays in it. */
interface Aborted {
  readonly reason: string;
  /** The message that interrupted it. Absent: aborted on request. */
  readonly by?: EventId;
}

/** For messages that another process settled, and lost wake-ups. */
const POLL_MS = 1_000;

/** Lets senders wait for the outcome of their messages. The store has it; this only decides when to look. */
export class Outcomes implements Disposable {
  readonly #store: Store;
  readonly #waiting = new Map<ItemId, Set<Bell>>();
  readonly #poll: NodeJS.Timeout;
  #isClosed = false;

  constructor(store: Store) {
    this.#store = store;
    this.#poll = setInterval(() => this.look([...this.#waiting.keys()]), POLL_MS).unref();
  }

  /** Looks at messages that may have been settled. */
  look(items: readonly ItemId[]): void {
    for (const item of items) for (const bell of this.#waiting.get(item) ?? []) bell.ring();
  }

  /** Waits for the outcome of a message. Undefined: the signal aborted first, or Cortex stops. */
  async wait(item: ItemId, signal: AbortSignal): Promise<Outcome | undefined> {
    const bell = new Bell();
    const bells = this.#waiting.get(item) ?? new Set();
    this.#waiting.set(item, bells.add(bell));
    signal.addEventListener("abort", bell.ring);
    try {
      for (;;) {
        const rung = bell.next();
        if (this.#isClosed) return undefined;
        const outcome = await this.#read(item);
        if (outcome !== undefined || signal.aborted) return outcome;
        await rung;
      }
    } finally {
      signal.removeEventListener("abort", bell.ring);
      bells.delete(bell);
      if (bells.size === 0) this.#waiting.delete(item);
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#poll);
    this.#isClosed = true;
    this.look([...this.#waiting.keys()]);
  }

  async #read(item: ItemId): Promise<Outcome | undefined> {
    const found = await this.#store.queue.outcome(item);
    switch (found?.state) {
      case "done":
      case "merged":
        return this.#readTurn(found.turn!);
      case "dropped":
        return { kind: "dropped", policy: found.policy ?? "unknown" };
      case "dead":
        return { kind: "dead", error: found.error ?? "unknown" };
      case "queued":
      case "claimed":
      case undefined:
        return undefined;
    }
  }
  async #readTurn(id: TurnId): Promise<Outcome> {
    const content = (await this.#store.turns.read(id))!;
    const { status, facts } = content.turn;
    const answered = { kind: "turn", turn: id, text: answerText(content), costUsd: facts.costUsd } as const;
    return status === "aborted" ? { ...answered, aborted: await this.#abortOf(id) } : answered;
  }

  async #abortOf(turn: TurnId): Promise<Aborted> {
    const run = (await this.#store.runs.ofTurn(turn)).find(({ state }) => state === "aborted");
    const by = run?.abortedBy === undefined ? {} : { by: run.abortedBy };
    return { reason: run?.abort ?? "unknown", ...by };
  }
}
