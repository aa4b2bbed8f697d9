/**
 * What people on a platform write to Cortex itself: a reply to what it asked them, or a command. Neither is for an agent,
 * and so no hook is asked about it.
 *
 * They are members, and get by a command what they have anyway: they see the state of their own session and answer
 * what their own work asks. The owner, with an identity on the platform, answers or denies any question that the place was
 * told. Everything else is for the owner at doors of their own.
 */
import assert from "node:assert/strict";

import { MINUTE_MS } from "../model/durations.ts";
import { CortexError } from "../model/errors.ts";
import type { DeliveryId } from "../model/ids.ts";
import { present } from "../model/present.ts";
import { isAtOwnDoor, isOwner, personIdOf, type Principal } from "../model/principal.ts";
import { createUlidSource, deriveUlid } from "../model/ulid.ts";
import type { Grant } from "../personas/authority.ts";
import { resolveRoute } from "../routing/resolve.ts";
import { sessionOfEvent } from "../routing/session-of-event.ts";
import type { Approval, DeliveryTarget, NewEvent } from "../store/store.ts";
import type { Answerer } from "./approvals.ts";
import { buttonOf } from "./buttons.ts";
import type { Intake } from "./intake.ts";
import { answerQuestion, isAskedOf, questionOf } from "./requests-in-places.ts";
import { parseTyped, type Typed } from "./say.ts";
import { decideTyped, describeStatus } from "./session-commands.ts";

type ChatEvent = NewEvent & { readonly principal: Principal };

/** Undefined: it is a message like any other. Without a reply, nothing was done: its person writes too often. */
export async function takeChatEvent(
  event: ChatEvent,
  { authority }: Grant,
  intake: Intake,
): Promise<{ readonly reply?: string } | undefined> {
  const { content, place, channel, account, topic, replyTo } = event;
  if (event.direction !== "received" || place === undefined || content === null) return undefined;
  if (authority !== "paired" && (authority !== "owner" || isAtOwnDoor(event))) return undefined;
  const target: DeliveryTarget = present({ channel, place, account, topic });
  const press = buttonOf(event, target, intake.buttons());
  if (press !== undefined) {
    if (!(await mayWrite(event, intake))) return {};
    const answer = await press();
    await intake.store.outbox.notify(answer);
    return { reply: answer.content };
  }
  if (replyTo !== undefined) {
    const question = await questionOf({ place: target, replyTo, event: event.id }, intake.store);
    if (question !== undefined && (await mayAnswer(question, event, intake)))
      return (await mayWrite(event, intake)) ? { reply: await answer(question, content, event, intake) } : {};
  }
  const command = commandIn(content, intake);
  if (command === undefined) return undefined;
  if (!(await mayWrite(event, intake))) return {};
  const reply = await replyToCommand(command, event, target, intake);
  // The same for the same event, so that it is sent once.
  const id = deriveUlid(createUlidSource(() => event.atMs)(), `${event.id}/reply`) as DeliveryId;
  await intake.store.outbox.notify({ id, target, content: reply });
  return { reply };
}

/** Commands count like messages. */
async function mayWrite({ principal }: ChatEvent, { store, settings }: Intake): Promise<boolean> {
  const id = personIdOf(principal);
  if (id === undefined) return true;
  const { perMinute: max = settings.config().people.limits.perMinute } =
    (await store.people.get(id))?.limits ?? {};
  return store.people.take({ principal, what: "messages", amount: 1, max, refillMs: MINUTE_MS });
}

/** Undefined: it is no command. One that cannot be read throws when it is called. */
function commandIn(content: string, intake: Intake): (() => Typed) | undefined {
  try {
    const typed = parseTyped(content, intake.chats());
    return typed === undefined ? undefined : () => typed;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

async function replyToCommand(
  command: () => Typed,
  event: ChatEvent,
  target: DeliveryTarget,
  intake: Intake,
): Promise<string> {
  try {
    return await carryOut(command(), event, target, intake);
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
  const byOwner = isOwner(event.principal);
  if (typed.kind === "session") {
    const { command } = typed;
    if (command.kind === "help") return byOwner ? HELP_FOR_OWNER : HELP;
    if (command.kind === "status") return statusOf(event, intake);
    if (command.kind === "answer") {
      const question = await openQuestion(command.id, event, target, intake);
      return answer(question, command.text, event, intake);
    }
    if (command.kind === "deny" && byOwner) {
      const question = await openQuestion(command.id, event, target, intake);
      return decideTyped({ ...command, id: question.id }, answererOf(event), intake);
    }
  }
  throw byOwner
    ? new CortexError("approval_forbidden", "This command needs your token", { hint: HELP_FOR_OWNER })
    : new CortexError("approval_forbidden", "Only the owner may use this command", { hint: HELP });
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
const HELP_FOR_OWNER = "Here, you can use /status, /answer [<id>] <text>, /deny [<id>] [<reason>] and /help.";

/** The owner may answer whatever is asked; others, what their own work asks. */
async function mayAnswer(
  question: Approval,
  { principal }: ChatEvent,
  { store }: Pick<Intake, "store">,
): Promise<boolean> {
  return isOwner(principal) || isAskedOf(question, { principal }, store);
}

function answererOf({ principal }: ChatEvent): Answerer {
  return { name: principal, isOwner: isOwner(principal), isAsked: true };
}

async function openQuestion(
  id: string | undefined,
  event: ChatEvent,
  target: DeliveryTarget,
  intake: Intake,
): Promise<Approval> {
  const open: Approval[] = [];
  for (const request of await intake.store.approvals.openIn(target)) {
    const isMeant = request.kind === "question" && (id === undefined || request.id === id);
    if (isMeant && (await mayAnswer(request, event, intake))) open.push(request);
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

function answer(question: Approval, content: string, event: ChatEvent, { store }: Intake): Promise<string> {
  return answerQuestion(question, { content, event: event.id }, answererOf(event), store);
}
