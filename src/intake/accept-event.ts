import { CortexError, errorText } from "../model/errors.ts";
import { isOwnAdapter, splitEventId } from "../model/event.ts";
import type { EventId } from "../model/ids.ts";
import type { Instant } from "../model/spans.ts";
import { principalOfEvent } from "../personas/authority.ts";
import { refuseSecretName } from "../store/kept-id.ts";
import type { AcceptOptions, EventToAccept, FileState, NewEvent, SourceCursor } from "../store/store.ts";
import { withFiledAttachments } from "./attachments.ts";
import { takeChatEvent } from "./chat-events.ts";
import { boundGuestEvent, guestQuota, isByGuest } from "./guests.ts";
import type { Intake } from "./intake.ts";

export interface AcceptedEvent {
  readonly event: EventId;
  /** False: it was in the ledger already. */
  readonly fresh: boolean;
}

/** Takes an event in, once; with a file, records its state in the same commit. */
export async function acceptEvent(given: NewEvent, intake: Intake, file?: FileState): Promise<AcceptedEvent> {
  const received = intake.spans.now();
  const { event, options } = await prepare(given, intake);
  const { fresh } = await intake.store.events.accept(event, { ...options, ...(file === undefined ? {} : { file }) });
  if (fresh) markAccepted({ event, options }, received, intake);
  return { event: event.id, fresh };
}

interface Read {
  readonly cursor: SourceCursor | undefined;
  /** Called right before the commit. What it throws keeps it from happening. */
  readonly requireCurrent: () => void;
}

/**
 * Takes events in that were read together, in one commit with the cursor of their source. An event that can never be stored
 * is left out and logged: it must not hold up what comes after it.
 */
export async function acceptEvents(
  given: readonly NewEvent[],
  { cursor, requireCurrent }: Read,
  intake: Intake,
): Promise<void> {
  const received = intake.spans.now();
  const accepting: Prepared[] = [];
  for (const event of given) {
    const prepared = await prepare(event, intake).catch((error: unknown) => leaveOut(event, error, intake));
    if (prepared !== undefined) accepting.push(prepared);
  }
  requireCurrent();
  const accepted = await intake.store.events.acceptAll(accepting, cursor);
  for (const [index, { fresh }] of accepted.entries())
    if (fresh) markAccepted(accepting[index]!, received, intake);
}

function leaveOut({ id }: NewEvent, error: unknown, { log }: Intake): undefined {
  if (!(error instanceof CortexError) || error.transient) throw error;
  log(`Event ${id} cannot be stored and was left out: ${errorText(error)}. ${error.hint}`);
}

interface Prepared extends EventToAccept {
  readonly options: AcceptOptions;
}

async function prepare(given: NewEvent, intake: Intake): Promise<Prepared> {
  const { store, home } = intake;
  const { adapter } = splitEventId(given.id);
  if (!isOwnAdapter(adapter)) {
    refuseSecretName("adapter", adapter, store);
    refuseSecretName("channel", given.channel, store);
  }
  const id = store.events.keptId(given.id);
  const principal = given.principal ?? (await principalOfEvent(given, store.people));
  const named = { ...given, id, principal };
  if (isByGuest(named)) {
    // Hooks are not asked: nothing is done for a guest.
    const config = intake.settings.config();
    const event = boundGuestEvent(named, config);
    return { event, options: { judge: false, ...guestQuota(event, config) } };
  }
  const filed = await withFiledAttachments(named, home);
  const reply = await takeChatEvent({ ...filed, principal }, intake);
  const event =
    reply === undefined ? filed : { ...filed, metadata: { ...(filed.metadata as object), reply } };
  return { event, options: { judge: reply === undefined && intake.isJudged(event.direction, event.channel) } };
}

function markAccepted({ event, options }: Prepared, received: Instant, { spans }: Intake): void {
  if (options.judge !== true) return;
  spans.mark(event.id, "received", received);
  spans.mark(event.id, "accepted");
}
