/** One session in a terminal, from the greeting until another session is wanted, or none. */
import { CortexError } from "../model/errors.ts";
import { normalizeSessionKey } from "../model/session-key.ts";
import type { ApprovalView } from "../feature/views.ts";
import { type ChatCommand, complete, isForCortex, parseChatCommand } from "./chat-commands.ts";
import { answerTo } from "./chat-answers.ts";
import { describeSpent, queryOf } from "./chat-lists.ts";
import { promptOf, statusOf } from "./chat-prompt.ts";
import { replyTo } from "./chat-requests.ts";
import { openChatServer } from "./chat-server.ts";
import { type ChatView, IDLE, note, showEvent, typedLines, wholeText } from "./chat-view.ts";
import { describeRequest } from "../client/describe-request.ts";
import { followStream, type StreamEvent } from "../client/follow-stream.ts";
import { messageOf, type Talk } from "./message.ts";
import { endLine, isOver } from "../relay/surface/text.ts";
import type { Sent } from "./send.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { shorten } from "../terminal/text.ts";
import type { Piece } from "../terminal/transcript.ts";

interface Left {
  /** Where the talk goes on. */
  readonly next: Talk | undefined;
  readonly isAtWork: boolean;
}

/** Of the last answer, as much is shown again to whoever comes back. */
const MAX_RECALLED_LENGTH = 2_000;

const OTHER_REQUEST = "Something else is asked than when you began to type. Nothing was decided: look again.";

