/**
 * An agent that runs as a child process. The child asks its model and requests tool calls. Everything else happens here, in
 * the loop of every agent, which makes and records the calls: to that loop, the child is a model.
 */
import type { Agent, AgentRequest, Exchange, Question } from "../agent.ts";
import { createLoopAgent, toolResultOf } from "../loop.ts";
import {
  type AssistantBody,
  assistantMessage,
  callsOf,
  promptText,
  type ToolCall,
} from "../../model/message.ts";
import type { Profile } from "../../model/profile.ts";
import { abortedBody, answerOf, failureOf, requestsBody, spentBody } from "./answer.ts";
import type { Child } from "./child.ts";
import { initOf, type ProcessWorker } from "./init.ts";
import { MAX_LINE_BYTES } from "./lines.ts";
import { OpenCalls } from "./open-calls.ts";
import type { ProcessPool } from "./pool.ts";
import type { ChildLine, Done, Failure, Spent, ToolRequest } from "./protocol.ts";
import { Replay } from "./replay.ts";
import { addSpent, isNothing, NOTHING_SPENT, restOf } from "./spent.ts";

export interface ProcessAgentOptions {
  /** An in-process agent for the same profile. It keeps conversations within the context window. */
  readonly inner: Agent;
  readonly pool: ProcessPool;
  readonly clock: () => number;
  readonly mintId: () => string;
  /** The environment variables that the backend of a profile needs, with their values. */
  readonly credentials: (profile: Profile) => Promise<Readonly<Record<string, string>>>;
  readonly worker: ProcessWorker;
  /** How long a child may be silent. */
  readonly silenceMs: number;
}

/** An agent for the turns of one worker. */
export function createProcessAgent(options: ProcessAgentOptions): Agent {
  const { inner, clock, mintId } = options;
  return {
    capabilities: { steer: true, replay: true, suspend: true },
    ...(inner.context !== undefined && { context: inner.context }),
    async run(request) {
      using conversation = new Conversation(request, options);
      const model = { ask: conversation.ask.bind(conversation) };
      return await createLoopAgent({ model, clock, mintId }).run(request);
    },
  };
}

/** How often a turn that waits for a free process reports progress, so that it does not count as stuck. */
const PROGRESS_MS = 1_000;
/** The limit on chunks between two steps: as much as one line. */
const MAX_STREAMED_LENGTH = MAX_LINE_BYTES;

/**
 * One turn with a child. The first question sends it the conversation; each later one sends the results of its calls and
 * the messages that have arrived. The child answers with calls, or is done.
 *
 * Our own child continues an interrupted turn. A third-party program starts over, and the calls that it repeats are
 * answered from the journal.
 */
class Conversation implements Disposable {
  readonly #request: AgentRequest;
  readonly #options: ProcessAgentOptions;
  readonly #isOwn: boolean;
  readonly #lateness = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #child: Child | undefined;
  #isDone = false;
  #replay: Replay | undefined;
  #calls = new OpenCalls();
  /** Messages that have joined the turn but were not sent to the child yet. */
  #unsent: string[] = [];
  /** How many messages of the turn the child knows. */
  #known = 0;
  /** The cost that its messages have reported. */
  #reported = NOTHING_SPENT;

  constructor(request: AgentRequest, options: ProcessAgentOptions) {
    this.#request = request;
    this.#options = options;
    this.#isOwn = options.worker.command === undefined;
  }

  async ask(question: Question): Promise<AssistantBody> {
    const current = question.exchanges.at(-1) ?? this.#request.current;
    if (this.#child === undefined) {
      const child = await this.#begin(current, question);
      if (child === undefined) return abortedBody("");
      this.#child = child;
    } else this.#resume(this.#child, current);
    this.#known = current.messages.length + 1; // including the answer to this question
    return this.#listen(this.#child, question);
  }

