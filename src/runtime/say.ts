/** What people write: a message, or a command to Cortex that is carried out and replied to at once. */
import { CortexError } from "../model/errors.ts";
import type { EventId } from "../model/ids.ts";
import type { SessionKey } from "../model/session-key.ts";
import { parseCommand, type TypedCommand } from "../queue/command.ts";
import { resolveRoute } from "../routing/resolve.ts";
import type { DispatchTarget, StoredEvent } from "../store/store.ts";
import { carryOut } from "./commands.ts";
import {
  channelOf,
  checkMessage,
  eventOf,
  idempotencyConflict,
  type NewMessage,
  OWNER,
  repeated,
  sendMessage,
  type SendParts,
  type Sent,
} from "./messages.ts";

export type Said =
  /** With a reply where its first line was a command. */
  | { readonly kind: "message"; readonly sent: Sent; readonly reply?: string }
  | {
      readonly kind: "command";
      readonly event: EventId;
      readonly session: SessionKey;
      readonly reply: string;
    };

export async function say(message: NewMessage, parts: SendParts): Promise<Said> {
  const typed = parseCommand(message.content);
  if (typed === undefined) return { kind: "message", sent: await sendMessage(message, parts) };
  checkMessage(message, parts);
  const target = await resolveRoute(message, {
    ledger: parts.store,
    config: parts.config,
    mintId: parts.mintId,
  });
  if (target.kind === "turn") throw sessionMissing();
  return (await repeatedCommand(message, typed, target, parts)) ?? command(message, typed, target, parts);
}

/**
 * Carries a command out and records it, with its reply. A crash between the two leaves it unrecorded: sent
 * again under its key, it is carried out again, and that changes nothing more.
 */
async function command(
  message: NewMessage,
  typed: TypedCommand,
  target: Extract<DispatchTarget, { kind: "session" }>,
  parts: SendParts,
): Promise<Said> {
  // Whoever talks through the owner's own doors has shown the token.
  const answerer = { name: OWNER, isOwner: true };
  const place = { target, channel: channelOf(message) };
  const reply = await carryOut(typed.command, place, { ...parts, answerer });
  if (typed.message !== undefined) {
    const sent = await sendMessage(message, parts, { content: typed.message, reply });
    return { kind: "message", sent, reply };
  }
  const event = eventOf(message, parts, reply);
  await parts.store.events.accept(event, { judge: parts.isJudged(event.channel) });
  return { kind: "command", event: event.id, session: target.session, reply };
}

/** A key that was used before stands for the command that it was used for, and its reply is known. */
async function repeatedCommand(
  message: NewMessage,
  typed: TypedCommand,
  { session }: Extract<DispatchTarget, { kind: "session" }>,
  parts: SendParts,
): Promise<Said | undefined> {
  if (message.idempotencyKey === undefined) return undefined;
  const event = eventOf(message, parts);
  const first = await parts.store.events.get(event.id);
  if (first === undefined) return undefined;
  if (first.content !== event.content) throw idempotencyConflict(event.id);
  const reply = replyIn(first);
  if (reply === undefined) return undefined;
  if (typed.message === undefined) return { kind: "command", event: event.id, session, reply };
  return { kind: "message", sent: await repeated(event, parts.store), reply };
}

function replyIn({ metadata }: StoredEvent): string | undefined {
  const reply = (metadata as { reply?: unknown } | null | undefined)?.reply;
  return typeof reply === "string" ? reply : undefined;
}

function sessionMissing(): CortexError {
  return new CortexError("request_invalid", "A command is for a session, and this one was sent to a turn", {
    hint: "Name a session or a persona instead of a thread. A space before the slash makes it a message.",
  });
}
