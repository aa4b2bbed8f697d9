/** A claim that is being worked on, and the ends it can have: each is one write. */
import { setTimeout as pause } from "node:timers/promises";

import { type Channel, DEFAULT_MAX_ATTEMPTS } from "../channels/channel.ts";
import { CortexError } from "../model/errors.ts";
import type { DeliveryClaim, OutboxStore, StoredDelivery } from "../store/store.ts";
import { describe, effectOf } from "./failure.ts";
import type { DeliveryId } from "../model/ids.ts";

export interface SendParts {
  readonly outbox: OutboxStore;
  readonly channels: (name: string) => Channel | undefined;
  readonly clock: () => number;
  readonly random: () => number;
  readonly history: History;
  /** Aborts when there is no time left even for the chunk that is under way. */
  readonly cut: AbortSignal;
  /** Whether to give the claim back before the next chunk. */
  readonly isOver: () => boolean;
}

export interface Work extends SendParts {
  readonly claim: DeliveryClaim;
  readonly stored: StoredDelivery;
  readonly channel: Channel;
  readonly course: Course;
  readonly expiresAtMs: number;
}

/** Gives a chunk back to be sent once more, and records that before it happens. */
export async function allowRepeat(place: number, { claim, stored, outbox, clock }: Work): Promise<void> {
  const error = withWarning(place, stored.error ?? "");
  await outbox.settle(claim, place, { kind: "retry", error, retryAtMs: clock(), isRepeat: true });
}

export function isRepeat(place: number, { claim }: Work): boolean {
  return claim.chunks[place]?.isRepeat === true;
}

/** An error of a delivery with a chunk that is sent again warns about it. */
function describeWithWarning(error: string, { claim }: Work): string {
  const repeated = claim.chunks.findIndex((chunk) => chunk.isRepeat && chunk.state !== "sent");
  return repeated < 0 ? error : withWarning(repeated, error);
}

function withWarning(place: number, error: string): string {
  return `Message ${place + 1} may arrive twice. ${error}`.trim();
}

export async function recordSent(place: number, platformId: string | undefined, work: Work): Promise<void> {
  const { claim, outbox, cut } = work;
  const sent = { kind: "sent" as const, ...(platformId === undefined ? {} : { platformId }) };
  await persist(() => outbox.settle(claim, place, sent), cut);
}

interface FailedChunk {
  readonly place: number;
  /** Whether an earlier attempt may have arrived: then no failure of this one makes that certain. */
  readonly doubtful: boolean;
}

export async function recordFailure(error: unknown, chunk: FailedChunk, work: Work): Promise<void> {
  const { claim, channel, course, outbox, clock, random, expiresAtMs, cut } = work;
  const { place } = chunk;
  const effect = effectOf(error);
  const text = describeWithWarning(describe(error), work);
  const doubtful = chunk.doubtful || effect === "uncertain";
  course.failures++;
  if (effect === "refused" || course.failures >= (channel.limits.maxAttempts ?? DEFAULT_MAX_ATTEMPTS)) {
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
  /** The place of a chunk that may have arrived: it stays visible as that. */
  readonly doubtful: number | undefined;
}

/** Comes back later, with nothing sent and nothing charged. */
export async function postpone({ reason, waitMs, doubtful }: Postponement, work: Work): Promise<void> {
  const { claim, outbox, clock, expiresAtMs } = work;
  const error = describeWithWarning(reason, work);
  const retryAtMs = Math.min(clock() + waitMs, expiresAtMs);
  if (doubtful === undefined) return outbox.fail(claim, { kind: "retry", error, retryAtMs });
  return outbox.settle(claim, doubtful, { kind: "unknown", error, retryAtMs });
}

export async function die(
  error: string,
  { claim, outbox, history, cut }: SendParts & { readonly claim: DeliveryClaim },
): Promise<void> {
  history.forget(claim.delivery);
  await persist(() => outbox.fail(claim, { kind: "dead", error }), cut);
}

/** When a delivery that failed is tried again. */

export const FIRST_DELAY_MS = 1_000;
export const MAX_DELAY_MS = 10 * 60_000;

interface Failure {
  readonly nowMs: number;
  /** How often it has failed by now, at least 1. */
  readonly failures: number;
  /** From 0 up to 1. */
  readonly random: number;
  readonly retryAfterMs: number | undefined;
  /** When the delivery is too old. */
  readonly expiresAtMs: number;
}

/**
 * Twice as long after each failure, spread so that what failed together does not come back together, and not
 * before the platform allows it. Nor after the delivery is too old: it is to be seen as expired at that time,
 * and not to hold up its target for as long as a platform cares to say.
 */
export function nextAttemptMs({ nowMs, failures, random, retryAfterMs = 0, expiresAtMs }: Failure): number {
  const backoffMs = Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), MAX_DELAY_MS);
  const waitMs = Math.max(Math.round(backoffMs * (0.5 + random / 2)), retryAfterMs);
  return Math.min(nowMs + waitMs, Math.max(expiresAtMs, nowMs));
}

/** How long a store that is full or busy is left alone. */
const STORE_RETRY_MS = 1_000;

/**
 * Writes down what is known about a message that has left, and goes on trying while the store has troubles
 * that pass: forgetting it now would mean sending the message again. Gives up when cut off.
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

/** A writer that is lost does not come back in this process. */
function passes(error: unknown): boolean {
  return error instanceof CortexError && (error.code === "store_full" || error.code === "store_busy");
}

/** What this process remembers of a delivery between two claims. */
export interface Course {
  /** Failed attempts in a row. Claims that came to nothing because a channel was not ready are none. */
  failures: number;
  /** Since when it waits to be sent. */
  readonly sinceMs: number;
  /** Whether somebody asked for a dead delivery to be tried again, and this is the first try. */
  readonly revived: boolean;
}

/** More deliveries than this do not fail at the same time; those that failed longest ago are forgotten. */
export const MAX_REMEMBERED = 10_000;

/**
 * The failures of deliveries that are under way. They are counted in memory: the store counts claims, which a
 * restart or a channel that is not ready makes too, and neither may use up a message. What bounds a delivery
 * over restarts is its age.
 */
export class History {
  readonly #courses = new Map<DeliveryId, Course>();

  recall(claim: DeliveryClaim, stored: StoredDelivery, nowMs: number): Course {
    // A delivery that was never claimed has no error yet; one that is dead starts again from the first attempt.
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
