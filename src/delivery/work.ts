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

/** Says in the error of a delivery that a chunk was allowed its one repetition. It stays over all later errors. */
const REPEATED = /^Message \d+ may arrive twice\./;

/** Gives a chunk back to be sent once more, and says so before that happens. */
export async function allowRepeat(place: number, { claim, stored, outbox, clock }: Work): Promise<void> {
  const error = `${repeatMark(place)} ${(stored.error ?? "").replace(REPEATED, "").trim()}`.trim();
  await outbox.settle(claim, place, { kind: "retry", error, retryAtMs: clock() });
}

export function isMarked(place: number, { stored }: Work): boolean {
  return REPEATED.exec(stored.error ?? "")?.[0] === repeatMark(place);
}

function repeatMark(place: number): string {
  return `Message ${place + 1} may arrive twice.`;
}

function withMark(error: string, { stored }: Work): string {
  const mark = REPEATED.exec(stored.error ?? "")?.[0];
  return mark === undefined ? error : `${mark} ${error}`;
}

export async function recordSent(place: number, platformId: string | undefined, work: Work): Promise<void> {
  const { claim, outbox, cut } = work;
  const sent = { kind: "sent" as const, ...(platformId === undefined ? {} : { platformId }) };
  await persist(() => outbox.settle(claim, place, sent), cut);
}

export interface FailedChunk {
  readonly place: number;
  /** Whether an earlier attempt may have arrived: then no failure of this one makes that certain. */
  readonly doubtful: boolean;
}

export async function recordFailure(error: unknown, chunk: FailedChunk, work: Work): Promise<void> {
  const { claim, channel, course, outbox, clock, random, expiresAtMs, cut } = work;
  const { place } = chunk;
  const effect = effectOf(error);
  const text = withMark(describe(error), work);
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
  const error = withMark(reason, work);
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
