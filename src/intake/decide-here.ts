/** Decisions that people write in a chat of a platform: on what that place was told of. */
import { CortexError } from "../model/errors.ts";
import { isOwner, type Principal } from "../model/principal.ts";
import { present } from "../model/present.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Approval, DeliveryTarget, NewEvent, Store } from "../store/store.ts";
import type { Answerer } from "./approvals.ts";
import { mayDecide, type Setting } from "./chat-rights.ts";
import type { Intake } from "./intake.ts";
import { answerQuestion, isAskedOf } from "./requests-in-places.ts";
import { type Deciding, decideTyped } from "./session-commands.ts";

interface TypedHere {
  readonly event: NewEvent & { readonly principal: Principal };
  readonly target: DeliveryTarget;
  /** That of the place. */
  readonly session: SessionKey;
  readonly where: Setting;
}

export async function decideHere(command: Deciding, here: TypedHere, intake: Intake): Promise<string> {
  const { event } = here;
  const request = await requestMeant(command, here, intake);
  if (command.kind === "answer") return answerIn(request, command.text, event, intake);
  return decideTyped({ ...command, id: request.id, event: event.id }, answererOf(event), intake);
}

export function answerIn(
  question: Approval,
  content: string,
  event: TypedHere["event"],
  { store }: Pick<Intake, "store">,
): Promise<string> {
  return answerQuestion(question, { content, event: event.id }, answererOf(event), store);
}

/** The owner may answer whatever is asked; others, what their own work asks. */
export async function mayAnswer(
  question: Approval,
  { principal }: { readonly principal: Principal },
  { store }: Pick<Intake, "store">,
): Promise<boolean> {
  return isOwner(principal) || isAskedOf(question, { principal }, store);
}

export function answererOf(event: Pick<NewEvent, "token"> & { readonly principal: Principal }): Answerer {
  const { principal: name, token } = event;
  return { name, isOwner: mayDecide(event), isAsked: true, ...present({ token }) };
}

/**
 * Without an id, the only request that is open in the place; an approval also has to have been shown there, call and all.
 * With an id, the owner decides any request, and where others read along, one of the room.
 */
async function requestMeant(
  { kind, id }: Deciding,
  { event, target, session, where }: TypedHere,
  { store }: Intake,
): Promise<Approval> {
  const named = id === undefined ? undefined : await store.approvals.get(id as Approval["id"]);
  if (named !== undefined && where.isOwner && (!where.isRoom || named.chat === session)) return named;
  const open: Approval[] = [];
  for (const request of await store.approvals.openIn(target)) {
    const isMeant = kind === "deny" || (kind === "answer") === (request.kind === "question");
    if (!isMeant || (id !== undefined && request.id !== id)) continue;
    if (request.kind === "question" && !(await mayAnswer(request, event, { store }))) continue;
    if (kind === "approve" && id === undefined && !(await wasShown(request, store))) continue;
    open.push(request);
  }
  if (open.length === 1) return open[0]!;
  throw open.length === 0 ? nothingOpen(kind) : severalOpen(open);
}

/** Others are told that a call waits, but not which. */
async function wasShown({ notice }: Approval, { outbox }: Pick<Store, "outbox">): Promise<boolean> {
  const delivery = notice === undefined ? undefined : await outbox.get(notice);
  return (delivery?.extras?.buttons ?? []).length > 0;
}

function nothingOpen(kind: Deciding["kind"]): CortexError {
  return kind === "answer"
    ? new CortexError("approval_unknown", "No question is pending here", {
        hint: "Send your text as a normal message.",
      })
    : new CortexError("approval_unknown", "No request is pending here", {
        hint: "`cortex approvals` lists all pending requests; give the id of one.",
      });
}

function severalOpen(open: readonly Approval[]): CortexError {
  return new CortexError("request_invalid", `${open.length} requests are pending here`, {
    hint: `Give the id of one: ${open.map((request) => request.id).join(", ")}, or answer its own message.`,
  });
}
