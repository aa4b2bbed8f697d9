/** Replies to messages by which a place was told that somebody asks something there. */
import { isByAgent } from "../model/event.ts";
import type { EventId } from "../model/ids.ts";
import { reveal } from "../model/reveal.ts";
import { parseSessionKey } from "../model/session-key.ts";
import type { Approval, DeliveryTarget, Store, StoredEvent } from "../store/store.ts";
import { type Answerer, decide } from "./approvals.ts";

interface PlaceReply {
  readonly place: DeliveryTarget;
  /** The message that it replies to. */
  readonly replyTo: string;
  readonly content: string;
  /** The message itself: taken up again, it answers nothing else. */
  readonly event: EventId;
}

/** The question that a reply answers. Undefined: the message that it replies to asked none, or none that is still open. */
export async function questionOf(
  { place, replyTo, event }: Omit<PlaceReply, "content">,
  store: Pick<Store, "approvals">,
): Promise<Approval | undefined> {
  const request = await store.approvals.toldBy(place, replyTo);
  if (request?.kind !== "question") return undefined;
  const isAnsweredByIt = request.answer?.kind === "answer" && request.answer.event === event;
  return request.state === "open" || isAnsweredByIt ? request : undefined;
}

/** Answers a question with a text, or with the option of this number. */
export async function answerQuestion(
  { id, request }: Approval,
  { content, event }: Pick<PlaceReply, "content" | "event">,
  answerer: Answerer,
  store: Pick<Store, "approvals" | "sessions">,
): Promise<string> {
  const { question, options = [] } = request as {
    readonly question?: string;
    readonly options?: readonly string[];
  };
  const said = content.trim();
  const text = (/^\d{1,3}$/.test(said) ? options[Number(said) - 1] : undefined) ?? said;
  await decide(id, { kind: "answer", text, event }, answerer, store);
  return `Answered: ${reveal((question ?? id).slice(0, 200))}`;
}

/** Whether all that led to a question was said by the person of an event: then it is theirs to answer. */
export async function isAskedOf(
  { session, turn }: Approval,
  { principal }: Pick<StoredEvent, "principal">,
  store: Pick<Store, "queue" | "relays" | "events">,
): Promise<boolean> {
  const said = await originsOf(parseSessionKey(session), turn, store);
  return (
    said.length > 0 &&
    said.every((event) => event !== undefined && event.principal === principal && !isByAgent(event))
  );
}

async function originsOf(
  session: ReturnType<typeof parseSessionKey>,
  turn: Approval["turn"],
  { queue, relays, events }: Pick<Store, "queue" | "relays" | "events">,
): Promise<readonly (StoredEvent | undefined)[]> {
  if (session.kind !== "relay") return (await queue.itemsOf(turn)).map(({ event }) => event);
  const relay = await relays.get(session.relay as never);
  const { metadata } = (relay?.record ?? {}) as { readonly metadata?: { readonly event?: EventId } | null };
  return metadata?.event === undefined ? [] : [await events.get(metadata.event)];
}
