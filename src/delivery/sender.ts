/**
 * Takes deliveries from the outbox and sends them: several targets at once, one delivery at a time for each.
 *
 * The store holds what is to be sent and what became of it; this holds only what is being sent. So it can end at any
 * moment, and another process continues.
 */
import { CortexError } from "../model/errors.ts";
import { WakeLoop } from "../model/wake-loop.ts";
import type { DeliveryClaim, DeliveryFence, DeliveryTarget, LeaseRequest, Store } from "../store/store.ts";
import { SEND_DEADLINE_MS, sendDelivery } from "./send-delivery.ts";
import { History, type SendPorts } from "./work.ts";

interface SenderPorts extends Omit<SendPorts, "outbox"> {
  readonly store: Pick<Store, "outbox" | "onWake">;
  /** Who claims: one name per process. */
  readonly holder: string;
  /** Called with an error that kept a delivery from being worked on; it is retried later. */
  readonly onProblem: (error: unknown, claim: DeliveryClaim) => void;
  readonly maxInFlight?: number;
  readonly pollMs?: number;
}

/** Targets that are sent to concurrently. */
export const MAX_IN_FLIGHT = 16;
/** Wake-ups can be lost, and retries have none: the longest that a due delivery waits. */
const POLL_MS = 1_000;
/** Longer waits end with a poll: a second more does not matter to them. */
const MAX_SHORT_WAIT_MS = 5 * POLL_MS;
/**
 * How long a claim is valid. It cannot be renewed, so a long delivery is released and claimed again while there is still
 * time for two sends.
 */
export const CLAIM_MS = 5 * 60_000;
const GIVE_BACK_MS = CLAIM_MS - 2 * SEND_DEADLINE_MS;

export class Sender implements AsyncDisposable {
  readonly #ports: SenderPorts;
  readonly #request: LeaseRequest;
  readonly #history = new History();
  /**
   * The work on each target, in the order of the claims. The store hands out one delivery per target at a time, unless
   * an older one is retried by hand or the clock has jumped past the end of a claim.
   */
  readonly #lanes = new Map<string, Promise<void>>();
  /** Abandoned claims that the store does not know of; no one else would release them. */
  readonly #stranded: DeliveryFence[] = [];
  readonly #cut = new AbortController();
  readonly #claiming: WakeLoop;
  #busy = 0;
  #stopping = false;

  constructor(ports: SenderPorts) {
    this.#ports = ports;
    this.#request = { holder: ports.holder, ttlMs: CLAIM_MS };
    const { store, pollMs = POLL_MS } = ports;
    this.#claiming = new WakeLoop({
      // Errors of the store are reported by its writers.
      round: () => this.#claimAll(),
      listen: (wake) => store.onWake("outbox", wake),
      pollMs,
      keepsAlive: true,
    });
  }

  start(): void {
    this.#claiming.start();
  }

  /** Deliveries at work. */
  get active(): number {
    return this.#busy;
  }

  /** Looks for due deliveries. Optional: this also happens by itself. */
  wake(): void {
    this.#claiming.wake();
  }

  /** Takes no new work, waits for current sends, and cuts off those that do not end in time. */
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
    const { store, clock, maxInFlight = MAX_IN_FLIGHT } = this.#ports;
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
    const { store, outlets, clock, random, onProblem } = this.#ports;
    try {
      await sendDelivery(claim, {
        outbox: store.outbox,
        outlets,
        clock,
        random,
        history: this.#history,
        cut: this.#cut.signal,
        isOver: () => this.#stopping || clock() - claimedAtMs > GIVE_BACK_MS,
        lookIn: (ms) => this.#lookIn(ms),
      });
    } catch (error) {
      if (error instanceof CortexError && error.code === "lease_lost") return; // its holder continues
      this.#stranded.push(claim);
      onProblem(error, claim);
    }
  }

  /** Rate limits are often shorter than the time to the next poll. */
  #lookIn(ms: number): void {
    if (ms >= MAX_SHORT_WAIT_MS) return;
    setTimeout(() => this.wake(), ms + 1).unref(); // timers may go off a moment early
  }

  async #releaseStranded(): Promise<void> {
    if (this.#stranded.length === 0) return;
    const claims = this.#stranded.map(({ delivery, epoch }) => ({ delivery, epoch }));
    try {
      await this.#ports.store.outbox.release(claims);
      this.#stranded.splice(0, claims.length);
    } catch {
      // The next poll tries again.
    }
  }
}

function keyOf({ channel, account, place, topic }: DeliveryTarget): string {
  return JSON.stringify([channel, account, place, topic ?? null]);
}
