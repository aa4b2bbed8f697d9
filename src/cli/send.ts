import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

import type { SessionKey } from "../model/session-key.ts";
import type { ApprovalView } from "../feature/views.ts";
import { describeWaiting } from "../client/describe-request.ts";
import { type Invocation, text } from "../feature/command.ts";
import { ask } from "../client/ask.ts";
import type { Printer } from "../terminal/print.ts";
import { readMessage } from "../terminal/read-input.ts";
import { needServer, type RunningServer } from "../client/server.ts";
import { needOrStartServer } from "../client/start-server.ts";
import { harmless } from "../terminal/text.ts";

/** The door through which messages of the command line come. */
export const CHANNEL = "cli";

/** Where the words of a chat go, and with what they are answered. */
export interface Talk {
  readonly session: SessionKey;
  readonly profile: string | undefined;
}

/** A message as the server takes it; what is undefined is left out on the way. */
export type MessageBody = Readonly<Record<string, string | boolean | undefined>>;

export function messageOf(content: string, { session, profile }: Talk, mode?: string): MessageBody {
  return { content, session, profile, mode, channel: CHANNEL };
}

/** Whoever waits longer may be asked something. */
const LOOK_EVERY_MS = 1_000;

/** What became of a message: with a turn, it was answered; without a dispatch, it was a command to Cortex. */
export interface SendResult {
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
  /** Why its turn ended early, and the event that interrupted it. */
  readonly aborted?: { readonly reason: string; readonly by: string | null };
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
    idempotencyKey: text(given, "key"),
  };
  const sent = await (options["wait"] === true
    ? sendAndWait(server, message, print)
    : sendOnly(server, message));
  print.data(sent, () => described(sent));
}

export async function forkTurn(given: Invocation): Promise<void> {
  const { home, args, options, print } = given;
  const [turn, content] = args;
  const server = await needServer(home);
  const path = `/api/turns/${encodeURIComponent(turn!)}/fork`;
  const waits = options["wait"] === true && content !== undefined;
  const wanted = { session: text(given, "session"), ...(waits ? {} : { content }) };
  const { body } = await ask(server, { method: "POST", path, body: wanted });
  const { session } = body as unknown as SendResult;
  if (waits) {
    print.note(`New session: ${session}`);
    const sent = await sendAndWait(server, { content, session, channel: CHANNEL }, print);
    print.data(sent, () => harmless(sent.text ?? ""));
    return;
  }
  print.data(body, () => {
    const sent = content === undefined ? "" : ", and the message is on its way";
    return `The session ${session} begins at ${turn}${sent}.`;
  });
}

/** What a person is told of a message that was sent. */
export function described({ session, text: answer, reply, dropped, aborted }: SendResult): string {
  const said = answer === "" && aborted === undefined ? "The agent gave no reply." : answer;
  const became =
    said ?? (dropped === undefined ? `Sent to ${session}.` : `Dropped by the policy "${dropped}".`);
  const ended = aborted && `Aborted: ${aborted.reason}${aborted.by === null ? "" : ` (${aborted.by})`}.`;
  return harmless([reply, became, ended].filter((part) => part !== undefined && part !== "").join("\n"));
}

async function sendOnly(server: RunningServer, message: MessageBody): Promise<SendResult> {
  const { body } = await ask(server, { method: "POST", path: "/api/messages", body: message });
  return body as unknown as SendResult;
}

/**
 * Sends a message and waits until it is answered, however long that takes: the server lets go after some
 * minutes, and the same key asks for the same message again. With a printer, it is said what a person is asked meanwhile.
 */
export async function sendAndWait(
  server: RunningServer,
  message: MessageBody,
  print?: Printer,
): Promise<SendResult> {
  const body = { ...message, idempotencyKey: message["idempotencyKey"] ?? randomUUID() };
  const answered = new AbortController();
  // Beside the answer, so it may fail: whatever is wrong, the answer says it.
  if (print?.json === false) tellRequests(server, body, { print, signal: answered.signal }).catch(() => {});
  try {
    for (;;) {
      const wanted = { method: "POST", path: "/api/messages", body: { ...body, wait: true } } as const;
      const answer = await ask(server, wanted);
      if (answer.status !== 202) return answer.body as unknown as SendResult;
    }
  } finally {
    answered.abort();
  }
}

/** Says what a person is asked in the session of a message before it can be answered. */
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
    const { items } = (await ask(server, { path, signal })).body as unknown as { items: ApprovalView[] };
    for (const request of items.filter(({ id }) => !told.has(id))) {
      told.add(request.id);
      print.note(describeWaiting(request));
    }
  }
}
