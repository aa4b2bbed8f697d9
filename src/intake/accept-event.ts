import { isOwnAdapter, splitEventId } from "../model/event.ts";
import type { EventId } from "../model/ids.ts";
import { present } from "../model/present.ts";
import type { Principal } from "../model/principal.ts";
import { joinLabels, NO_LABEL } from "../model/trust.ts";
import { type Grant, grantFor, principalOfEvent } from "../personas/authority.ts";
import { deniedTools } from "../personas/permissions.ts";
import { refuseSecretName } from "../store/kept-id.ts";
import type { FileState, NewEvent } from "../store/store.ts";
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
  const { store, spans } = intake;
  const received = spans.now();
  const { adapter } = splitEventId(given.id);
  if (!isOwnAdapter(adapter)) {
    refuseSecretName("adapter", adapter, store);
    refuseSecretName("channel", given.channel, store);
  }
  const id = store.events.keptId(given.id);
  const principal = given.principal ?? (await principalOfEvent(given, store.people));
  const named = { ...given, id, principal };
  if (isByGuest(named)) return acceptFromGuest(named, intake);
  if ((await store.events.get(id)) !== undefined) return acceptAgain(named, intake, file);
  const grant = await grantFor(named, store.people);
  const filed = await withFiledAttachments(labelled(named, grant), intake);
  const taken = await takeChatEvent(filed, grant, intake);
  const { reply } = taken ?? {};
  const event =
    reply === undefined ? filed : { ...filed, metadata: { ...(filed.metadata as object), reply } };
  const judge = taken === undefined && intake.isJudged(event.direction, event.channel);
  const { fresh } = await store.events.accept(event, { judge, ...present({ file }) });
  if (fresh && judge) {
    spans.mark(event.id, "received", received);
    spans.mark(event.id, "accepted");
  }
  return { event: event.id, fresh };
}

/** What came before has been done: only a difference is noted. */
async function acceptAgain(
  given: NewEvent,
  { store }: Intake,
  file: FileState | undefined,
): Promise<AcceptedEvent> {
  const { attachments: _, ...event } = given;
  const { fresh } = await store.events.accept(event, { judge: false, ...present({ file }) });
  return { event: event.id, fresh };
}

/** Whoever finds the words later may use no tool for them that their author may not use. */
function labelled<Event extends NewEvent>(event: Event, grant: Grant): Event {
  const denied = grant.authority === "paired" ? deniedTools(grant.permissions) : [];
  if (denied.length === 0) return event;
  return { ...event, label: joinLabels(event.label ?? NO_LABEL, { ...NO_LABEL, denied }) };
}

/** Hooks are not asked: nothing is done for a guest. */
async function acceptFromGuest(
  given: NewEvent & { readonly principal: Principal },
  { store, settings }: Intake,
): Promise<AcceptedEvent> {
  const config = settings.config();
  const event = boundGuestEvent(given, config);
  const { fresh } = await store.events.accept(event, { judge: false, ...guestQuota(event, config) });
  return { event: event.id, fresh };
}
