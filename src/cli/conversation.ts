/** A chat with one session in a terminal, until the user switches to another session or leaves. */
import { CortexError } from "../model/errors.ts";
import { normalizeSessionKey } from "../model/session-key.ts";
import type { ApprovalView } from "../feature/approval-view.ts";
import { type LocalCommand, complete, isForCortex, parseChatCommand } from "./chat-commands.ts";
import { answerTo, describeSpent, queryOf } from "./chat-lists.ts";
import { promptOf, statusOf } from "./chat-prompt.ts";
import { parseRequestReply } from "./chat-requests.ts";
import { openChatServer } from "./chat-server.ts";
import { type ChatView, IDLE, note, showEvent, typedLines, wholeText } from "./chat-view.ts";
import { describeRequest } from "../client/describe-request.ts";
import { followStream, type SessionEvent } from "../client/follow-stream.ts";
import { messageOf, type Talk } from "./send.ts";
import { endLine, isOver } from "../relay/surface/text.ts";
import type { SendResult } from "./send.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { shorten } from "../terminal/text.ts";
import type { Piece } from "../terminal/transcript.ts";

interface ConversationEnd {
  /** The session to continue in. Undefined: the user has left. */
  readonly next: Talk | undefined;
  readonly isAtWork: boolean;
}

/** How much of the last exchange is shown again on return. */
const MAX_RECALLED_LENGTH = 2_000;

const OTHER_REQUEST =
  "The pending request changed while you were typing. No decision was recorded; review it again.";

/** What a conversation needs from the program around it. */
interface ChatProgram {
  readonly terminal: Terminal;
  readonly home: string;
  /** Rewrites commands in advice to work as typed. */
  readonly advice: (text: string) => string;
  /** Adds a line to the input history. */
  readonly keep: (line: string) => void;
}

export function converseIn(talk: Talk, program: ChatProgram): Promise<ConversationEnd> {
  return new Conversation(talk, program).run();
}

class Conversation {
  readonly #talk: Talk;
  readonly #program: ChatProgram;
  readonly #left = new AbortController();
  readonly #server: ReturnType<typeof openChatServer>;
  #next: Talk | undefined;
  #view: ChatView = IDLE;
  #mode: string | undefined;
  #requests: readonly ApprovalView[] = [];
  #sinceMs = 0;
  #spentUsd = 0;
  #isAborting = false;
  #isLost = false;
  #hasTyped = false;
  /** Whether the stream has reported the state of the agent, which is newer than what was read at the start. */
  #hasHeard = false;
  /** Whether the pending request changed since the user began to type. */
  #hasChanged = false;
  /** Lines are sent only once the stream is open; otherwise the answer would be missed. */
  readonly #opened = Promise.withResolvers<void>();
  readonly #relaysTold = new Set<string>();
  /** Needed because a decision may arrive before its request. */
  readonly #decided = new Set<string>();

  constructor(talk: Talk, program: ChatProgram) {
    this.#talk = talk;
    this.#program = program;
    this.#server = openChatServer(program.home, this.#left.signal);
  }