export async function converseIn(
  talk: Talk,
  given: {
    readonly terminal: Terminal;
    readonly home: string;
    /** Puts what is advised into the words that work here. */
    readonly advice: (text: string) => string;
    /** Keeps a line for the next time. */
    readonly keep: (line: string) => void;
  },
): Promise<Left> {
  const { terminal, home, advice, keep } = given;
  const { session } = talk;
  const left = new AbortController();
  const server = openChatServer(home, left.signal);
  let next: Talk | undefined;
  let view: ChatView = IDLE;
  let mode: string | undefined;
  let requests: readonly ApprovalView[] = [];
  let sinceMs = 0;
  let spentUsd = 0;
  let isAborting = false;
  let isLost = false;
  let hasTyped = false;
  /** Whether it was said what the agent does: that is newer than what was asked for before. */
  let hasHeard = false;
  /** Whether something else is asked than was when the line was begun. */
  let hasChanged = false;
  /** What is sent before nobody reads along would be answered unseen. */
  const opened = Promise.withResolvers<void>();
  const relaysTold = new Set<string>();
  /** What is decided may be heard before what was asked. */
  const decided = new Set<string>();

  terminal.listen({
    onLine(line) {
      if (line.trim() === "") return;
      keep(line);
      attempt(take(line));
    },
    onInterrupt() {
      if (view.state === "idle" || isAborting) left.abort();
      else attempt(abort());
    },
    onEnd: () => left.abort(),
    complete: (text) =>
      complete(text, {
        sessions: async () => (await server.sessions()).map(({ key }) => key),
        turns: async () => (await server.turns(session)).map(({ id }) => id),
        profiles: () => server.profiles(),
        requests: () => requests.map(({ id }) => id),
      }).catch(() => ({ text, choices: [] })), // the server is away: nothing is known
  });
  tell(`This is ${session}. /help lists the commands, Ctrl-C aborts the agent, Ctrl-D leaves.`);
  become(IDLE);

  for await (const followed of followStream(home, session, left.signal)) {
    switch (followed.kind) {
      case "open":
        if (isLost) tell("Connected again.");
        else void catchUp();
        isLost = false;
        opened.resolve();
        break;
      case "lost":
        if (!isLost) tell("The connection is lost; trying to get it back.");
        isLost = true;
        break;
      case "event":
        follow(followed.event);
        break;
    }
  }
  terminal.status(undefined);
  return { next, isAtWork: view.state !== "idle" };

  /** Shows how things are here. The agent may be at work already, for somebody else. */
  async function catchUp(): Promise<void> {
    void readMode();
    try {
      const { state, head, wait } = await server.session(session);
      if (state !== "idle" && !hasHeard)
        become({
          ...view,
          state: state === "suspended" ? "waiting" : "working",
          isCompacting: state === "compacting",
          wait: wait ?? "",
        });
      if (head !== null) await recall();
      for (const request of await server.requests(session)) tellRequest(request);
    } catch {
      // There is no such session yet: it begins with the first message.
    }
  }

  /** The last exchange, so that one knows where one was. */
  async function recall(): Promise<void> {
    const [last] = await server.turns(session, 1);
    if (last === undefined || hasTyped) return;
    show(typedLines(shorten(queryOf(last), MAX_RECALLED_LENGTH)));
    show(...wholeText(shorten(last.text, MAX_RECALLED_LENGTH)));
  }

  /** A line goes to whoever it is for: to what is asked, to the chat, or to the server. */
  async function take(line: string): Promise<void> {
    show(typedLines(line));
    hasTyped = true;
    const wasOther = hasChanged;
    hasChanged = false;
    await opened.promise;
    const [request] = requests;
    const reply = request === undefined ? undefined : replyTo(line, request);
    if (reply !== undefined) return wasOther ? tell(OTHER_REQUEST) : server.reply(request!.id, reply);
    const command = parseChatCommand(line);
    if (command !== undefined) return carryOut(command);
    const { state } = view;
    if (state === "idle" && !isForCortex(line)) become({ ...view, state: "working" });
    try {
      became(await server.say(messageOf(line, talk)), state);
    } catch (error) {
      if (view.state === "working") become({ ...view, state });
      throw error;
    }
  }

  async function carryOut(command: ChatCommand): Promise<void> {
    switch (command.kind) {
      case "help":
      case "sessions":
      case "turns":
      case "costs":
        return tell(await answerTo(command.kind, talk, server));
      case "switch":
        return goTo({ ...talk, session: normalizeSessionKey(command.session) });
      case "fork":
        return goTo({
          ...talk,
          session: normalizeSessionKey((await server.say(messageOf(command.line, talk))).session),
        });
      case "abort":
        return view.state === "idle" ? tell("The agent does nothing.") : abort();
      case "quit":
        return left.abort();
    }
  }

  function goTo(talk: Talk): void {
    next = talk;
    left.abort();
  }

  async function abort(): Promise<void> {
    isAborting = true;
    tell("Aborting. Ctrl-C again leaves.");
    await server.abort(session).catch((error: unknown) => {
      isAborting = false;
      throw error;
    });
  }

  /** Says what became of a line. Where it is no message to the agent, the agent is as it was. */
  function became({ dispatchId, text, reply, dropped }: Sent, before: ChatView["state"]): void {
    const isForAgent = dispatchId !== undefined && dropped === undefined;
    if (!isForAgent && view.state === "working") become({ ...view, state: before });
    if (isForAgent && before !== "idle")
      tell(`↳ Sent while the agent works${mode === undefined ? "" : ` (${mode})`}.`);
    for (const line of [text, reply]) if (line !== undefined) tell(line);
    if (dropped !== undefined) tell(`Dropped by the policy "${dropped}": too many messages wait.`);
  }

  function follow(event: StreamEvent): void {
    const { type, state, itemId, approvalId, relayId, turnId } = event;
    if (type === "run.state") hasHeard = true;
    if (type === "run.state" && state === "idle") isAborting = false;
    const shown = showEvent(view, event);
    become(shown.view);
    show(...shown.pieces);
    if (type === "session.changed") void readMode();
    if (type === "turn.committed" && typeof turnId === "string") void tellSpent(turnId);
    if (type === "queue.changed" && state === "dead" && typeof itemId === "string") void tellDead(itemId);
    if (type === "relay.changed" && typeof relayId === "string") {
      if (isOver({ status: state })) void tellRelay(relayId);
      else relaysTold.delete(relayId); // one that goes on after its end ends again
    }
    if (type === "approval.changed" && typeof approvalId === "string") void followRequest(approvalId, state);
  }

  /** The prompt and the status follow from what is known. */
  function become(after: ChatView): void {
    if (left.signal.aborted) return;
    if (view.state === "idle" && after.state !== "idle") sinceMs = Date.now();
    if (after.state === "idle") terminal.status(undefined);
    else if (view.state === "idle")
      terminal.status(() => statusOf({ view, nowMs: Date.now(), sinceMs, spentUsd, isAborting }));
    view = after;
    terminal.prompt(promptOf({ view, session, mode, request: requests[0] }));
  }

  function show(...pieces: readonly Piece[]): void {
    if (!left.signal.aborted && pieces.length > 0) terminal.add(...pieces);
  }

  function tell(text: string): void {
    show(note(text));
  }

  /** Says so if something does not work. The conversation goes on. */
  function attempt(done: Promise<void>): void {
    done.catch((error: unknown) =>
      tell(error instanceof CortexError ? `${error.message}. ${advice(error.hint)}` : String(error)),
    );
  }

  async function readMode(): Promise<void> {
    mode = await server.mode(session).catch(() => mode); // the server is gone
    become(view);
  }

  /** A yes is for what was asked when it was typed: one that another call slips under agrees to nothing. */
  function awaitReply(open: readonly ApprovalView[]): void {
    if (open[0]?.id !== requests[0]?.id && terminal.isTyping()) hasChanged = true;
    requests = open;
    become(view);
  }

  async function followRequest(id: string, state: StreamEvent[string]): Promise<void> {
    if (state !== "open") {
      decided.add(id);
      return awaitReply(requests.filter((request) => request.id !== id));
    }
    try {
      tellRequest(await server.request(id));
    } catch {
      tell(advice(`\`cortex approvals show ${id}\` says what is asked.`)); // the server is gone
    }
  }

  /** Says what the agent asks, and how to decide it here. */
  function tellRequest(request: ApprovalView): void {
    if (request.status !== "open" || decided.has(request.id)) return;
    if (requests.some(({ id }) => id === request.id)) return;
    tell(describeRequest(request));
    awaitReply([...requests, request]);
  }

  async function tellSpent(turn: string): Promise<void> {
    const spent = await server.turn(turn).catch(() => undefined); // the server is gone
    if (spent === undefined) return;
    spentUsd += spent.costUsd ?? 0;
    const line = describeSpent(spent);
    if (line !== undefined) tell(line);
  }

  /** Says what a relay has come to. The end of one is told of more than once. */
  async function tellRelay(id: string): Promise<void> {
    if (relaysTold.has(id)) return;
    relaysTold.add(id);
    try {
      const { record, output } = await server.relay(id);
      if (output !== null) show(...wholeText(output));
      tell(endLine(record, Date.now()));
    } catch {
      tell(advice(`\`cortex relay show ${id}\` says what came of it.`)); // the server is gone
    }
  }

  /** Says why a message could not be answered. */
  async function tellDead(item: string): Promise<void> {
    try {
      tell(`${await server.deadReason(item)}. ${advice(`\`cortex dead retry ${item}\` tries it again.`)}`);
    } catch {
      tell(advice(`\`cortex dead show ${item}\` says why.`)); // the server is gone, or the letter is
    }
  }
}
