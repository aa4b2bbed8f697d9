/**
 * Pressed buttons below the messages by which places were told of requests. The data of a button says which request it was
 * made for, and it counts only below the message that told this place of that request: data can be forged, and an agent can
 * make buttons of its own. One press decides; everyone who presses later is told what was decided.
 */
import { describeDecision } from "../model/decision-text.ts";
import { CortexError, type ErrorCode } from "../model/errors.ts";
import type { DeliveryId } from "../model/ids.ts";
import { isOwner, personIdOf } from "../model/principal.ts";
import { present } from "../model/present.ts";
import { parsePress, type Press } from "../model/request-buttons.ts";
import type { Request } from "../model/request.ts";
import { deriveUlid } from "../model/ulid.ts";
import type { Approval, DeliveryTarget, NewDelivery, NewEvent } from "../store/store.ts";
import { decide } from "./approvals.ts";
import { mayDecide } from "./chat-rights.ts";
import { answererOf, mayAnswer } from "./decide-here.ts";
import type { Intake } from "./intake.ts";
import { type ChatEvent, replyIn, type Taken } from "./taken.ts";

/** Undefined: it is a button of something else. */
export function takePress(
  event: ChatEvent,
  target: DeliveryTarget,
  intake: Intake,
): (() => Promise<Taken>) | undefined {
  const press = parsePress(event.content ?? "");
  return press && (async () => answerTo(event, target, await settle(press, event, target, intake)));
}

/** Undefined: it has decided, which the message shows. */
async function settle(
  press: Press,
  event: ChatEvent,
  target: DeliveryTarget,
  intake: Intake,
): Promise<string | undefined> {
  const request = await toldOf(press, event, target, intake);
  if (request === undefined) return NOT_OPEN;
  if (request.answer?.event === event.id) return undefined; // the same press came before
  const isAllowed = request.kind === "question" ? await mayAnswer(request, event, intake) : mayDecide(event);
  if (!isAllowed) return onlyFor(request);
  if (request.state !== "open") return already(request, intake);
  try {
    const decision = { ...decisionOf(press, request), event: event.id };
    await decide(request.id, decision, answererOf(event), intake.store);
    return undefined;
  } catch (error) {
    if (!(error instanceof CortexError) || !LATE.has(error.code)) throw error;
    const now = await intake.store.approvals.get(request.id);
    return now === undefined || now.state === "open" ? error.message : already(now, intake);
  }
}

/** Somebody else was faster, or nobody was fast enough. */
const LATE: ReadonlySet<ErrorCode> = new Set(["state_conflict", "approval_expired", "approval_unknown"]);

const NOT_OPEN = "This button belongs to no request that this chat was told of.";

async function toldOf(
  { request: id, kind }: Press,
  { about }: Pick<NewEvent, "about">,
  target: DeliveryTarget,
  { store }: Pick<Intake, "store">,
): Promise<Approval | undefined> {
  const told = about === undefined ? undefined : await store.approvals.toldBy(target, about);
  if (told?.id !== id) return undefined;
  return (kind === "option") === (told.kind === "question") ? told : undefined;
}

function decisionOf(press: Press, { request }: Approval) {
  if (press.kind !== "option") return { kind: press.kind };
  const { options = [] } = request as unknown as Request;
  const text = options[press.option];
  if (text === undefined) throw new CortexError("approval_unknown", NOT_OPEN, { hint: "Answer with text." });
  return { kind: "answer", text } as const;
}

function onlyFor({ kind }: Approval): string {
  return kind === "question"
    ? "Only the owner, or whoever the question is for, may answer this."
    : "Only the owner may decide this.";
}

/** `Already approved by the owner.` */
async function already({ state, answer }: Approval, { store }: Pick<Intake, "store">): Promise<string> {
  if (state === "open") return NOT_OPEN;
  const decided = describeDecision({
    state: state === "used" ? "approved" : state,
    isAskedAgain: state === "void" && answer !== undefined,
    by: answer === undefined ? undefined : await nameOf(answer.by, store),
  });
  if (state === "void" || state === "expired") return `${decided}.`;
  return `${decided.replace(/(?<= )[AD]/, (letter) => `Already ${letter.toLowerCase()}`)}.`;
}

async function nameOf(principal: string, { people }: Pick<Intake["store"], "people">): Promise<string> {
  if (isOwner(principal)) return "the owner";
  const id = personIdOf(principal);
  return id === undefined ? principal : ((await people.get(id))?.name ?? id);
}

function answerTo(event: ChatEvent, target: DeliveryTarget, reply: string | undefined): Taken {
  if (reply === undefined) return { options: {} };
  return { reply, options: { notices: [withReply(replyIn(target, reply, event), event)] } };
}

function withReply<Notice extends NewDelivery>(notice: Notice, { about }: Pick<NewEvent, "about">): Notice {
  return about === undefined ? notice : { ...notice, replyTo: about };
}

/** Guests are nobody: a room is told once for each request that they may not decide it. */
export async function refuseGuest(
  event: NewEvent,
  { store }: Pick<Intake, "store">,
): Promise<readonly (NewDelivery & { readonly content: string })[]> {
  const { channel, account, place, topic, contentType, direction, content } = event;
  const press = contentType === "button" && direction === "received" ? parsePress(content ?? "") : undefined;
  if (press === undefined || place === undefined) return [];
  const target = present({ channel, place, account, topic });
  const request = await toldOf(press, event, target, { store });
  if (request?.state !== "open") return [];
  const id = deriveUlid(request.id, `${request.id}/guests`) as DeliveryId;
  return [withReply({ id, target, content: onlyFor(request) }, event)];
}
