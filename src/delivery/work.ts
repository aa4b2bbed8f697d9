/** A claim at work, what is remembered of its delivery, and the ends it can have: each is one write. */
import { setTimeout as pause } from "node:timers/promises";

import { DEFAULT_MAX_ATTEMPTS, type Outlet } from "../channels/outlet.ts";
import { CortexError } from "../model/errors.ts";
import type { DeliveryClaim, OutboxStore, StoredDelivery } from "../store/store.ts";
import { describe, effectOf } from "./failure.ts";
import type { DeliveryId } from "../model/ids.ts";

/** What sending needs of a running Cortex. */
export interface SendPorts {
  readonly outbox: OutboxStore;
  /** Undefined: unknown channel. */
  readonly outlets: (channel: string, account?: string) => Outlet | undefined;
  readonly clock: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
}

/** What all sends of one sender share. */
export interface Sending extends SendPorts {
  readonly history: History;
  /** Aborts when there is no time left even for the chunk that is under way. */
  readonly cut: AbortSignal;
  /** Whether to give the claim back before the next chunk. */
  readonly isOver: () => boolean;
  /** Asks for another look at what is due, once this time is over. */
  readonly lookIn: (ms: number) => void;
}

export interface SendWork extends Sending {
  readonly claim: DeliveryClaim;
  readonly stored: StoredDelivery;
  readonly outlet: Outlet;
  readonly course: Course;
  readonly expiresAtMs: number;
}

/** Gives a chunk back to be sent once more, recorded before it happens. */
export async function allowRepeat(place: number, { claim, stored, outbox, clock }: SendWork): Promise<void> {
  const error = withWarning(place, stored.error ?? "");
  await outbox.settle(claim, place, { kind: "retry", error, retryAtMs: clock(), isRepeat: true });
}

export function isRepeat(place: number, { claim }: SendWork): boolean {
  return claim.chunks[place]?.isRepeat === true;
}

/** The error of a delivery that repeats a chunk warns about that. */
function describeWithWarning(error: string, { claim }: SendWork): string {
  const repeated = claim.chunks.findIndex((chunk) => chunk.isRepeat && chunk.state !== "sent");
  return repeated < 0 ? error : withWarning(repeated, error);
}

function withWarning(place: number, error: string): string {
  return `Message ${place + 1} may arrive twice. ${error}`.trim();
}

export async function recordSent(
  place: number,
  platformId: string | undefined,
  work: SendWork,
): Promise<void> {
  const { claim, outbox, cut } = work;
  const sent = { kind: "sent" as const, ...(platformId === undefined ? {} : { platformId }) };
  await persist(() => outbox.settle(claim, place, sent), cut);
}

interface FailedChunk {
  readonly place: number;
  /** Whether an earlier attempt may have arrived, which no failure of this one can rule out. */
  readonly doubtful: boolean;
}

export async function recordFailure(error: unknown, chunk: FailedChunk, work: SendWork): Promise<void> {
  const { claim, outlet, course, outbox, clock, random, expiresAtMs, cut } = work;
  const { place } = chunk;
  const effect = effectOf(error);
  const text = describeWithWarning(describe(error), work);
  const doubtful = chunk.doubtful || effect === "uncertain";
  course.failures++;
  if (effect === "refused" || course.failures >= (outlet.limits.maxAttempts ?? DEFAULT_MAX_ATTEMPTS)) {
    if (doubtful) return die(text, work); // the chunk stays as it is: in doubt
    work.history.forget(claim.delivery);
    return persist(() => outbox.settle(claim, place, { kind: "dead", error: text }), cut);
  }
  const retryAtMs = nextAttemptMs({
    nowMs: clock(),
    failures: course.failures,
    random: random(),
    retryAfterMs: error instanceof CortexError ? error.retryAfterMs : undefined,
    expiresAtMs,
  });
  const kind = doubtful ? "unknown" : "retry";
  return persist(() => outbox.settle(claim, place, { kind, error: text, retryAtMs }), cut);
}

export interface Postponement {
  readonly reason: string;
  readonly waitMs: number;
  /** The place of a chunk that may have arrived, which stays visible as such. */
  readonly doubtful: number | undefined;
}

