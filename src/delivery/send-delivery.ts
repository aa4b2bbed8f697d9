/**
 * Sends what is left of one delivery, chunk by chunk.
 *
 * The store records every chunk before it is sent and right after it has arrived. A crash in between leaves the chunk in
 * doubt, and a chunk in doubt is never simply sent again: the platform is asked, or knows the key of the message, or the
 * channel says how often it may be repeated.
 */
import assert from "node:assert/strict";

import type { Extras, Part } from "../model/extras.ts";
import type { DeliveryId, TurnId } from "../model/ids.ts";
import { isUlid } from "../model/ulid.ts";
import { deliveryUncertain, type OutgoingMessage } from "../channels/channel.ts";
import { DEFAULT_MAX_AGE_MS, type Outlet } from "../channels/outlet.ts";
import { type Chunk, type DeliveryClaim, MAX_CHUNKS_IN_DELIVERY } from "../store/store.ts";
import {
  channelUnknown,
  describe,
  effectOf,
  expired,
  inDoubt,
  isDoubtful,
  nothingToSend,
  tooManyChunks,
} from "./failure.ts";
import {
  allowRepeat,
  die,
  isRepeat,
  postpone,
  type Postponement,
  recordFailure,
  recordSent,
  type Sending,
  type SendWork,
} from "./work.ts";
import { inSlices, type Sliced } from "../model/in-slices.ts";
import { carriedBy, partsOf } from "./parts.ts";
import { withTimeout } from "../channels/with-timeout.ts";

/** The pause before a channel that is not ready is tried again. */
export const NOT_READY_MS = 5_000;

export async function sendDelivery(claim: DeliveryClaim, parts: Sending): Promise<void> {
  const { outbox, outlets, clock, history } = parts;
  const stored = await outbox.get(claim.delivery);
  assert(stored !== undefined);
  const { channel, account } = claim.target;
  const outlet = outlets(channel, account);
  if (outlet === undefined) return die(describe(channelUnknown(channel)), { ...parts, claim });
  const course = history.recall(claim, stored, clock());
  const maxAgeMs = outlet.limits.maxAgeMs ?? DEFAULT_MAX_AGE_MS;
  const expiresAtMs = course.sinceMs + maxAgeMs;
  const edits = await editedBy(claim, outbox);
  const work: SendWork = { ...parts, claim, stored, outlet, course, expiresAtMs, edits };
  if (clock() >= work.expiresAtMs) return die(expired(stored, maxAgeMs), work);
  if (!outlet.isReady()) return postpone(notReady(work), work);

  let chunks = claim.chunks.length > 0 ? claim.chunks : await plan(work);
  const replacing =
    edits === undefined && stored.turn !== undefined ? await withDraft(work, stored.turn) : work;
  for (const [place, chunk] of chunks.entries()) {
    if (chunk.state === "sent") continue;
    if (parts.isOver()) return outbox.release([claim]);
    if (!(await sendChunk(place, chunks, replacing))) return;
    course.failures = 0;
    // Where the rest goes is known only now.
    if (place === 0 && claim.extras?.thread !== undefined) ({ chunks } = (await outbox.get(claim.delivery))!);
  }
  history.forget(claim.delivery);
}

/** The answer of a turn replaces what was shown of it while it was written. */
async function withDraft(work: SendWork, turn: TurnId): Promise<SendWork> {
  const draft = await work.outlet.replacedBy?.(work.claim.delivery, turn);
  return draft === undefined ? work : { ...work, edits: draft, draftOf: turn };
}

function notReady({ claim, outlet }: SendWork): Postponement {
  const doubtful = claim.chunks.findIndex(isDoubtful);
  return {
    reason: `The channel "${outlet.name}" is not ready.`,
    waitMs: NOT_READY_MS,
    doubtful: doubtful < 0 ? undefined : doubtful,
  };
}

/** Splits a delivery once: the plan in the store is final. No chunks: it is dead. */
async function plan(work: SendWork): Promise<readonly Chunk[]> {
  const { claim, outlet, outbox } = work;
  let texts: readonly string[];
  try {
    texts = await planChunks(claim, outlet);
  } catch (error) {
    await die(describe(error), work);
    return [];
  }
  await outbox.plan(claim, texts);
  return texts.map((content) => ({ content, state: "pending", platformId: undefined, isRepeat: false }));
}

/** False: the claim has ended with this chunk. */
async function sendChunk(place: number, chunks: readonly Chunk[], work: SendWork): Promise<boolean> {
  const { claim, outlet, outbox } = work;
  let doubtful = isDoubtful(chunks[place]!);
  const message = messageOf(place, chunks, work);
  if (doubtful) {
    const resolution = await resolveDoubt(message, work);
    if (resolution === "sent") return true;
    if (resolution === "ended") return false;
    doubtful = resolution === "repeat";
  }
  const waitMs = outlet.paceMs?.(message.address) ?? 0;
  if (waitMs > 0) {
    const reason = `Rate limit of "${outlet.name}" reached.`;
    await postpone({ reason, waitMs, doubtful: doubtful ? place : undefined }, work);
    return false;
  }
  await outbox.sending(claim, place);
  const outcome = await attempt({ ...message, repeat: doubtful || isRepeat(place, work) }, work);
  if (isGone(outcome, message, work)) {
    await outlet.forgetDraft?.(work.draftOf!);
    return sendChunk(place, chunks, { ...work, edits: undefined, draftOf: undefined });
  }
  if (outcome.kind === "sent") await recordSent(place, outcome.platformId, work);
  else await recordFailure(outcome.error, { place, doubtful }, work);
  return outcome.kind === "sent";
}

