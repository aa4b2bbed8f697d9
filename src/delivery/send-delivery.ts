/**
 * Sends what is left of one delivery: the course of a claim, from its age to its last chunk.
 *
 * The store knows of every chunk before it leaves and right after it has arrived. So whatever happens in
 * between leaves a chunk in doubt, and what is in doubt is never simply sent again: the platform is asked, or
 * knows the key of the message, or the channel says how often it may be repeated.
 */
import assert from "node:assert/strict";

import { DEFAULT_MAX_AGE_MS, type OutgoingMessage } from "../channels/channel.ts";
import type { Chunk, DeliveryClaim } from "../store/store.ts";
import { withDeadline } from "./deadline.ts";
import { channelUnknown, describe, expired, isDoubtful } from "./failure.ts";
import { planChunks } from "./plan-chunks.ts";
import { resolveDoubt } from "./resolve-doubt.ts";
import {
  die,
  isRepeat,
  type Postponement,
  postpone,
  recordFailure,
  recordSent,
  type SendParts,
  type Work,
} from "./work.ts";

/** How long a channel that is not ready is left alone. */
export const NOT_READY_MS = 5_000;

export async function sendDelivery(claim: DeliveryClaim, parts: SendParts): Promise<void> {
  const { outbox, channels, clock, history } = parts;
  const stored = await outbox.get(claim.delivery);
  assert(stored !== undefined);
  const channel = channels(claim.target.channel);
  if (channel === undefined) return die(describe(channelUnknown(claim.target.channel)), { ...parts, claim });
  const course = history.recall(claim, stored, clock());
  const maxAgeMs = channel.limits.maxAgeMs ?? DEFAULT_MAX_AGE_MS;
  const work: Work = { ...parts, claim, stored, channel, course, expiresAtMs: course.sinceMs + maxAgeMs };
  if (clock() >= work.expiresAtMs) return die(expired(stored, maxAgeMs), work);
  if (!channel.isReady()) return postpone(notReady(work), work);

  const chunks = claim.chunks.length > 0 ? claim.chunks : await plan(work);
  for (const [place, chunk] of chunks.entries()) {
    if (chunk.state === "sent") continue;
    if (parts.isOver()) return outbox.release([claim]);
    if (!(await sendChunk(place, chunks, work))) return;
    course.failures = 0;
  }
  history.forget(claim.delivery);
}

function notReady({ claim, channel }: Work): Postponement {
  const doubtful = claim.chunks.findIndex(isDoubtful);
  return {
    reason: `The channel "${channel.name}" is not ready.`,
    waitMs: NOT_READY_MS,
    doubtful: doubtful < 0 ? undefined : doubtful,
  };
}

/** Splits a delivery, once: the plan that is in the store stays. No chunks: it is dead. */
async function plan(work: Work): Promise<readonly Chunk[]> {
  const { claim, channel, outbox } = work;
  let texts: readonly string[];
  try {
    texts = await planChunks(claim.content, channel);
  } catch (error) {
    await die(describe(error), work);
    return [];
  }
  await outbox.plan(claim, texts);
  return texts.map((content) => ({ content, state: "pending", platformId: undefined, isRepeat: false }));
}

/** False: the claim has ended with this chunk. */
async function sendChunk(place: number, chunks: readonly Chunk[], work: Work): Promise<boolean> {
  const { claim, channel, outbox } = work;
  let doubtful = isDoubtful(chunks[place]!);
  const message = messageOf(place, chunks, work);
  if (doubtful) {
    const resolution = await resolveDoubt(message, work);
    if (resolution === "sent") return true;
    if (resolution === "ended") return false;
    doubtful = resolution === "repeat";
  }
  const waitMs = channel.paceMs?.(message.address) ?? 0;
  if (waitMs > 0) {
    const reason = `Rate limit of "${channel.name}" reached.`;
    await postpone({ reason, waitMs, doubtful: doubtful ? place : undefined }, work);
    return false;
  }
  await outbox.sending(claim, place);
  const outcome = await attempt({ ...message, repeat: doubtful || isRepeat(place, work) }, work);
  if (outcome.kind === "sent") await recordSent(place, outcome.platformId, work);
  else await recordFailure(outcome.error, { place, doubtful }, work);
  return outcome.kind === "sent";
}

type Outcome =
  | { readonly kind: "sent"; readonly platformId: string | undefined }
  | { readonly kind: "failed"; readonly error: unknown };

async function attempt(message: OutgoingMessage, { channel, cut }: Work): Promise<Outcome> {
  try {
    const { platformId } = await withDeadline((signal) => channel.send(message, signal), cut);
    return { kind: "sent", platformId };
  } catch (error) {
    return { kind: "failed", error };
  }
}

function messageOf(place: number, chunks: readonly Chunk[], { claim, stored }: Work): OutgoingMessage {
  return {
    key: `${claim.delivery}-${place}`,
    delivery: claim.delivery,
    turn: stored.turn,
    address: claim.target,
    chunk: place,
    chunks: chunks.length,
    content: chunks[place]!.content,
    replyTo: place === 0 ? claim.replyTo : undefined,
    attempt: claim.attempt,
    repeat: true,
  };
}
