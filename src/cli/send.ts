import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

import type { SessionKey } from "../model/session-key.ts";
import type { ApprovalView } from "../feature/approval-view.ts";
import { describeWaiting } from "../client/describe-request.ts";
import { type Invocation, text } from "../feature/command.ts";
import { ask } from "../client/ask.ts";
import type { Printer } from "../terminal/print.ts";
import { readMessage } from "../terminal/read-input.ts";
import { needServer, type RunningServer } from "../client/server.ts";
import { needOrStartServer } from "../client/start-server.ts";
import { harmless } from "../terminal/text.ts";

/** The channel of messages from the command line. */
export const CHANNEL = "cli";

/** The session of a chat and the profile for its answers. */
export interface Talk {
  readonly session: SessionKey;
  readonly profile: string | undefined;
}

/** The body of `POST /api/messages`; undefined fields are not sent. */
export type MessageBody = Readonly<Record<string, string | boolean | undefined>>;

export function messageOf(content: string, { session, profile }: Talk, mode?: string): MessageBody {
  return { content, session, profile, mode, channel: CHANNEL };
}

/** How often `--wait` checks for requests of the agent. */
const LOOK_EVERY_MS = 1_000;

/** The result of a message: with a turn, it was answered; without a dispatch, it was a command to Cortex. */
export interface SendResult {
  readonly eventId: string;
  readonly dispatchId?: string;
  readonly session: string;
  /** The policy that dropped it. */
  readonly dropped?: string;
  /** The reply to the command in its first line. */
  readonly reply?: string;
  readonly turnId?: string;
  readonly text?: string;
  readonly costUsd?: number | null;
  /** Why its turn ended early, and the event that interrupted it. */
  readonly aborted?: { readonly reason: string; readonly by: string | null };
}

export async function send(given: Invocation): Promise<void> {
  const { args, options, print } = given;
  const [words = ""] = args;
  const content = await readMessage(words, "cortex send");
  const server = await needOrStartServer(given);
  const message = {
    content,
    channel: CHANNEL,
    session: text(given, "session"),
    thread: text(given, "thread"),
    persona: text(given, "persona"),
    mode: text(given, "mode"),
    profile: text(given, "profile"),
    idempotencyKey: text(given, "key"),
  };
  const sent = await (options["wait"] === true
    ? sendAndWait(server, message, print)
    : sendOnly(server, message));
  print.data(sent, () => described(sent));
}

export async function forkTurn(given: Invocation): Promise<void> {
  const { home, args, options, print } = given;
  const [turn = "", content] = args;
  const server = await needServer(home);
  const path = `/api/turns/${encodeURIComponent(turn)}/fork`;
  const waits = options["wait"] === true && content !== undefined;
  const fork = { session: text(given, "session"), ...(waits ? {} : { content }) };
  const { body } = await ask<{ readonly session: string }>(server, { method: "POST", path, body: fork });
  const { session } = body;
  if (waits) {
    print.note(`New session: ${session}`);
    const sent = await sendAndWait(server, { content, session, channel: CHANNEL }, print);
    print.data(sent, () => harmless(sent.text ?? ""));
    return;
  }
  print.data(body, () => {
    const sent = content === undefined ? "" : "; message sent";
    return `New session ${session}, forked from ${turn}${sent}.`;
  });
}

/** The result of a message as text. */
export function described({ session, text: answer, reply, dropped, aborted }: SendResult): string {
  const said = answer === "" && aborted === undefined ? "The agent gave no reply." : answer;
  const became = said ?? (dropped === undefined ? `Sent to ${session}.` : `Dropped by policy "${dropped}".`);
  const ended = aborted && `Aborted: ${aborted.reason}${aborted.by === null ? "" : ` (${aborted.by})`}.`;
  return harmless([reply, became, ended].filter((part) => part !== undefined && part !== "").join("\n"));
}

async function sendOnly(server: RunningServer, message: MessageBody): Promise<SendResult> {
  return (await ask<SendResult>(server, { method: "POST", path: "/api/messages", body: message })).body;
}

/**
 * Sends a message and waits for its answer, however long that takes: the server returns 202 after some minutes, and the
 * same idempotency key waits for the same message again. With a printer, also prints requests of the agent meanwhile.
 */
export async function sendAndWait(
  server: RunningServer,
  message: MessageBody,
  print?: Printer,
): Promise<SendResult> {
  const body = { ...message, idempotencyKey: message["idempotencyKey"] ?? randomUUID() };
  const answered = new AbortController();
  // May fail silently: waiting for the answer reports any error.
  if (print?.json === false) tellRequests(server, body, { print, signal: answered.signal }).catch(() => {});
  try {
    for (;;) {
      const wanted = { method: "POST", path: "/api/messages", body: { ...body, wait: true } } as const;
      const answer = await ask<SendResult>(server, wanted);
      if (answer.status !== 202) return answer.body;
    }
  } finally {
    answered.abort();
  }
}

/** Prints the requests that hold up the answer to a message. */
async function tellRequests(
  server: RunningServer,
  message: MessageBody,
  { print, signal }: { readonly print: Printer; readonly signal: AbortSignal },
): Promise<never> {
  const told = new Set<string>();
  let path: string | undefined;
  for (;;) {
    await pause(LOOK_EVERY_MS, undefined, { signal });
    path ??= `/api/approvals?state=open&session=${encodeURIComponent((await sendOnly(server, message)).session)}`;
    const { items } = (await ask<{ items: ApprovalView[] }>(server, { path, signal })).body;
    for (const request of items.filter(({ id }) => !told.has(id))) {
      told.add(request.id);
      print.note(describeWaiting(request));
    }
  }
}
