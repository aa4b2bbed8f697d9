/**
 * Takes deliveries from the outbox and sends them: several targets at once, one delivery at a time for each.
 *
 * What is to be sent, and what became of it, is in the store. This holds only what is being sent, so it can
 * end at any moment and another can go on.
 */
import type { Channel } from "../channels/channel.ts";
import { CortexError } from "../model/errors.ts";
import { WakeLoop } from "../model/wake-loop.ts";
import type { DeliveryClaim, DeliveryFence, DeliveryTarget, LeaseRequest, Store } from "../store/store.ts";
import { SEND_DEADLINE_MS } from "./deadline.ts";
import { History } from "./history.ts";
import { sendDelivery } from "./send-delivery.ts";

interface SenderParts {
  readonly store: Pick<Store, "outbox" | "onWake">;
  /** Undefined: there is none of that name. */
  readonly channels: (name: string) => Channel | undefined;
  /** Who claims: one name for each process. */
  readonly holder: string;
  readonly clock: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Told of what kept a delivery from being worked on; it is taken up again later. */
  readonly onProblem: (error: unknown, claim: DeliveryClaim) => void;
  readonly maxInFlight?: number;
  readonly pollMs?: number;
}

/** Targets that are sent to at the same time. */
export const MAX_IN_FLIGHT = 16;
/** Wake-ups can be lost, and nothing wakes what is due; this is how long it then lies. */
const POLL_MS = 1_000;
/**
 * How long a claim is good. It cannot be renewed, so a long delivery is given back and claimed again before
 * the time is over, while two sends still fit into the rest of it.
 */
export const CLAIM_MS = 5 * 60_000;
const GIVE_BACK_MS = CLAIM_MS - 2 * SEND_DEADLINE_MS;

export class Sender implements AsyncDisposable {
  readonly #parts: SenderParts;
  readonly #request: LeaseRequest;
  readonly #history = new History();
  /**
   * The work on each target, in the order of the claims. The store gives out one delivery of a target at a
   * time, except where an older one is made alive again or the clock has jumped over the end of a claim.
   */
  readonly #lanes = new Map<string, Promise<void>>();
  /** Claims that were left without telling the store; nobody else would free them. */
  readonly #stranded: DeliveryFence[] = [];
  readonly #cut = new AbortController();
  readonly #claiming: WakeLoop;
  #busy = 0;
  #stopping = false;

  constructor(parts: SenderParts) {
    this.#parts = parts;
    this.#request = { holder: parts.holder, ttlMs: CLAIM_MS };
    const { store, pollMs = POLL_MS } = parts;
    this.#claiming = new WakeLoop({
      // A store that is full or gone is reported by whoever wrote to it.
      round: () => this.#claimAll(),
      listen: (wake) => store.onWake("outbox", wake),
      pollMs,
      keepsAlive: true,
    });
  }

  start(): void {
    this.#claiming.start();
  }

  /** How many deliveries are being worked on. */
  get active(): number {
    return this.#busy;
  }

  /** Looks for what is due. It is enough to call this when something may be; it happens by itself as well. */
  wake(): void {
    this.#claiming.wake();
  }

  /** Takes no new work, lets the sends under way end, and cuts off those that have not ended in time. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    await this.#claiming[Symbol.asyncDispose]();
    const deadline = setTimeout(() => this.#cut.abort(), deadlineMs);
    await Promise.all(this.#lanes.values());
    clearTimeout(deadline);
    await this.#releaseStranded();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop(0);
  }

  async #claimAll(): Promise<void> {
    const { store, clock, maxInFlight = MAX_IN_FLIGHT } = this.#parts;
    await this.#releaseStranded();
    const free = maxInFlight - this.#busy;
    if (free <= 0) return;
    const claimedAtMs = clock();
    for (const claim of await store.outbox.claim(this.#request, free)) this.#take(claim, claimedAtMs);
  }

  #take(claim: DeliveryClaim, claimedAtMs: number): void {
    const key = keyOf(claim.target);
    const before = this.#lanes.get(key) ?? Promise.resolve();
    this.#busy++;
    const lane = before
      .then(() => this.#carryOut(claim, claimedAtMs))
      .finally(() => {
        this.#busy--;
        if (this.#lanes.get(key) === lane) this.#lanes.delete(key);
        this.wake();
      });
    this.#lanes.set(key, lane);
  }

  async #carryOut(claim: DeliveryClaim, claimedAtMs: number): Promise<void> {
    const { store, channels, clock, random, onProblem } = this.#parts;
    try {
      await sendDelivery(claim, {
        outbox: store.outbox,
        channels,
        clock,
        random,
        history: this.#history,
        cut: this.#cut.signal,
        isOver: () => this.#stopping || clock() - claimedAtMs > GIVE_BACK_MS,
      });
    } catch (error) {
      if (error instanceof CortexError && error.code === "lease_lost") return; // whoever has it goes on
      this.#stranded.push(claim);
      onProblem(error, claim);
    }
  }

  async #releaseStranded(): Promise<void> {
    if (this.#stranded.length === 0) return;
    const claims = this.#stranded.map(({ delivery, epoch }) => ({ delivery, epoch }));
    try {
      await this.#parts.store.outbox.release(claims);
      this.#stranded.splice(0, claims.length);
    } catch {
      // The next poll tries again.
    }
  }
}

function keyOf({ channel, account, place, topic }: DeliveryTarget): string {
  return JSON.stringify([channel, account, place, topic ?? null]);
}
