/** What people write: a message, or a command to Cortex that is carried out and replied to at once. */
import { CortexError } from "../model/errors.ts";
import type { EventId } from "../model/ids.ts";
import { present } from "../model/present.ts";
import { OWNER_CALLER } from "../model/scopes.ts";
import type { SessionKey } from "../model/session-key.ts";
import { type SessionCommand, parseCommand } from "../queue/command.ts";
import { resolveRoute } from "../routing/resolve.ts";
import type { DispatchTarget, StoredEvent } from "../store/store.ts";
import { type Answerer, answererFor } from "./approvals.ts";
import type { ChatCommand, ChatCommands } from "./chat-commands.ts";
import type { Intake } from "./intake.ts";
import { carryOut, type Replied } from "./session-commands.ts";
import {
  channelOf,
  checkMessage,
  eventOf,
  idempotencyConflict,
  type NewMessage,
  repeated,
  sendMessage,
  type Sent,
} from "./messages.ts";
import { parseDelivery } from "../delivery/address.ts";
import { answerQuestion, questionOf } from "./requests-in-places.ts";

export type Said =
  /** With a reply where its first line was a command. */
  | { readonly kind: "message"; readonly sent: Sent; readonly reply?: string }
  | {
      readonly kind: "command";
      readonly event: EventId;
      readonly session: SessionKey;
      readonly reply: string;
    };

export type Typed =
  | { readonly kind: "session"; readonly command: SessionCommand; readonly message: string | undefined }
  | { readonly kind: "feature"; readonly command: ChatCommand; readonly message: undefined };

export async function say(message: NewMessage, intake: Intake): Promise<Said> {
  const answered = await answerIn(message, intake);
  if (answered !== undefined) return answered;
  const typed = parseTyped(message.content, intake.chats());
  if (typed === undefined) return { kind: "message", sent: await sendMessage(message, intake) };
  checkMessage(message, intake);
  const target = await resolveRoute(message, {
    store: intake.store,
    config: intake.settings.config(),
    mintId: intake.mintId,
  });
  if (target.kind === "turn") throw sessionMissing();
  return (await repeatedCommand(message, typed, target, intake)) ?? command(message, typed, target, intake);
}

/** A reply to a message by which somebody was asked something, where its answer goes, is the answer. */
async function answerIn(message: NewMessage, intake: Intake): Promise<Said | undefined> {
  const { replyTo, content } = message;
  const { channel, place, account, topic } = parseDelivery(message.delivery);
  if (replyTo === undefined || channel === undefined || place === undefined) return undefined;
  checkMessage(message, intake);
  const event = eventOf(message, intake);
  const target = present({ channel, place, account, topic });
  const question = await questionOf({ place: target, replyTo, event: event.id }, intake.store);
  if (question === undefined) return undefined;
  const session = question.chat;
  const reply = await answerQuestion(
    question,
    { content, event: event.id },
    answererOf(message),
    intake.store,
  );
  await intake.store.events.accept({ ...event, metadata: { reply, session } }, { judge: false });
  return { kind: "command", event: event.id, session, reply };
}

/** Messages on the owner's own channels come with a token. */
function answererOf({ caller = OWNER_CALLER }: NewMessage): Answerer {
  return answererFor(caller);
}

export function parseTyped(content: string, chats: readonly ChatCommands[]): Typed | undefined {
  if (!/^[!/]/.test(content)) return undefined; // a space before a command makes it a message
  const typed = parseCommand(content);
  if (typed !== undefined) return { kind: "session", ...typed };
  for (const chat of chats) {
    const command = chat.parse(content);
    if (command !== undefined) return { kind: "feature", command, message: undefined };
  }
  return undefined;
}

/**
 * Carries a command out and records it, with its reply. A crash between the two leaves it unrecorded: sent
 * again under its key, it is carried out again, and that changes nothing more.
 */
async function command(
  message: NewMessage,
  typed: Typed,
  target: Extract<DispatchTarget, { kind: "session" }>,
  intake: Intake,
): Promise<Said> {
  const event = eventOf(message, intake);
  const { reply, session } = await replyTo(message, typed, { target, event: event.id }, intake);
  if (typed.message !== undefined) {
    const { persona: _, ...rest } = message;
    const below = session === target.session ? message : { ...rest, session };
    const sent = await sendMessage(below, intake, { content: typed.message, reply });
    return { kind: "message", sent, reply };
  }
  const replied = { ...event, metadata: { reply, session } };
  await intake.store.events.accept(replied, { judge: intake.isJudged("received", event.channel) });
  return { kind: "command", event: event.id, session, reply };
}

async function replyTo(
  message: NewMessage,
  typed: Typed,
  {
    target,
    event,
  }: { readonly target: Extract<DispatchTarget, { kind: "session" }>; readonly event: EventId },
  intake: Intake,
): Promise<Replied> {
  const { session } = target;
  if (typed.kind === "feature") {
    const { caller, profile, delivery } = message;
    return { reply: await typed.command.run({ session, event, caller, profile, delivery }), session };
  }
  const place = { target, channel: channelOf(message) };
  return carryOut(typed.command, place, { intake, answerer: answererOf(message), event });
}

/** A key that was used before stands for the command that it was used for, and its reply is known. */
async function repeatedCommand(
  message: NewMessage,
  typed: Typed,
  { session }: Extract<DispatchTarget, { kind: "session" }>,
  intake: Intake,
): Promise<Said | undefined> {
  if (message.idempotencyKey === undefined) return undefined;
  const event = eventOf(message, intake);
  const first = await intake.store.events.get(event.id);
  if (first === undefined) return undefined;
  if (first.content !== event.content) throw idempotencyConflict(event.id);
  const { reply, session: at = session } = repliedIn(first);
  if (reply === undefined) return undefined;
  if (typed.message === undefined) return { kind: "command", event: event.id, session: at, reply };
  return { kind: "message", sent: await repeated(event, intake.store), reply };
}

function repliedIn({ metadata }: StoredEvent): Partial<Replied> {
  return (metadata ?? {}) as Partial<Replied>;
}

function sessionMissing(): CortexError {
  return new CortexError("request_invalid", "Commands apply to sessions, but this one was sent to a turn", {
    hint: "Name a session or a persona instead of a thread. To send it as a message, put a space before the slash.",
  });
}
