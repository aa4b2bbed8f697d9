/**
 * Gives sessions to runs: as many at once as there are slots, the owner's work first, and never two for one session.
 * Of several slots, one is only for the owner's work.
 *
 * The store holds what is to be done; this holds only what is being done: the leases, which it renews, and the runs,
 * which it tells to stop when a lease is lost or the process ends.
 */
import { WakeLoop } from "../model/wake-loop.ts";
import type { Claim, Lease, LeaseRequest, Store } from "../store/store.ts";

export interface BrokerPorts {
  readonly store: Store;
  readonly lease: Pick<LeaseRequest, "holder" | "ttlMs">;
  readonly slots: () => number;
  readonly clock: () => number;
  /** Carries out a claim and settles it in the store; returns the claim that the settling brought. */
  readonly run: (run: ActiveRun) => Promise<Claim | undefined>;
  /** Called with an error that a run could not settle itself. */
  readonly onProblem: (error: unknown, claim: Claim) => void;
  readonly pollMs?: number;
  readonly cutMs?: number;
}

/** What a run gets from the broker. */
export interface ActiveRun {
  readonly claim: Claim;
  /** Aborts when the run must end at once and settle nothing: its lease is lost, or the shutdown timed out. */
  readonly cut: AbortSignal;
  /** Whether the process is stopping: stop at the next safe point. */
  readonly isStopping: () => boolean;
  /** The lease request for the next claim, to be settled together with this one. */
  readonly claimNext: () => LeaseRequest | undefined;
}

/**
 * Wake-ups can be lost: the longest that work then waits, and so does a run that could not be settled. Work that is due
 * later, after a quiet window or for another attempt, has a timer.
 */
const POLL_MS = 1_000;
/** How long runs have to end after they were cut off. Then they are abandoned. */
const CUT_MS = 10_000;

export class Broker implements AsyncDisposable {
  readonly #ports: BrokerPorts;
  readonly #runs = new Set<{ readonly lease: Lease; readonly cut: AbortController }>();
  /** Leases of runs that ended without telling the store; no one else would release them. */
  readonly #stranded: Lease[] = [];
  readonly #leasing: WakeLoop;
  #renewal: NodeJS.Timeout | undefined;
  /** Slots in use, and slots reserved for claims that were requested. */
  #busy = 0;
  #reserved = 0;
  #stopping = false;
  /** Whether the shutdown timed out. */
  #isOver = false;
  readonly #idle = Promise.withResolvers<void>();

  constructor(ports: BrokerPorts) {
    this.#ports = ports;
    const { store, pollMs = POLL_MS } = ports;
    this.#leasing = new WakeLoop({
      // Errors of the store are reported by its writers.
      round: ({ isPoll }) => this.#leaseAll(isPoll),
      listen: (wake) => store.onWake("queue", wake),
      pollMs,
      keepsAlive: true,
    });
  }

  start(): void {
    this.#leasing.start();
    this.#renewal = setInterval(() => void this.#renew(), this.#ports.lease.ttlMs / 3);
  }

  get active(): number {
    return this.#busy;
  }

  /** Does something that may bring a claim, such as accepting a message to an idle session: with a lease request if a slot is free. */
  async withSlot<Result>(
    act: (request: LeaseRequest | undefined) => Promise<{ result: Result; claim: Claim | undefined }>,
  ): Promise<Result> {
    const request = this.#free() > 0 ? this.#request() : undefined;
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

  /** Takes no new work, waits until the runs reach a safe point, and cuts off those that do not in time. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    const leasing = this.#leasing[Symbol.asyncDispose]();
    this.#noteIdle();
    const { cutMs = CUT_MS } = this.#ports;
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

  #request(): LeaseRequest {
    return { ...this.#ports.lease, others: Math.max(this.#ports.slots() - 1, 1) };
  }

  #free(): number {
    return this.#stopping ? 0 : this.#ports.slots() - this.#busy - this.#reserved;
  }

  /** A requested claim may become a run. */
  #noteIdle(): void {
    if (this.#stopping && this.#busy + this.#reserved === 0) this.#idle.resolve();
  }

  /** Returns the milliseconds until the next session is ready. */
  async #leaseAll(isPoll: boolean): Promise<number | undefined> {
    const { store, clock } = this.#ports;
    const request = this.#request();
    if (isPoll) void this.#releaseStranded();
    const free = this.#free();
    if (free <= 0) return undefined;
    this.#reserved += free;
    try {
      const claims = await store.queue.lease(request, free);
      for (const claim of claims) void this.#carryOut(claim);
      if (claims.length === free) return undefined; // the end of a run leads to another look
    } finally {
      this.#reserved -= free;
      this.#noteIdle();
    }
    const readyMs = await store.queue.nextReadyMs(request);
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
      return await this.#ports.run({
        claim,
        cut: active.cut.signal,
        isStopping: () => this.#stopping,
        claimNext: () => (this.#keepsSlot() ? this.#request() : undefined),
      });
    } catch (error) {
      this.#stranded.push(claim.lease);
      this.#report(error, claim);
      return undefined;
    } finally {
      this.#runs.delete(active);
    }
  }

  /** The number of slots may have been reduced since the run began. */
  #keepsSlot(): boolean {
    return !this.#stopping && this.#busy + this.#reserved <= this.#ports.slots();
  }

  #report(error: unknown, claim: Claim): void {
    try {
      this.#ports.onProblem(error, claim);
    } catch {
      // A broken listener must not cost the slot.
    }
  }

  async #renew(): Promise<void> {
    const held = [...this.#runs];
    if (held.length === 0) return;
    try {
      const lost = await this.#ports.store.queue.renew(
        this.#ports.lease,
        held.map(({ lease }) => lease),
      );
      for (const lease of lost) held.find((run) => run.lease === lease)?.cut.abort();
    } catch {
      // A lease that was not renewed is valid until another holder takes it, and then a write fails.
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
      await this.#ports.store.queue.release(leases);
    } catch {
      this.#stranded.push(...leases); // the next poll tries again
    }
  }
}