type Outcome =
  | { readonly kind: "sent"; readonly platformId: string | undefined }
  | { readonly kind: "failed"; readonly error: unknown };

/** Somebody has deleted the draft, or it is too old to be changed: the answer is a message of its own. */
function isGone(outcome: Outcome, { edits }: OutgoingMessage, { draftOf }: SendWork): boolean {
  const isRefused = outcome.kind === "failed" && effectOf(outcome.error) === "refused";
  return draftOf !== undefined && edits !== undefined && isRefused;
}

async function attempt(message: OutgoingMessage, { outlet, cut }: SendWork): Promise<Outcome> {
  try {
    const { platformId } = await withDeadline((signal) => outlet.send(message, signal), cut);
    return { kind: "sent", platformId };
  } catch (error) {
    return { kind: "failed", error };
  }
}

/** A delivery that edits another one comes after it in the same place, so by now that one has its platform's id, or never. */
async function editedBy({ extras }: DeliveryClaim, outbox: Sending["outbox"]): Promise<string | undefined> {
  const edits = extras?.edits;
  if (edits === undefined || !isUlid(edits)) return edits;
  const edited = await outbox.get(edits as DeliveryId);
  return edited === undefined
    ? edits
    : edited.chunks.findLast((chunk) => chunk.platformId !== undefined)?.platformId;
}

function messageOf(
  place: number,
  chunks: readonly Chunk[],
  { claim, stored, edits }: SendWork,
): OutgoingMessage {
  const { extras: { edits: _, ...extras } = {}, target } = claim;
  const topic = extras.thread === undefined || place === 0 ? undefined : chunks[0]!.platformId;
  return {
    key: `${claim.delivery}-${place}`,
    delivery: claim.delivery,
    turn: stored.turn,
    address: topic === undefined ? target : { ...target, topic },
    chunk: place,
    chunks: chunks.length,
    content: chunks[place]!.content,
    ...carriedBy(place, chunks.length, edits === undefined ? extras : { ...extras, edits }),
    replyTo: place === 0 ? claim.replyTo : undefined,
    attempt: claim.attempt,
    repeat: true,
  };
}

/** new: not arrived. repeat: may have arrived, sent again anyway. sent: arrived. ended: nothing more to do now. */
type Resolution = "new" | "repeat" | "sent" | "ended";

/**
 * Decides about a message that may have arrived. If the channel allows one repetition, that is recorded first, so that a
 * crash in between cannot make it two.
 */
async function resolveDoubt(message: OutgoingMessage, work: SendWork): Promise<Resolution> {
  const { outlet, course } = work;
  const place = message.chunk;
  if (outlet.find !== undefined) {
    const search = await find(message, work);
    if (search.kind === "missing") return "new";
    if (search.kind === "found") await recordSent(place, search.platformId, work);
    else await recordFailure(search.error, { place, doubtful: true }, work);
    return search.kind === "found" ? "sent" : "ended";
  }
  if (message.edits !== undefined || outlet.onUncertain === "repeat" || course.revived) return "repeat";
  if (outlet.onUncertain === "repeat-once" && !isRepeat(place, work)) {
    await allowRepeat(place, work);
    return "ended";
  }
  await die(describe(inDoubt(place)), work);
  return "ended";
}

type Search =
  | { readonly kind: "found"; readonly platformId: string | undefined }
  | { readonly kind: "missing" }
  | { readonly kind: "failed"; readonly error: unknown };

async function find(message: OutgoingMessage, { outlet, cut }: SendWork): Promise<Search> {
  try {
    const found = await withDeadline(async (signal) => outlet.find?.(message, signal), cut);
    return found === undefined ? { kind: "missing" } : { kind: "found", platformId: found.platformId };
  } catch (error) {
    return { kind: "failed", error };
  }
}

/** The messages of a delivery, without blank ones: platforms refuse them. */
export async function planChunks(
  { content, extras = {} }: { readonly content: string; readonly extras?: Extras | undefined },
  outlet: Outlet,
): Promise<string[]> {
  const { before, after } = partsOf(extras);
  const texts = await inSlices(messagesOf(outlet.render(content)));
  const chunks = [...wiresOf(before), ...texts, ...wiresOf(after)];
  if (chunks.length === 0) throw nothingToSend();
  return chunks;
}

function wiresOf(parts: readonly Part[]): string[] {
  return parts.map((part) => JSON.stringify(part));
}

function* messagesOf(rendered: Generator<string | undefined>): Sliced<string[]> {
  const chunks: string[] = [];
  for (const chunk of rendered) {
    if (chunk !== undefined && chunk.trim() !== "") chunks.push(chunk);
    if (chunks.length > MAX_CHUNKS_IN_DELIVERY) throw tooManyChunks(MAX_CHUNKS_IN_DELIVERY);
    yield;
  }
  return chunks;
}

/** A send ends by then, even if a channel ignores its signal. */
export const SEND_DEADLINE_MS = 60_000;

/** Asks a channel for something, and abandons it when the time is over. */
export async function withDeadline<Result>(
  act: (signal: AbortSignal) => Promise<Result>,
  cut: AbortSignal,
  deadlineMs = SEND_DEADLINE_MS,
): Promise<Result> {
  return withTimeout(
    async (signal) => {
      if (signal.aborted) throw cutOff();
      const over = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => over.reject(cutOff()), { once: true });
      return Promise.race([act(signal), over.promise]);
    },
    cut,
    deadlineMs,
  );
}

function cutOff(): Error {
  return deliveryUncertain("The send was interrupted before the platform answered", {
    hint: "It may have arrived. Check the receiver before you retry.",
  });
}