  get #terminal(): Terminal {
    return this.#program.terminal;
  }

  get #session(): Talk["session"] {
    return this.#talk.session;
  }

  async run(): Promise<ConversationEnd> {
    this.#listen();
    this.#tell(`Session ${this.#session}. /help lists commands, Ctrl-C aborts, Ctrl-D quits.`);
    this.#become(IDLE);
    for await (const followed of followStream(this.#program.home, this.#session, this.#left.signal)) {
      switch (followed.kind) {
        case "open":
          if (this.#isLost) this.#tell("Reconnected.");
          else void this.#catchUp();
          this.#isLost = false;
          this.#opened.resolve();
          break;
        case "lost":
          if (!this.#isLost) this.#tell("Connection lost; reconnecting…");
          this.#isLost = true;
          break;
        case "event":
          this.#follow(followed.event);
          break;
      }
    }
    this.#terminal.status(undefined);
    return { next: this.#next, isAtWork: this.#view.state !== "idle" };
  }

  #listen(): void {
    this.#terminal.listen({
      onLine: (line) => {
        if (line.trim() === "") return;
        this.#program.keep(line);
        this.#attempt(this.#take(line));
      },
      onInterrupt: () => {
        if (this.#view.state === "idle" || this.#isAborting) this.#left.abort();
        else this.#attempt(this.#abort());
      },
      onEnd: () => this.#left.abort(),
      complete: (text) =>
        complete(text, {
          sessions: async () => (await this.#server.sessions()).map(({ key }) => key),
          turns: async () => (await this.#server.turns(this.#session)).map(({ id }) => id),
          profiles: () => this.#server.profiles(),
          requests: () => this.#requests.map(({ id }) => id),
        }).catch(() => ({ text, choices: [] })), // the server is unreachable: no suggestions
    });
  }

  /** Shows the current state: the agent may already be working for someone else. */
  async #catchUp(): Promise<void> {
    void this.#readMode();
    try {
      const { state, head, wait } = await this.#server.session(this.#session);
      if (state !== "idle" && !this.#hasHeard)
        this.#become({
          ...this.#view,
          state: state === "suspended" ? "waiting" : "working",
          isCompacting: state === "compacting",
          wait: wait ?? "",
        });
      if (head !== null) await this.#recall();
      for (const request of await this.#server.requests(this.#session)) this.#tellRequest(request);
    } catch {
      // The session does not exist yet: the first message creates it.
    }
  }

  /** Shows the last exchange, as a reminder. */
  async #recall(): Promise<void> {
    const [last] = await this.#server.turns(this.#session, 1);
    if (last === undefined || this.#hasTyped) return;
    this.#show(typedLines(shorten(queryOf(last), MAX_RECALLED_LENGTH)));
    this.#show(...wholeText(shorten(last.text, MAX_RECALLED_LENGTH)));
  }

  /** Routes a line: it answers the pending request, is a command of the chat, or goes to the server. */
  async #take(line: string): Promise<void> {
    this.#show(typedLines(line));
    this.#hasTyped = true;
    const wasOther = this.#hasChanged;
    this.#hasChanged = false;
    await this.#opened.promise;
    const [request] = this.#requests;
    const reply = request && parseRequestReply(line, request);
    if (request !== undefined && reply !== undefined)
      return wasOther ? this.#tell(OTHER_REQUEST) : this.#server.reply(request, reply);
    const command = parseChatCommand(line);
    if (command !== undefined) return this.#carryOut(command);
    const { state } = this.#view;
    if (state === "idle" && !isForCortex(line)) this.#become({ ...this.#view, state: "working" });
    try {
      this.#became(await this.#server.say(messageOf(line, this.#talk)), state);
    } catch (error) {
      if (this.#view.state === "working") this.#become({ ...this.#view, state });
      throw error;
    }
  }

  async #carryOut(command: LocalCommand): Promise<void> {
    switch (command.kind) {
      case "help":
      case "sessions":
      case "turns":
      case "costs":
        return this.#tell(await answerTo(command.kind, this.#talk, this.#server));
      case "switch":
        return this.#goTo({ ...this.#talk, session: normalizeSessionKey(command.session) });
      case "fork":
        return this.#goTo({
          ...this.#talk,
          session: normalizeSessionKey((await this.#server.say(messageOf(command.line, this.#talk))).session),
        });
      case "abort":
        return this.#view.state === "idle" ? this.#tell("The agent is idle.") : this.#abort();
      case "quit":
        return this.#left.abort();
    }
  }

  #goTo(talk: Talk): void {
    this.#next = talk;
    this.#left.abort();
  }

  async #abort(): Promise<void> {
    this.#isAborting = true;
    this.#tell("Aborting. Press Ctrl-C again to quit.");
    await this.#server.abort(this.#session).catch((error: unknown) => {
      this.#isAborting = false;
      throw error;
    });
  }

  /** Reports the result of a line. If it was not a message to the agent, restores the state shown before. */
  #became({ dispatchId, text, reply, dropped }: SendResult, before: ChatView["state"]): void {
    const isForAgent = dispatchId !== undefined && dropped === undefined;
    if (!isForAgent && this.#view.state === "working") this.#become({ ...this.#view, state: before });
    if (isForAgent && before !== "idle")
      this.#tell(`↳ Sent while the agent is working${this.#mode === undefined ? "" : ` (${this.#mode})`}.`);
    for (const line of [text, reply]) if (line !== undefined) this.#tell(line);
    if (dropped !== undefined) this.#tell(`Dropped by policy "${dropped}": too many queued messages.`);
  }

  #follow(event: SessionEvent): void {
    const { type, state, itemId, approvalId, relayId, turnId } = event;
    if (type === "run.state") this.#hasHeard = true;
    if (type === "run.state" && state === "idle") this.#isAborting = false;
    const shown = showEvent(this.#view, event);
    this.#become(shown.view);
    this.#show(...shown.pieces);
    if (type === "session.changed") void this.#readMode();
    if (type === "turn.committed" && typeof turnId === "string") void this.#tellSpent(turnId);
    if (type === "queue.changed" && state === "dead" && typeof itemId === "string")
      void this.#tellDead(itemId);
    if (type === "relay.changed" && typeof relayId === "string") {
      if (isOver({ status: state })) void this.#tellRelay(relayId);
      else this.#relaysTold.delete(relayId); // a resumed relay ends again
    }
    if (type === "approval.changed" && typeof approvalId === "string")
      void this.#followRequest(approvalId, state);
  }

  /** Updates the prompt and the status line. */
  #become(after: ChatView): void {
    if (this.#left.signal.aborted) return;
    if (this.#view.state === "idle" && after.state !== "idle") this.#sinceMs = Date.now();
    if (after.state === "idle") this.#terminal.status(undefined);
    else if (this.#view.state === "idle")
      this.#terminal.status(() =>
        statusOf({
          view: this.#view,
          nowMs: Date.now(),
          sinceMs: this.#sinceMs,
          spentUsd: this.#spentUsd,
          isAborting: this.#isAborting,
        }),
      );
    this.#view = after;
    this.#terminal.prompt(
      promptOf({ view: this.#view, session: this.#session, mode: this.#mode, request: this.#requests[0] }),
    );
  }

  #show(...pieces: readonly Piece[]): void {
    if (!this.#left.signal.aborted && pieces.length > 0) this.#terminal.add(...pieces);
  }

  #tell(text: string): void {
    this.#show(note(text));
  }

  /** Shows an error; the conversation continues. */
  #attempt(done: Promise<void>): void {
    done.catch((error: unknown) =>
      this.#tell(
        error instanceof CortexError
          ? `${error.message}. ${this.#program.advice(error.hint)}`
          : String(error),
      ),
    );
  }

  async #readMode(): Promise<void> {
    this.#mode = await this.#server.mode(this.#session).catch(() => this.#mode); // the server is gone
    this.#become(this.#view);
  }

  /** A yes is for the request shown when the user began to type: it must not approve another one. */
  #awaitReply(open: readonly ApprovalView[]): void {
    if (open[0]?.id !== this.#requests[0]?.id && this.#terminal.isTyping()) this.#hasChanged = true;
    this.#requests = open;
    this.#become(this.#view);
  }

  async #followRequest(id: string, state: SessionEvent[string]): Promise<void> {
    if (state !== "open") {
      this.#decided.add(id);
      return this.#awaitReply(this.#requests.filter((request) => request.id !== id));
    }
    try {
      this.#tellRequest(await this.#server.request(id));
    } catch {
      this.#tell(this.#program.advice(`A request is pending: run \`cortex approvals show ${id}\`.`)); // the server is gone
    }
  }

  /** Shows a request and how to reply to it. */
  #tellRequest(request: ApprovalView): void {
    if (request.status !== "open" || this.#decided.has(request.id)) return;
    if (this.#requests.some(({ id }) => id === request.id)) return;
    this.#tell(describeRequest(request, this.#program.advice));
    this.#awaitReply([...this.#requests, request]);
  }

  async #tellSpent(turn: string): Promise<void> {
    const spent = await this.#server.turn(turn).catch(() => undefined); // the server is gone
    if (spent === undefined) return;
    this.#spentUsd += spent.costUsd ?? 0;
    const line = describeSpent(spent);
    if (line !== undefined) this.#tell(line);
  }

  /** Shows the result of a relay, once: its end may be reported repeatedly. */
  async #tellRelay(id: string): Promise<void> {
    if (this.#relaysTold.has(id)) return;
    this.#relaysTold.add(id);
    try {
      const { record, output } = await this.#server.relay(id);
      if (output !== null) this.#show(...wholeText(output));
      this.#tell(endLine(record, Date.now()));
    } catch {
      this.#tell(
        this.#program.advice(`Relay ${id} has ended: run \`cortex relay show ${id}\` to see its result.`),
      ); // the server is gone
    }
  }

  /** Shows why a message became a dead letter. */
  async #tellDead(item: string): Promise<void> {
    try {
      const hint = this.#program.advice(`Run \`cortex dead retry ${item}\` to retry.`);
      this.#tell(`${await this.#server.deadReason(item)}. ${hint}`);
    } catch {
      this.#tell(this.#program.advice(`The message failed: run \`cortex dead show ${item}\`.`)); // the server or the letter is gone
    }
  }
}
