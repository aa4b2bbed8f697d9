import { conversationOn } from "../config/channel-accounts.ts";
import { type OwnIncoming, toOwnEvent } from "../events/incoming.ts";
import { CortexError, type ErrorCode } from "../model/errors.ts";
import { isOwnAdapter, splitEventId } from "../model/event.ts";
import type { EventId } from "../model/ids.ts";
import { isJsonObject, type Json } from "../model/json.ts";
import type { Instant } from "../model/spans.ts";
import { present } from "../model/present.ts";
import { joinLabels, NO_LABEL } from "../model/trust.ts";
import { type Grant, grantFor, principalOfEvent } from "../personas/authority.ts";
import { deniedTools } from "../personas/permissions.ts";
import { refuseSecretName } from "../store/kept-id.ts";
import type { AcceptOptions, EventToAccept, NewEvent, SourceCursor } from "../store/store.ts";
import { admit } from "./admission.ts";
import { withFiledAttachments } from "./attachments.ts";
import { takeChatEvent } from "./chat-events.ts";
import { reviseOptions } from "./edits.ts";
import { boundGuestEvent, guestQuota, isByGuest } from "./guests.ts";
import type { Intake } from "./intake.ts";
import { offerPairing } from "./pairing.ts";
import { refuseGuest } from "./presses.ts";
import { deletedMessage, deletionOptions, reactionOptions } from "./remarks.ts";

export interface AcceptedEvent {
  readonly event: EventId;
  /** False: it was in the ledger already. */
  readonly fresh: boolean;
}

/** Takes an event in, once, in one commit with the cursor of its source. */
export async function acceptEvent(
  given: NewEvent,
  intake: Intake,
  cursor?: SourceCursor,
): Promise<AcceptedEvent> {
  const received = intake.spans.now();
  const { event, options } = await prepare({ event: given }, intake);
  const { fresh } = await intake.store.events.accept(event, { ...options, ...present({ cursor }) });
  if (fresh) markAccepted({ event, options }, received, intake);
  return { event: event.id, fresh };
}

/** What a channel received, before it is an event. */
export interface Received {
  readonly incoming: OwnIncoming;
  /** Fetches the files that came with it: only where its sender may talk. */
  readonly attachments?: () => Promise<Json>;
}

export interface ReadTogether {
  readonly cursor: SourceCursor | undefined;
  /** Called right before the commit. What it throws keeps it from happening. */
  readonly requireCurrent: () => void;
}

/**
 * Takes events in that were read together, in one commit with the cursor of their source. An event that can never be stored
 * is left out and logged: it must not hold up what comes after it.
 */
export async function acceptEvents(
  given: readonly Received[],
  { cursor, requireCurrent }: ReadTogether,
  intake: Intake,
): Promise<void> {
  const received = intake.spans.now();
  const accepting: Prepared[] = [];
  for (const { incoming, attachments } of given) {
    try {
      accepting.push(await prepare({ event: toOwnEvent(incoming), attachments }, intake));
    } catch (error) {
      leaveOut(incoming, error, intake);
    }
  }
  requireCurrent();
  const accepted = await intake.store.events.acceptAll(accepting, cursor);
  for (const [index, { fresh }] of accepted.entries())
    if (fresh) markAccepted(accepting[index]!, received, intake);
}

/** Whatever may pass is thrown: the platform delivers the events again. */
function leaveOut({ adapter, sourceId }: OwnIncoming, error: unknown, { log }: Intake): void {
  if (!(error instanceof CortexError) || error.transient || PASSING.has(error.code)) throw error;
  log(
    `Left out ${adapter}:${JSON.stringify(sourceId)}, which cannot be stored: ${error.message}. ${error.hint}`,
  );
}

/** Errors of the home, which have nothing to do with the event. */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  "store_closed",
  "store_full",
  "store_writer_lost",
  "home_unwritable",
  "file_unsafe",
]);

interface Prepared extends EventToAccept {
  readonly options: AcceptOptions;
}