  /** Does not wait for the child to end. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    const child = this.#child;
    if (child === undefined) return;
    const { pool } = this.#options;
    const ended = this.#isDone ? Promise.resolve() : this.#cancel(child).catch(() => {});
    void ended.then(() => pool.release(child, { isAtWork: !this.#isDone }));
  }

  /** Undefined: aborted. */
  async #begin(current: Exchange, question: Question): Promise<Child | undefined> {
    const { worker, credentials } = this.#options;
    const { timeoutMs } = worker;
    const init = initOf(this.#request, current, worker, await credentials(question.profile));
    const child = await this.#acquire(question);
    if (child === undefined) return undefined;
    this.#child = child; // released on disposal, even if it does not start
    if (timeoutMs !== undefined) this.#timer = setTimeout(() => this.#lateness.abort(), timeoutMs);
    if (!this.#isOwn) this.#replay = new Replay(current);
    return (await child.begin(init, question.signal)) ? child : undefined;
  }

  async #acquire(question: Question): Promise<Child | undefined> {
    const { pool, worker } = this.#options;
    const reporting = setInterval(() => question.onProgress?.(), PROGRESS_MS);
    try {
      return await pool.acquire(worker, question.signal);
    } finally {
      clearInterval(reporting);
    }
  }

  /** Takes the outcomes of the calls, and sends those that the child has requested. */
  #resume(child: Child, { messages, toolCalls }: Exchange): void {
    const joined = messages.slice(this.#known).filter(({ role }) => role === "user");
    this.#unsent.push(...joined.map(promptText));
    this.#calls.setOutcomes(messages.flatMap(callsOf).length, toolCalls);
    for (const { id, outcome, isLast } of this.#calls.takeRequested())
      this.#sendResult(child, id, outcome, isLast);
  }

  /** Messages go before the result after which the child asks its model. */
  #sendResult(child: Child, id: string, outcome: ToolCall | undefined, isLast: boolean): void {
    if (isLast) for (const content of this.#unsent.splice(0)) child.send({ type: "message", content });
    child.send({ type: "tool_result", id, ...toolResultOf(outcome) });
  }

  async #listen(child: Child, question: Question): Promise<AssistantBody> {
    let streamed = "";
    let length = 0;
    for (;;) {
      const line = await this.#next(child, question.signal);
      if (line === "aborted") return this.#abort(child, streamed);
      switch (line.type) {
        case "chunk":
          length += line.delta.length;
          if (length > MAX_STREAMED_LENGTH)
            throw child.failed(`sent chunks of more than ${MAX_STREAMED_LENGTH} characters at once`, false);
          streamed += line.kind === "thinking" ? "" : line.delta;
          if (line.delta === "") question.onProgress?.();
          else question.onDelta({ kind: line.kind ?? "text", text: line.delta });
          break;
        case "message":
          if (this.#isRepeated(line.message)) break;
          return this.#step(child, line.message, []);
        case "tool_request": {
          if (this.#answer(child, line)) break;
          const requests = [line, ...this.#furtherRequests(child)];
          return this.#step(child, requestsBody(requests), requests);
        }
        case "done":
          return this.#finish(child, line);
        case "error":
          return this.#fail(line);
        case "ready":
          throw child.failed("sent ready twice", false);
        case "pong":
          break;
      }
    }
  }

  /** Rejects with `sub_agent_failed` if the child has died, is silent, or takes too long. */
  async #next(child: Child, signal: AbortSignal): Promise<ChildLine | "aborted"> {
    const { silenceMs, worker } = this.#options;
    const lateness = this.#lateness.signal;
    let line = await child.next(silenceMs / 2, signal, lateness);
    if (line === "late") {
      if (child.hasFullProtocol) child.send({ type: "ping" });
      line = await child.next(silenceMs / 2, signal, lateness);
    }
    if (line === "late") throw child.failed(`sent nothing for ${silenceMs / 1000} s`, true);
    if (line === "aborted" && !signal.aborted)
      throw child.failed(`worked for more than ${(worker.timeoutMs ?? 0) / 1000} s`, false);
    if (line !== "aborted" && line.type !== "tool_request") child.checkId(line, this.#request.session);
    return line;
  }

  /** Whether a program that starts over repeats a message of the journal. */
  #isRepeated(message: AssistantBody): boolean {
    const calls = message.blocks.filter((block) => block.type === "toolCall");
    return this.#replay?.holds(calls) ?? false;
  }

  /** Answers a request that needs no new call. False: it needs one. */
  #answer(child: Child, request: ToolRequest): boolean {
    const again = this.#replay?.take(request);
    if (again !== undefined) {
      this.#unsent.push(...again.messages);
      this.#sendResult(child, request.id, again.outcome, true);
      return true;
    }
    const open = this.#calls.take(request);
    if (open === "other")
      throw child.failed(`requested a different call than announced as "${request.id}"`, false);
    if (open === "answered") throw child.failed(`requested the call "${request.id}" twice`, false);
    if (open === "unknown") return false;
    this.#sendResult(child, request.id, open.outcome, open.isLast);
    return true;
  }

  /** Requests that were sent together make one step. */
  #furtherRequests(child: Child): readonly ToolRequest[] {
    const requests: ToolRequest[] = [];
    for (;;) {
      const line = child.takeRequest();
      if (line === undefined) return requests;
      requests.push(line);
    }
  }

