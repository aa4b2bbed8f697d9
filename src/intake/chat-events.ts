/**
 * What people on a platform write to Cortex itself: a reply to what it asked them, or a command. Neither is for an agent,
 * and so no hook is asked about it.
 *
 * They are members, and get by a command what they have anyway: they see the state of their own session and answer
 * what their own work asks. Everything else is for the owner, who comes through doors of their own.
 */
import assert from "node:assert/strict";

import { CortexError } from "../model/errors.ts";
import type { DeliveryId } from "../model/ids.ts";
import { present } from "../model/present.ts";
import { isAtOwnDoor, type Principal } from "../model/principal.ts";
import { createUlidSource, deriveUlid } from "../model/ulid.ts";
import { grantFor } from "../personas/authority.ts";
import { resolveRoute } from "../routing/resolve.ts";
import { sessionOfEvent } from "../routing/session-of-event.ts";
import type { Approval, DeliveryTarget, NewEvent } from "../store/store.ts";
import type { Intake } from "./intake.ts";
import { answerQuestion, isAskedOf, questionOf } from "./requests-in-places.ts";
import { parseTyped, type Typed } from "./say.ts";
import { describeStatus } from "./session-commands.ts";

type ChatEvent = NewEvent & { readonly principal: Principal };

/** What is replied. Undefined: it is a message like any other. */
export async function takeChatEvent(event: ChatEvent, intake: Intake): Promise<string | undefined> {
  const { content, place, channel, account, topic, replyTo } = event;
  if (event.direction !== "received" || place === undefined || content === null) return undefined;
  const { authority } = await grantFor(event, intake.store.people);
  if (authority !== "paired" && (authority !== "owner" || isAtOwnDoor(event))) return undefined;
  const target: DeliveryTarget = present({ channel, place, account, topic });
  if (replyTo !== undefined) {
    const question = await questionOf({ place: target, replyTo, event: event.id }, intake.store);
    if (question !== undefined && (await isAskedOf(question, event, intake.store)))
      return answer(question, content, event, intake);
  }
  const reply = await replyToCommand(content, event, target, intake);
  if (reply === undefined) return undefined;
  // The same for the same event, so that it is sent once.
  const id = deriveUlid(createUlidSource(() => event.atMs)(), `${event.id}/reply`) as DeliveryId;
  await intake.store.outbox.notify({ id, target, content: reply });
  return reply;
}

/** Undefined: it is no command. */
async function replyToCommand(
  content: string,
  event: ChatEvent,
  target: DeliveryTarget,
  intake: Intake,
): Promise<string | undefined> {
  try {
    const typed = parseTyped(content, intake.chats());
    return typed === undefined ? undefined : await carryOut(typed, event, target, intake);
  } catch (error) {
    if (!(error instanceof CortexError) || error.transient) throw error;
    return `${error.message}. ${error.hint}`;
  }
}

async function carryOut(
  typed: Typed,
  event: ChatEvent,
  target: DeliveryTarget,
  intake: Intake,
): Promise<string> {
  if (typed.kind === "session") {
    const { command } = typed;
    if (command.kind === "help") return HELP;
    if (command.kind === "status") return statusOf(event, intake);
    if (command.kind === "answer") {
      const question = await openQuestion(command.id, event, target, intake);
      return answer(question, command.text, event, intake);
    }
  }
  throw new CortexError("approval_forbidden", "Only the owner may use this command", { hint: HELP });
}

/** What the session of an event does. */
async function statusOf(event: ChatEvent, intake: Intake): Promise<string> {
  const { store, settings, mintId } = intake;
  const config = settings.config();
  const session = sessionOfEvent(event, config);
  const target = await resolveRoute({ session }, { store, config, mintId });
  assert(target.kind === "session");
  return describeStatus({ target, channel: event.channel }, intake);
}

const HELP = "You may use /status, /answer [<id>] <text> and /help.";

async function openQuestion(
  id: string | undefined,
  event: ChatEvent,
  target: DeliveryTarget,
  { store }: Intake,
): Promise<Approval> {
  const open: Approval[] = [];
  for (const request of await store.approvals.openIn(target)) {
    const isMeant = request.kind === "question" && (id === undefined || request.id === id);
    if (isMeant && (await isAskedOf(request, event, store))) open.push(request);
  }
  if (open.length === 1) return open[0]!;
  throw open.length === 0
    ? new CortexError("approval_unknown", "No question is pending here", {
        hint: "Send your text as a normal message.",
      })
    : new CortexError("request_invalid", `${open.length} questions are pending here`, {
        hint: `Give the id of one: ${open.map((request) => request.id).join(", ")}, or reply to its message.`,
      });
}

function answer(
  question: Approval,
  content: string,
  { id, sender }: NewEvent,
  { store }: Intake,
): Promise<string> {
  return answerQuestion(
    question,
    { content, event: id },
    { name: sender!, isOwner: false, isAsked: true },
    store,
  );
}
