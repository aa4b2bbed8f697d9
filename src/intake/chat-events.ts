/**
 * What people on a platform write to Cortex itself: a reply to what it asked them, or a command. Neither is for an agent,
 * and so no hook is asked about it.
 *
 * They are paired senders, and get by a command what they have anyway: they see the state of their own session and answer
 * what their own work asks. Everything else is for the owner, who comes through doors of their own.
 */
import type { Config } from "../config/config.ts";
import { CortexError } from "../model/errors.ts";
import type { DeliveryId } from "../model/ids.ts";
import { present } from "../model/present.ts";
import { createUlidSource, deriveUlid } from "../model/ulid.ts";
import { authorityOf } from "../personas/authority.ts";
import type { Approval, DeliveryTarget, NewEvent, Store } from "../store/store.ts";
import type { ChatCommands } from "./chat-commands.ts";
import { answerQuestion, isAskedOf, questionOf } from "./requests-in-places.ts";
import { parseTyped, type Typed } from "./say.ts";

export interface ChatEventParts {
  readonly store: Store;
  readonly config: Config;
  /** The commands of features. */
  readonly chats: readonly ChatCommands[];
  /** What the session of an event does. */
  readonly status: (event: NewEvent) => Promise<string>;
}

/** What is replied. Undefined: it is a message like any other. */
export async function takeChatEvent(event: NewEvent, parts: ChatEventParts): Promise<string | undefined> {
  const { content, place, channel, account, topic, replyTo } = event;
  if (event.direction !== "received" || place === undefined || content === null) return undefined;
  if (authorityOf(event, parts.config) !== "paired") return undefined;
  const target: DeliveryTarget = present({ channel, place, account, topic });
  if (replyTo !== undefined) {
    const question = await questionOf({ place: target, replyTo, event: event.id }, parts.store);
    if (question !== undefined && (await isAskedOf(question, event, parts.store)))
      return answer(question, content, event, parts);
  }
  const reply = await replyToCommand(content, event, target, parts);
  if (reply === undefined) return undefined;
  // The same for the same event, so that it is sent once.
  const id = deriveUlid(createUlidSource(() => event.atMs)(), `${event.id}/reply`) as DeliveryId;
  await parts.store.outbox.notify({ id, target, content: reply });
  return reply;
}

/** Undefined: it is no command. */
async function replyToCommand(
  content: string,
  event: NewEvent,
  target: DeliveryTarget,
  parts: ChatEventParts,
): Promise<string | undefined> {
  try {
    const typed = parseTyped(content, parts.chats);
    return typed === undefined ? undefined : await carryOut(typed, event, target, parts);
  } catch (error) {
    if (!(error instanceof CortexError) || error.transient) throw error;
    return `${error.message}. ${error.hint}`;
  }
}

async function carryOut(
  typed: Typed,
  event: NewEvent,
  target: DeliveryTarget,
  parts: ChatEventParts,
): Promise<string> {
  if (typed.kind === "session") {
    const { command } = typed;
    if (command.kind === "help") return HELP;
    if (command.kind === "status") return parts.status(event);
    if (command.kind === "answer") {
      const question = await openQuestion(command.id, event, target, parts);
      return answer(question, command.text, event, parts);
    }
  }
  throw new CortexError("approval_forbidden", "Only the owner may use this command", { hint: HELP });
}

const HELP = "You may use /status, /answer [<id>] <text> and /help.";

async function openQuestion(
  id: string | undefined,
  event: NewEvent,
  target: DeliveryTarget,
  { store }: ChatEventParts,
): Promise<Approval> {
  const open: Approval[] = [];
  for (const request of await store.approvals.openIn(target)) {
    const isMeant = request.kind === "question" && (id === undefined || request.id === id);
    if (isMeant && (await isAskedOf(request, event, store))) open.push(request);
  }
  if (open.length === 1) return open[0]!;
  throw open.length === 0
    ? new CortexError("approval_unknown", "You are asked nothing here", { hint: "Just write what you want." })
    : new CortexError("request_invalid", `You are asked ${open.length} things here`, {
        hint: `Name one of ${open.map((request) => request.id).join(", ")}, or reply to its message.`,
      });
}

function answer(
  question: Approval,
  content: string,
  { id, sender }: NewEvent,
  { store }: ChatEventParts,
): Promise<string> {
  return answerQuestion(
    question,
    { content, event: id },
    { name: sender!, isOwner: false, isAsked: true },
    store,
  );
}
