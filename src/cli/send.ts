import { randomUUID } from "node:crypto";

import { type Invocation, text } from "./command.ts";
import { CHANNEL, type NewMessage } from "./message.ts";
import { ask } from "./ask.ts";
import { readMessage } from "./read-message.ts";
import type { Server } from "./server.ts";
import { needOrStartServer } from "./start-server.ts";
import { harmless } from "./text.ts";

/** What became of a message: with a turn, it was answered; without a dispatch, it was a command to Cortex. */
export interface Sent {
  readonly eventId: string;
  readonly dispatchId?: string;
  readonly session: string;
  /** The policy by which it was dropped. */
  readonly dropped?: string;
  /** To the command in its first line. */
  readonly reply?: string;
  readonly turnId?: string;
  readonly text?: string;
  readonly costUsd?: number | null;
}

export async function send(given: Invocation): Promise<void> {
  const { args, options, print } = given;
  const content = await readMessage(args[0]!, "cortex send");
  const server = await needOrStartServer(given);
  const message = {
    content,
    channel: CHANNEL,
    session: text(given, "session"),
    thread: text(given, "thread"),
    persona: text(given, "persona"),
    mode: text(given, "mode"),
    profile: text(given, "profile"),
    smart: options["smart"] === true ? true : undefined,
    idempotencyKey: text(given, "key"),
  };
  const sent = await (options["wait"] === true ? sendAndWait(server, message) : sendOnly(server, message));
  print.data(sent, () => described(sent));
}

/** What a person is told of a message that was sent. */
export function described({ session, text: answer, reply, dropped }: Sent): string {
  const became =
    answer ?? (dropped === undefined ? `Sent to ${session}.` : `Dropped by the policy "${dropped}".`);
  return harmless(reply === undefined ? became : `${reply}\n${became}`);
}

async function sendOnly(server: Server, message: NewMessage): Promise<Sent> {
  const { body } = await ask(server, { method: "POST", path: "/api/messages", body: message });
  return body as unknown as Sent;
}

/**
 * Sends a message and waits until it is answered, however long that takes: the server lets go after some
 * minutes, and the same key asks for the same message again.
 */
export async function sendAndWait(server: Server, message: NewMessage): Promise<Sent> {
  const body = { ...message, idempotencyKey: message["idempotencyKey"] ?? randomUUID(), wait: true };
  for (;;) {
    const answer = await ask(server, { method: "POST", path: "/api/messages", body });
    if (answer.status !== 202) return answer.body as unknown as Sent;
  }
}
