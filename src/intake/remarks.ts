/**
 * What people do with messages, without saying anything: they react to an answer, take a reaction back, or delete a message
 * of theirs. None of it is a turn of its own. The agent is told with its next turn in that session, in one line.
 */
import { REMARK_HOOK } from "../model/hook-order.ts";
import { dispatchIds } from "../model/ids.ts";
import { present } from "../model/present.ts";
import { isOwner, personIdOf, type Principal } from "../model/principal.ts";
import { reveal } from "../model/reveal.ts";
import type { SessionKey } from "../model/session-key.ts";
import { truncate } from "../model/truncate.ts";
import { sessionTarget } from "../routing/resolve.ts";
import type { AcceptOptions, DeliveryTarget, NewDispatch, NewEvent, StoredEvent } from "../store/store.ts";
import type { Intake } from "./intake.ts";

type RemarkEvent = NewEvent & { readonly principal: Principal };

const MAX_QUOTE_LENGTH = 60;
/** Platforms have emojis of their own, with names. */
const MAX_EMOJI_LENGTH = 40;

/** A reaction to what the agent has sent in the place. */
export async function reactionOptions(
  event: RemarkEvent,
  intake: Intake,
): Promise<Pick<AcceptOptions, "dispatch">> {
  const { about, content, principal } = event;
  const place = placeOf(event);
  if (about === undefined || place === undefined) return {};
  const { store } = intake;
  const answer = await store.outbox.findSent(place, about);
  const turn = answer?.turn === undefined ? undefined : await store.turns.get(answer.turn);
  if (answer === undefined || turn === undefined) return {};
  const name = await nameOf(principal, intake);
  const emoji = content === null ? "" : reveal(truncate(content, MAX_EMOJI_LENGTH));
  const quoted = quote(answer.content);
  const line =
    emoji === "" ? `${name} took back a reaction to ${quoted}` : `${name} reacted ${emoji} to ${quoted}`;
  return { dispatch: await remark(turn.session, line, intake) };
}

/**
 * Only the platform knows that a message is gone, and not always by whom: the deletion counts as that of its sender. Others
 * than our own connections have to name the sender themselves.
 */
export async function deletedMessage(
  event: NewEvent,
  principal: Principal,
  { store }: Pick<Intake, "store">,
): Promise<StoredEvent | undefined> {
  const { direction, about, token } = event;
  const place = placeOf(event);
  if (direction !== "deleted" || about === undefined || place === undefined) return undefined;
  const original = await store.events.findMessage(place, about);
  if (original?.direction !== "received") return undefined;
  return token === undefined || original.principal === principal ? original : undefined;
}

/** A message that still waits is withdrawn; of one that is in a turn, the agent is told. */
export async function deletionOptions(
  original: StoredEvent,
  intake: Intake,
): Promise<Pick<AcceptOptions, "withdraws" | "dispatch">> {
  const [dispatched] = await intake.store.events.dispatches(original.id);
  if (dispatched === undefined) return {}; // no hook has dispatched it; if one does, it finds the deletion
  const name = await nameOf(original.principal, intake);
  const line = `${name} deleted the message ${quote(original.content ?? "")}`;
  return { withdraws: original.id, dispatch: await remark(dispatched.session, line, intake) };
}

async function remark(
  session: SessionKey,
  message: string,
  { store, settings, mintId }: Intake,
): Promise<NewDispatch> {
  const target = await sessionTarget(session, { store, config: settings.config() });
  return { ...dispatchIds(mintId), hook: REMARK_HOOK, target, mode: "followup", message, remark: true };
}

/** The name that the owner knows them by: what they call themselves on the platform may be anything. */
async function nameOf(principal: Principal, { store }: Pick<Intake, "store">): Promise<string> {
  if (isOwner(principal)) return "The owner";
  const id = personIdOf(principal);
  return id === undefined ? principal : reveal((await store.people.get(id))?.name ?? id);
}

function quote(text: string): string {
  return JSON.stringify(truncate(text.replaceAll(/\s+/g, " ").trim(), MAX_QUOTE_LENGTH));
}

function placeOf({ channel, account, place, topic }: NewEvent): DeliveryTarget | undefined {
  return place === undefined ? undefined : present({ channel, account, place, topic });
}
