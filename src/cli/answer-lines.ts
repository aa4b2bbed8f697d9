/**
 * A chat without a terminal: every line is a message, answered before the next one is sent. Requests of the agent, or of a
 * relay started here, are printed as they arrive, and a later line replies to them.
 */
import { createInterface } from "node:readline";

import { CortexError } from "../model/errors.ts";
import type { ApprovalView } from "../feature/approval-view.ts";
import { isForCortex } from "./chat-commands.ts";
import { type RequestReply, parseRequestReply } from "./chat-requests.ts";
import { openChatServer } from "./chat-server.ts";
import type { Invocation } from "../feature/command.ts";
import { describeRequest, describeWaiting, howTo } from "../client/describe-request.ts";
import { followStream, type SessionEvent } from "../client/follow-stream.ts";
import { messageOf, type Talk } from "./send.ts";
import { endLine, isOver } from "../relay/surface/text.ts";
import { report } from "./report.ts";
import { described, sendAndWait } from "./send.ts";
import type { RunningServer } from "../client/server.ts";
import { harmless } from "../terminal/text.ts";

/** False: a line failed. */
export function answerLines(server: RunningServer, talk: Talk, given: Invocation): Promise<void | false> {
  return new LineChat(server, talk, given).run();
}

class LineChat {
  readonly #server: RunningServer;
  readonly #talk: Talk;
  readonly #given: Invocation;
  readonly #left = new AbortController();
  readonly #chat: ReturnType<typeof openChatServer>;
  /** Pending requests that were printed, oldest first. */
  #requests: readonly ApprovalView[] = [];
  /** Needed because a decision may arrive before its request. */
  readonly #decided = new Set<string>();
  /** Running relays that were started here, and relays whose end was reported. */
  readonly #relays = new Set<string>();
  readonly #ended = new Set<string>();
  readonly #waiting: string[] = [];
  /** Whether a line is waiting for its answer, and how many sent lines are not done. */
  #isBusy = false;
  #underWay = 0;
  #isAtEnd = false;
  #hasFailed = false;
  #failure: unknown;
  #changed = Promise.withResolvers<void>();
  /** Lines are sent only once the stream is open; otherwise a request could be missed. */
  readonly #opened = Promise.withResolvers<void>();

  constructor(server: RunningServer, talk: Talk, given: Invocation) {
    this.#server = server;
    this.#talk = talk;
    this.#given = given;
    this.#chat = openChatServer(given.home, this.#left.signal);
  }

