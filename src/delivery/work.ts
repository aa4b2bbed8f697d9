/** A claim that is being worked on, and the ends it can have: each is one write. */
import { type Channel, DEFAULT_MAX_ATTEMPTS } from "../channels/channel.ts";
import { CortexError } from "../model/errors.ts";
import type { DeliveryClaim, OutboxStore, StoredDelivery } from "../store/store.ts";
import { describe, effectOf } from "./failure.ts";
import type { Course, History } from "./history.ts";
import { nextAttemptMs } from "./next-attempt.ts";
import { persist } from "./persist.ts";

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
