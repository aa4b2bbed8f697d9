/**
 * Gives sessions to runs: as many at once as there are slots, those that have waited longest first, and
 * never two for one session.
 *
 * What is to be done is in the store. This holds only what is being done: the leases, which it renews, and
 * the runs, which it tells to stop when a lease is lost or the process ends.
 */
import { WakeLoop } from "../model/wake-loop.ts";
import type { Claim, Lease, LeaseRequest, Store } from "../store/store.ts";

export interface BrokerParts {
  readonly store: Store;
  readonly lease: LeaseRequest;
  readonly slots: () => number;
  readonly clock: () => number;
  /** Carries a claim out and settles it in the store; gives the claim that the settling brought. */
  readonly run: (run: ActiveRun) => Promise<Claim | undefined>;
  /** Told of what a run could not settle itself. */
  readonly onProblem: (error: unknown, claim: Claim) => void;
  readonly pollMs?: number;
  readonly cutMs?: number;
}

/** What a run knows of the outside. */
export interface ActiveRun {
  readonly claim: Claim;
  /** Aborts when the run must end at once and settle nothing: its lease is lost, or the time to stop is over. */
  readonly cut: AbortSignal;
  /** Whether the process ends: stop at the next safe point. */
  readonly isStopping: () => boolean;
  /** How to ask for the next claim together with the settling of this one. */
  readonly claimNext: () => LeaseRequest | undefined;
}

/**
 * Wake-ups can be lost; this is how long work then lies, and how long a run that nobody could settle does. What
 * is due sooner, after a quiet window or for another attempt, has a timer of its own.
 */
const POLL_MS = 1_000;
/** How long runs have to end once they are cut off. One that does not even then is left behind. */
const CUT_MS = 10_000;

export class Broker implements AsyncDisposable {
  readonly #parts: BrokerParts;
  readonly #runs = new Set<{ readonly lease: Lease; readonly cut: AbortController }>();
  /** Leases of runs that ended without telling the store; nobody else would free them. */
  readonly #stranded: Lease[] = [];
  readonly #leasing: WakeLoop;
  #renewal: NodeJS.Timeout | undefined;
  /** Slots in use, and slots kept for claims that are being asked for. */
  #busy = 0;
  #reserved = 0;
  #stopping = false;
  /** Whether the time to stop is over. */
  #isOver = false;
  readonly #idle = Promise.withResolvers<void>();

  constructor(parts: BrokerParts) {
    this.#parts = parts;
    const { store, pollMs = POLL_MS } = parts;
    this.#leasing = new WakeLoop({
      // A store that is full or gone is reported by whoever wrote to it.
      round: ({ isPoll }) => this.#leaseAll(isPoll),
      listen: (wake) => store.onWake("queue", wake),
      pollMs,
      keepsAlive: true,
    });
  }

  start(): void {
    this.#leasing.start();
    this.#renewal = setInterval(() => void this.#renew(), this.#parts.lease.ttlMs / 3);
  }

  get active(): number {
    return this.#busy;
  }

  /**
   * Does something that may bring a claim with it, such as accepting a message to an idle session: with a
   * lease request where a slot is free, else without.
   */
  async withSlot<Result>(
    act: (request: LeaseRequest | undefined) => Promise<{ result: Result; claim: Claim | undefined }>,
  ): Promise<Result> {
    const request = this.#free() > 0 ? this.#parts.lease : undefined;
    if (request !== undefined) this.#reserved++;
    try {
      const { result, claim } = await act(request);
      if (claim !== undefined) void this.#carryOut(claim);
      return result;
    } finally {
      if (request !== undefined) this.#reserved--;
      this.#noteIdle();
    }
  }

  /** Takes no new work, waits until the runs are at a safe point, and cuts off those that are not there in time. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    const leasing = this.#leasing[Symbol.asyncDispose]();
    this.#noteIdle();
    const { cutMs = CUT_MS } = this.#parts;
    const deadline = setTimeout(() => this.#cutAll(), deadlineMs);
    const end = setTimeout(() => this.#idle.resolve(), deadlineMs + cutMs);
    await this.#idle.promise;
    for (const timer of [deadline, end, this.#renewal]) clearTimeout(timer);
    await leasing;
    await this.#releaseStranded();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop(0);
  }

  #free(): number {
    return this.#stopping ? 0 : this.#parts.slots() - this.#busy - this.#reserved;
  }

  /** A claim that is being asked for may become a run. */
  #noteIdle(): void {
    if (this.#stopping && this.#busy + this.#reserved === 0) this.#idle.resolve();
  }

  /** Returns in how many milliseconds the next session is ready. */
  async #leaseAll(isPoll: boolean): Promise<number | undefined> {
    const { store, lease, clock } = this.#parts;
    if (isPoll) void this.#releaseStranded();
    const free = this.#free();
    if (free <= 0) return undefined;
    this.#reserved += free;
    try {
      const claims = await store.queue.lease(lease, free);
      for (const claim of claims) void this.#carryOut(claim);
      if (claims.length === free) return undefined; // a run that ends looks for more
    } finally {
      this.#reserved -= free;
      this.#noteIdle();
    }
    const readyMs = await store.queue.nextReadyMs();
    return Math.max((readyMs ?? Infinity) - clock(), 1); // it may have become ready just now
  }

  async #carryOut(first: Claim): Promise<void> {
    this.#busy++;
    for (let claim: Claim | undefined = first; claim !== undefined;) claim = await this.#runOne(claim);
    this.#busy--;
    this.#noteIdle();
    this.#leasing.wake();
  }

  async #runOne(claim: Claim): Promise<Claim | undefined> {
    const active = { lease: claim.lease, cut: new AbortController() };
    this.#runs.add(active);
    if (this.#isOver) active.cut.abort();
    try {
      return await this.#parts.run({
        claim,
        cut: active.cut.signal,
        isStopping: () => this.#stopping,
        claimNext: () => (this.#keepsSlot() ? this.#parts.lease : undefined),
      });
    } catch (error) {
      this.#stranded.push(claim.lease);
      this.#report(error, claim);
      return undefined;
    } finally {
      this.#runs.delete(active);
    }
  }

  /** There may be fewer slots than there were when the run began. */
  #keepsSlot(): boolean {
    return !this.#stopping && this.#busy + this.#reserved <= this.#parts.slots();
  }

  #report(error: unknown, claim: Claim): void {
    try {
      this.#parts.onProblem(error, claim);
    } catch {
      // Whoever listens is broken, and must not take the slot along.
    }
  }

  async #renew(): Promise<void> {
    const held = [...this.#runs];
    if (held.length === 0) return;
    try {
      const lost = await this.#parts.store.queue.renew(
        this.#parts.lease,
        held.map(({ lease }) => lease),
      );
      for (const lease of lost) held.find((run) => run.lease === lease)?.cut.abort();
    } catch {
      // A lease that could not be renewed is good until somebody else takes it, and then a write says so.
    }
  }

  #cutAll(): void {
    this.#isOver = true;
    for (const { cut } of this.#runs) cut.abort();
  }

  async #releaseStranded(): Promise<void> {
    if (this.#stranded.length === 0) return;
    const leases = this.#stranded.splice(0);
    try {
      await this.#parts.store.queue.release(leases);
    } catch {
      this.#stranded.push(...leases); // the next poll tries again
    }
  }
}
