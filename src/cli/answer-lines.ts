/**
 * A chat without a terminal. Every line is a message and is answered before the next is sent. What the agent asks
 * meanwhile, or a relay that was started here, is printed when it is asked, and a line that comes after that answers it.
 */
import { createInterface } from "node:readline";

import { CortexError } from "../model/errors.ts";
import type { ApprovalView } from "../feature/views.ts";
import { isForCortex } from "./chat-commands.ts";
import { type Reply, replyTo } from "./chat-requests.ts";
import { openChatServer } from "./chat-server.ts";
import type { Invocation } from "../feature/command.ts";
import { describeRequest, describeWaiting, howTo } from "../client/describe-request.ts";
import { followStream, type StreamEvent } from "../client/follow-stream.ts";
import { messageOf, type Talk } from "./message.ts";
import { endLine, isOver } from "../relay/surface/text.ts";
import { report } from "./report.ts";
import { described, sendAndWait } from "./send.ts";
import type { Server } from "../client/server.ts";
import { harmless } from "../terminal/text.ts";

/** False: a line could not be answered. */
export async function answerLines(server: Server, talk: Talk, given: Invocation): Promise<void | false> {
  const { print, options, environment, home } = given;
  const { session } = talk;
  const left = new AbortController();
  const chat = openChatServer(home, left.signal);
  /** What is asked and was printed, oldest first. */
  let requests: readonly ApprovalView[] = [];
  /** What is decided may be heard before what was asked. */
  const decided = new Set<string>();
  /** Those that were started here and are not over, and those whose end was told. */
  const relays = new Set<string>();
  const ended = new Set<string>();
  const waiting: string[] = [];
  /** Whether a line waits for its answer, and how much was sent in all that is not done. */
  let isBusy = false;
  let underWay = 0;
  let isAtEnd = false;
  let hasFailed = false;
  let failure: unknown;
  let changed = Promise.withResolvers<void>();
  /** Nothing is sent before the stream is open: a question that comes earlier would be missed. */
  const opened = Promise.withResolvers<void>();

  const following = follow().catch((error: unknown) => {
    failure ??= error; // the server does not come back
    opened.reject(error);
    note();
  });
  const input = createInterface({ input: process.stdin });
  input.on("line", take);
  input.on("close", () => {
    isAtEnd = true;
    for (const request of requests) print.note(howTo(request));
    note();
  });
  try {
    await opened.promise;
    for (note(); !isDone(); await changed.promise) {
      changed = Promise.withResolvers();
      sendNext();
    }
  } finally {
    input.close();
    left.abort();
    await following;
  }
  if (failure !== undefined) throw failure;
  return hasFailed ? false : undefined;

  function note(): void {
    changed.resolve();
  }

  /** After the last line, a relay is waited for until it is over or asks something, which nobody can answer here then. */
  function isDone(): boolean {
    if (failure !== undefined) return true;
    return isAtEnd && underWay === 0 && waiting.length === 0 && [...relays].every(isAsking);
  }

  function isAsking(relay: string): boolean {
    return requests.some(({ session: asking }) => asking.startsWith(`thr:${relay}:`));
  }

  /** Only what is typed after a question was printed can be its answer. */
  function take(line: string): void {
    if (line.trim() === "") return;
    const [request] = requests;
    const reply = request === undefined ? undefined : replyTo(line, request);
    if (reply === undefined) waiting.push(line);
    else void attempt(decide(request!, reply));
    note();
  }

  /** A command need not wait for an answer that waits for a person: it may be what that person says. */
  function sendNext(): void {
    while (waiting.length > 0 && (!isBusy || (requests.length > 0 && isForCortex(waiting[0]!)))) {
      const line = waiting.shift()!;
      if (isBusy) void attempt(say(line));
      else {
        isBusy = true;
        void attempt(say(line).finally(() => (isBusy = false)));
      }
    }
  }

  async function say(line: string): Promise<void> {
    const sentAtMs = Date.now();
    const sent = await sendAndWait(server, messageOf(line, talk, "followup"));
    print.data(sent, () => described(sent));
    if (line.startsWith("!")) await watchBegun(sent.text ?? "", sentAtMs);
  }

  /** Of the relays that a reply names, the one that the line has started. */
  async function watchBegun(text: string, sinceMs: number): Promise<void> {
    for (const id of new Set(text.match(/\bthr_[0-9a-f]{8}\b/g))) {
      const { record } = await chat.relay(id);
      if (!isOver(record) && !ended.has(id) && Date.parse(record.createdAt) >= sinceMs) relays.add(id);
    }
  }

  async function decide(request: ApprovalView, reply: Reply): Promise<void> {
    requests = requests.filter((other) => other !== request);
    try {
      await chat.reply(request.id, reply);
      decided.add(request.id);
    } catch (error) {
      requests = [request, ...requests];
      throw error;
    }
  }

  /** The lines after one that fails may fare better. */
  async function attempt(done: Promise<void>): Promise<void> {
    underWay++;
    try {
      await done;
    } catch (error) {
      if (!(error instanceof CortexError) || error.code === "server_missing") failure ??= error;
      else report(error, { verbose: options["verbose"] === true, environment });
      hasFailed = true;
    }
    underWay--;
    note();
  }

  async function follow(): Promise<void> {
    for await (const followed of followStream(home, session, left.signal)) {
      if (followed.kind === "event") await hear(followed.event);
      if (followed.kind !== "open") continue;
      for (const request of await chat.requests(session).catch(() => [])) tell(request); // it has not begun yet
      opened.resolve();
    }
  }

  async function hear({ type, state, approvalId, relayId }: StreamEvent): Promise<void> {
    try {
      if (type === "approval.changed" && typeof approvalId === "string") {
        if (state === "open") tell(await chat.request(approvalId));
        else settle(approvalId);
      }
      if (type === "relay.changed" && typeof relayId === "string") {
        if (isOver({ status: state })) await tellRelay(relayId);
        else ended.delete(relayId); // one that goes on after its end ends again
      }
    } catch (error) {
      // The server is gone: it is found again, or what is sent says so.
      if (!(error instanceof CortexError)) throw error;
    }
    note();
  }

  function settle(id: string): void {
    decided.add(id);
    requests = requests.filter((request) => request.id !== id);
  }

  /** Says what is asked, once, and how to answer. */
  function tell(request: ApprovalView): void {
    const isKnown = requests.some(({ id }) => id === request.id) || decided.has(request.id);
    if (request.status !== "open" || isKnown) return;
    requests = [...requests, request];
    print.data(request, () =>
      harmless(print.advice(isAtEnd ? describeWaiting(request) : describeRequest(request))),
    );
  }

  /** Says what a relay has come to. The end of one is told of more than once. */
  async function tellRelay(id: string): Promise<void> {
    relays.delete(id);
    if (ended.has(id)) return;
    ended.add(id);
    const { record, output } = await chat.relay(id);
    print.data(record, () => harmless([output ?? "", endLine(record, Date.now())].join("\n").trimStart()));
  }
}