  #step(child: Child, body: AssistantBody, requested: readonly ToolRequest[]): AssistantBody {
    if (this.#calls.isOpen) throw child.failed("continued before it had the results of its calls", false);
    this.#unsent.push(...(this.#replay?.end() ?? []));
    const calls = body.blocks.filter((block) => block.type === "toolCall");
    if (calls.length === 0) throw child.failed("sent a message without calls before it was done", false);
    if (!this.#calls.open(calls, requested)) throw child.failed("used the same id for two calls", false);
    this.#reported = addSpent(this.#reported, body);
    return body;
  }

  async #finish(child: Child, done: Done): Promise<AssistantBody> {
    if (this.#calls.isOpen) throw child.failed("ended before it had the results of its calls", false);
    const { success, response, error, limit, ...spent } = done.result;
    if (!success && limit === undefined)
      return this.#fail({ type: "error", error: error ?? response, ...spent });
    this.#isDone = true;
    const answer = answerOf(done, this.#reported);
    if (answer !== undefined) return answer;
    await this.#noteSpent(spent);
    throw child.failed("ended without an answer", false);
  }

  async #fail(failure: Failure): Promise<never> {
    this.#isDone = true;
    await this.#noteSpent(failure);
    throw failureOf(failure, this.#isOwn);
  }

  async #abort(child: Child, streamed: string): Promise<AssistantBody> {
    const end = await this.#cancel(child);
    const spent = end?.type === "done" ? end.result : end;
    const rest = spent === undefined ? NOTHING_SPENT : restOf(spent, this.#reported);
    const text = (end?.type === "done" ? end.result.response : "") || streamed;
    if (text === "" && spent !== undefined) await this.#noteSpent(spent); // an empty answer is not kept
    return abortedBody(text, rest);
  }

  /** Asks the child to end with what it has. Undefined: it did not. */
  async #cancel(child: Child): Promise<Done | Failure | undefined> {
    if (!child.hasFullProtocol || child.hasExited) return undefined;
    const { cancelMs } = this.#options.pool.times;
    const deadline = AbortSignal.timeout(cancelMs);
    try {
      child.send({ type: "cancel" });
      for (;;) {
        const line = await child.next(cancelMs, deadline);
        if (line === "late" || line === "aborted") return undefined;
        if (line.type !== "done" && line.type !== "error") continue;
        this.#isDone = true;
        return line;
      }
    } catch {
      return undefined; // its death makes no difference now
    }
  }

  /** The cost counts even without an answer: an empty message records it. */
  async #noteSpent(spent: Spent): Promise<void> {
    const rest = restOf(spent, this.#reported);
    if (isNothing(rest)) return;
    const { clock, mintId } = this.#options;
    await this.#request.record(assistantMessage(mintId(), spentBody(rest), clock()));
  }
}