/** Retries later, with nothing sent and no failure counted. */
export async function postpone({ reason, waitMs, doubtful }: Postponement, work: SendWork): Promise<void> {
  const { claim, outbox, clock, expiresAtMs, lookIn } = work;
  const error = describeWithWarning(reason, work);
  const retryAtMs = Math.min(clock() + waitMs, expiresAtMs);
  if (doubtful === undefined) await outbox.fail(claim, { kind: "retry", error, retryAtMs });
  else await outbox.settle(claim, doubtful, { kind: "unknown", error, retryAtMs });
  lookIn(waitMs);
}

export async function die(
  error: string,
  { claim, outbox, history, cut }: Sending & { readonly claim: DeliveryClaim },
): Promise<void> {
  history.forget(claim.delivery);
  await persist(() => outbox.fail(claim, { kind: "dead", error }), cut);
}

export const FIRST_DELAY_MS = 1_000;
export const MAX_DELAY_MS = 10 * 60_000;

interface Failure {
  readonly nowMs: number;
  /** Failures so far, at least 1. */
  readonly failures: number;
  /** From 0 up to 1. */
  readonly random: number;
  readonly retryAfterMs: number | undefined;
  /** When the delivery expires. */
  readonly expiresAtMs: number;
}

/**
 * When to retry a failed delivery: after twice as long with each failure, with jitter, and not before the platform allows
 * it. Never after the delivery expires, so that it cannot hold up its target for as long as a platform asks.
 */
export function nextAttemptMs({ nowMs, failures, random, retryAfterMs = 0, expiresAtMs }: Failure): number {
  const backoffMs = Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), MAX_DELAY_MS);
  const waitMs = Math.max(Math.round(backoffMs * (0.5 + random / 2)), retryAfterMs);
  return Math.min(nowMs + waitMs, Math.max(expiresAtMs, nowMs));
}

/** The pause before a full or busy store is tried again. */
const STORE_RETRY_MS = 1_000;

/**
 * Records what is known about a message that was sent, and retries while the store is full or busy: a lost record would
 * send the message again. Gives up when cut off.
 */
export async function persist(
  write: () => Promise<void>,
  cut: AbortSignal,
  retryMs = STORE_RETRY_MS,
): Promise<void> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!passes(error) || cut.aborted) throw error;
    }
    await pause(retryMs, undefined, { signal: cut }).catch(() => {}); // cut off: one last try
  }
}

/** A lost writer does not come back in this process. */
function passes(error: unknown): boolean {
  return error instanceof CortexError && (error.code === "store_full" || error.code === "store_busy");
}

/** What this process remembers of a delivery between claims. */
interface Course {
  /** Failed attempts in a row, not counting claims while the channel was not ready. */
  failures: number;
  /** Since when it waits to be sent. */
  readonly sinceMs: number;
  /** Whether this is the first attempt after the owner retried a dead delivery. */
  readonly revived: boolean;
}

/** Beyond this, the deliveries that failed longest ago are forgotten. */
export const MAX_REMEMBERED = 10_000;

/**
 * Counts the failures of deliveries in memory. The store counts claims, which also come from restarts and channels that
 * are not ready, and those must not use up a message. Across restarts, a delivery is bounded by its age.
 */
export class History {
  readonly #courses = new Map<DeliveryId, Course>();

  recall(claim: DeliveryClaim, stored: StoredDelivery, nowMs: number): Course {
    // A delivery that was never claimed has no error yet; a dead one starts again with attempt 1.
    const revived = claim.attempt === 1 && stored.error !== undefined;
    const known = this.#courses.get(claim.delivery);
    const course =
      known === undefined || revived
        ? { failures: 0, sinceMs: revived ? nowMs : stored.createdAtMs, revived }
        : { ...known, revived: false };
    this.#courses.delete(claim.delivery);
    this.#courses.set(claim.delivery, course);
    for (const [oldest] of this.#courses) {
      if (this.#courses.size <= MAX_REMEMBERED) break;
      this.#courses.delete(oldest);
    }
    return course;
  }

  forget(delivery: DeliveryId): void {
    this.#courses.delete(delivery);
  }
}