interface Given {
  readonly event: NewEvent;
  readonly attachments?: Received["attachments"] | undefined;
}

async function prepare({ event: given, attachments }: Given, intake: Intake): Promise<Prepared> {
  const { store } = intake;
  const { adapter } = splitEventId(given.id);
  if (!isOwnAdapter(adapter)) {
    refuseSecretName("adapter", adapter, store);
    refuseSecretName("channel", given.channel, store);
  }
  const id = store.events.keptId(given.id);
  const sender = given.principal ?? (await principalOfEvent(given, store.people));
  const deleted = await deletedMessage(given, sender, intake);
  const principal = deleted?.principal ?? sender;
  const named = { ...given, id, principal };
  const config = intake.settings.config();
  const conversation = conversationOn(config, named);
  if (isByGuest(named)) {
    // Hooks are not asked: nothing is done for a guest but offering a code.
    const event = boundGuestEvent(named, config);
    if (conversation !== undefined) await offerPairing(named, conversation, intake);
    const notices = await refuseGuest(named, intake);
    return { event, options: { judge: false, notices, ...guestQuota(event, config) } };
  }
  if ((await store.events.get(id)) !== undefined) return again(named);
  const grant = await grantFor(named, store.people);
  if (named.direction === "updated")
    return { event: labelled(named, grant), options: await reviseOptions(named, grant, intake) };
  const judge = intake.isJudged(named.direction, named.channel);
  if (deleted !== undefined)
    return { event: labelled(named, grant), options: { judge, ...(await deletionOptions(deleted, intake)) } };
  const admission = conversation !== undefined && isSaid(named) ? admit(named, conversation) : undefined;
  if (admission?.answered === false)
    return { event: withMetadata(labelled(named, grant), { admission: { ...admission } }), options: {} };
  if (isReaction(named))
    return { event: labelled(named, grant), options: { judge, ...(await reactionOptions(named, intake)) } };
  const fetched = attachments === undefined ? named : { ...named, attachments: await attachments() };
  const filed = await withFiledAttachments(labelled(fetched, grant), intake);
  const taken = isOfOthers(filed) ? undefined : await takeChatEvent(filed, grant, intake);
  const event = withMetadata(filed, {
    ...(admission === undefined ? {} : { admission: { ...admission } }),
    ...present({ reply: taken?.reply }),
  });
  return { event, options: { judge: taken === undefined && judge, ...taken?.options } };
}

/** Whether it passes on what somebody else wrote, which is neither a command nor an answer of its sender. */
function isOfOthers({ label = NO_LABEL }: NewEvent): boolean {
  return label.untrusted.length > 0;
}

/** What came before has been done: only a difference is noted. */
function again(given: NewEvent): Prepared {
  const { attachments: _, ...event } = given;
  return { event, options: { judge: false } };
}

/** Whoever finds the words later may use no tool for them that their author may not use. */
function labelled<Event extends NewEvent>(event: Event, grant: Grant): Event {
  const denied = grant.authority === "paired" ? deniedTools(grant.permissions) : [];
  if (denied.length === 0) return event;
  return { ...event, label: joinLabels(event.label ?? NO_LABEL, { ...NO_LABEL, denied }) };
}

function isSaid(event: NewEvent): boolean {
  const { direction, contentType = "text" } = event;
  return (direction === "received" && ["text", "button"].includes(contentType)) || isReaction(event);
}

function isReaction({ direction, contentType }: NewEvent): boolean {
  return direction === "observed" && contentType === "reaction";
}

function withMetadata<Event extends NewEvent>(event: Event, more: { readonly [name: string]: Json }): Event {
  if (Object.keys(more).length === 0) return event;
  const { metadata } = event;
  return { ...event, metadata: { ...(isJsonObject(metadata) ? metadata : {}), ...more } };
}

function markAccepted({ event, options }: Prepared, received: Instant, { spans }: Intake): void {
  if (options.judge !== true) return;
  spans.mark(event.id, "received", received);
  spans.mark(event.id, "accepted");
}