  async run(): Promise<void | false> {
    const following = this.#follow().catch((error: unknown) => {
      this.#failure ??= error; // the server did not come back
      this.#opened.reject(error);
      this.#note();
    });
    const input = createInterface({ input: process.stdin });
    input.on("line", (line) => this.#take(line));
    input.on("close", () => {
      this.#isAtEnd = true;
      for (const request of this.#requests) this.#given.print.note(howTo(request));
      this.#note();
    });
    try {
      await this.#opened.promise;
      for (this.#note(); !this.#isDone(); await this.#changed.promise) {
        this.#changed = Promise.withResolvers();
        this.#sendNext();
      }
    } finally {
      input.close();
      this.#left.abort();
      await following;
    }
    if (this.#failure !== undefined) throw this.#failure;
    return this.#hasFailed ? false : undefined;
  }

  #note(): void {
    this.#changed.resolve();
  }

  /** After the last line, waits for each relay until it ends or asks something, which no line can answer any more. */
  #isDone(): boolean {
    if (this.#failure !== undefined) return true;
    return (
      this.#isAtEnd &&
      this.#underWay === 0 &&
      this.#waiting.length === 0 &&
      [...this.#relays].every((relay) => this.#isAsking(relay))
    );
  }

  #isAsking(relay: string): boolean {
    return this.#requests.some(({ session: asking }) => asking.startsWith(`thr:${relay}:`));
  }

  /** Only a line read after a request was printed can reply to it. */
  #take(line: string): void {
    if (line.trim() === "") return;
    const [request] = this.#requests;
    const reply = request && parseRequestReply(line, request);
    if (request === undefined || reply === undefined) this.#waiting.push(line);
    else void this.#attempt(this.#decide(request, reply));
    this.#note();
  }

  /** While a request is pending, a command is sent at once: it may be the reply. */
  #sendNext(): void {
    for (let [line] = this.#waiting; line !== undefined; [line] = this.#waiting) {
      if (this.#isBusy && (this.#requests.length === 0 || !isForCortex(line))) return;
      this.#waiting.shift();
      if (this.#isBusy) void this.#attempt(this.#say(line));
      else {
        this.#isBusy = true;
        void this.#attempt(this.#say(line).finally(() => (this.#isBusy = false)));
      }
    }
  }

  async #say(line: string): Promise<void> {
    const sentAtMs = Date.now();
    const sent = await sendAndWait(this.#server, messageOf(line, this.#talk, "followup"));
    this.#given.print.data(sent, () => described(sent));
    if (line.startsWith("!")) await this.#watchStarted(sent.text ?? "", sentAtMs);
  }

  /** Finds the relay that a line started among those that its answer names. */
  async #watchStarted(text: string, sinceMs: number): Promise<void> {
    for (const id of new Set(text.match(/\bthr_[0-9a-f]{8}\b/g))) {
      const { record } = await this.#chat.relay(id);
      if (!isOver(record) && !this.#ended.has(id) && Date.parse(record.createdAt) >= sinceMs)
        this.#relays.add(id);
    }
  }

  async #decide(request: ApprovalView, reply: RequestReply): Promise<void> {
    this.#requests = this.#requests.filter((other) => other !== request);
    try {
      await this.#chat.reply(request, reply);
      this.#decided.add(request.id);
    } catch (error) {
      this.#requests = [request, ...this.#requests];
      throw error;
    }
  }

  /** A failed line does not stop the next ones. */
  async #attempt(done: Promise<void>): Promise<void> {
    this.#underWay++;
    try {
      await done;
    } catch (error) {
      if (!(error instanceof CortexError) || error.code === "server_missing") this.#failure ??= error;
      else
        report(error, {
          verbose: this.#given.options["verbose"] === true,
          environment: this.#given.environment,
        });
      this.#hasFailed = true;
    }
    this.#underWay--;
    this.#note();
  }

  async #follow(): Promise<void> {
    for await (const followed of followStream(this.#given.home, this.#talk.session, this.#left.signal)) {
      if (followed.kind === "event") await this.#hear(followed.event);
      if (followed.kind !== "open") continue;
      for (const request of await this.#chat.requests(this.#talk.session).catch(() => []))
        this.#tell(request); // the session does not exist yet
      this.#opened.resolve();
    }
  }

  async #hear({ type, state, approvalId, relayId }: SessionEvent): Promise<void> {
    try {
      if (type === "approval.changed" && typeof approvalId === "string") {
        if (state === "open") this.#tell(await this.#chat.request(approvalId));
        else this.#settle(approvalId);
      }
      if (type === "relay.changed" && typeof relayId === "string") {
        if (isOver({ status: state })) await this.#tellRelay(relayId);
        else this.#ended.delete(relayId); // a resumed relay ends again
      }
    } catch (error) {
      // The server is gone: reconnecting succeeds, or the next line reports it.
      if (!(error instanceof CortexError)) throw error;
    }
    this.#note();
  }

  #settle(id: string): void {
    this.#decided.add(id);
    this.#requests = this.#requests.filter((request) => request.id !== id);
  }

  /** Prints a request, once, and how to reply to it. */
  #tell(request: ApprovalView): void {
    const isKnown = this.#requests.some(({ id }) => id === request.id) || this.#decided.has(request.id);
    if (request.status !== "open" || isKnown) return;
    this.#requests = [...this.#requests, request];
    this.#given.print.data(request, () =>
      this.#isAtEnd
        ? describeWaiting(request, this.#given.print.advice)
        : describeRequest(request, this.#given.print.advice),
    );
  }

  /** Prints the result of a relay, once: its end may be reported repeatedly. */
  async #tellRelay(id: string): Promise<void> {
    this.#relays.delete(id);
    if (this.#ended.has(id)) return;
    this.#ended.add(id);
    const { record, output } = await this.#chat.relay(id);
    this.#given.print.data(record, () =>
      harmless([output ?? "", endLine(record, Date.now())].join("\n").trimStart()),
    );
  }
}
