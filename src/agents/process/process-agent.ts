/**
 * An agent that is a child process. The child asks its model and says which tools it wants; all else is done on
 * this side, by the loop that every agent has: the calls are made, and written down, as if the model were here.
 * To that loop, the child is a model.
 */
import type { Agent, AgentRequest, Exchange, Question } from "../agent.ts";
import { createLoopAgent } from "../loop.ts";
import {
  type AssistantBody,
  assistantMessage,
  callsOf,
  promptText,
  type ToolCall,
} from "../../model/message.ts";
import type { Profile } from "../../model/profile.ts";
import { abortedBody, answerOf, failureOf, requestsBody, resultOf, spentBody } from "./answer.ts";
import type { Child } from "./child.ts";
import { initOf, type ProcessWorker } from "./init.ts";
import { MAX_LINE_BYTES } from "./lines.ts";
import { OpenCalls } from "./open-calls.ts";
import type { ProcessPool } from "./pool.ts";
import type { ChildLine, Done, Failure, Spent, ToolRequest } from "./protocol.ts";
import { Replay } from "./replay.ts";
import { addSpent, isNothing, NOTHING_SPENT, restOf } from "./spent.ts";

export interface ProcessAgentParts extends ConversationParts {
  /** Keeps conversations within the window: an agent of this process for the same profile. */
  readonly inner: Agent;
}

/** An agent for the turns of one worker. */
export function createProcessAgent(parts: ProcessAgentParts): Agent {
  const { inner, clock, mintId } = parts;
  return {
    capabilities: { steer: true, replay: true, suspend: true },
    ...(inner.context !== undefined && { context: inner.context }),
    async run(request) {
      using conversation = new Conversation(request, parts);
      const model = { ask: conversation.ask.bind(conversation) };
      return await createLoopAgent({ model, clock, mintId }).run(request);
    },
  };
}

export interface ConversationParts {
  readonly pool: ProcessPool;
  readonly clock: () => number;
  readonly mintId: () => string;
  /** The variables that the backend of a profile asks for, with their values. */
  readonly credentials: (profile: Profile) => Promise<Readonly<Record<string, string>>>;
  readonly worker: ProcessWorker;
  /** How long a child may say nothing. */
  readonly silenceMs: number;
}

/** While others have the processes that there may be, the turn is not stuck. */
const WAITING_MS = 1_000;
/** Of what is said between two steps: no more than one line could hold. */
const MAX_SAID = MAX_LINE_BYTES;

export class Conversation implements Disposable {
  readonly #request: AgentRequest;
  readonly #parts: ConversationParts;
  readonly #isOwn: boolean;
  readonly #lateness = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #child: Child | undefined;
  #isDone = false;
  #replay: Replay | undefined;
  #calls = new OpenCalls();
  /** What was said to the turn, and not yet to the child. */
  #unsaid: string[] = [];
  /** How many messages of the turn the child knows. */
  #known = 0;
  /** What its messages say that they have cost. */
  #reported = NOTHING_SPENT;

  constructor(request: AgentRequest, parts: ConversationParts) {
    this.#request = request;
    this.#parts = parts;
    this.#isOwn = parts.worker.command === undefined;
  }

  async ask(question: Question): Promise<AssistantBody> {
    const current = question.exchanges.at(-1)!;
    if (this.#child !== undefined) this.#goOn(this.#child, current);
    else if (!(await this.#begin(current, question))) return abortedBody("");
    this.#known = current.messages.length + 1; // and the one that comes now
    return this.#listen(this.#child!, question);
  }

  /** The child may take its time to end; nobody waits for that. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    const child = this.#child;
    if (child === undefined) return;
    const { pool } = this.#parts;
    const ended = this.#isDone ? Promise.resolve() : this.#cancel(child).catch(() => {});
    void ended.then(() => pool.release(child, { isAtWork: !this.#isDone }));
  }

  async #begin(current: Exchange, question: Question): Promise<boolean> {
    const { worker, credentials } = this.#parts;
    const { timeoutMs } = worker;
    const init = initOf(this.#request, current, worker, await credentials(question.profile));
    this.#child = await this.#acquire(question);
    if (this.#child === undefined) return false;
    if (timeoutMs !== undefined) this.#timer = setTimeout(() => this.#lateness.abort(), timeoutMs);
    if (!this.#isOwn) this.#replay = new Replay(current);
    return this.#child.begin(init, question.signal);
  }

  async #acquire(question: Question): Promise<Child | undefined> {
    const { pool, worker } = this.#parts;
    const touching = setInterval(() => question.onProgress?.(), WAITING_MS);
    try {
      return await pool.acquire(worker, question.signal);
    } finally {
      clearInterval(touching);
    }
  }

  /** Takes what has become of the calls, and tells it as far as the child has asked for it. */
  #goOn(child: Child, { messages, toolCalls }: Exchange): void {
    const said = messages.slice(this.#known).filter(({ role }) => role === "user");
    this.#unsaid.push(...said.map(promptText));
    this.#calls.setOutcomes(messages.flatMap(callsOf).length, toolCalls);
    for (const { id, outcome, isLast } of this.#calls.takeRequested()) this.#tell(child, id, outcome, isLast);
  }

  /** What was said goes before the result that lets the child ask its model. */
  #tell(child: Child, id: string, outcome: ToolCall | undefined, isLast: boolean): void {
    if (isLast) for (const content of this.#unsaid.splice(0)) child.send({ type: "message", content });
    child.send({ type: "tool_result", id, ...resultOf(outcome) });
  }

  async #listen(child: Child, question: Question): Promise<AssistantBody> {
    let said = "";
    let length = 0;
    for (;;) {
      const line = await this.#next(child, question.signal);
      if (line === "aborted") return this.#abort(child, said);
      switch (line.type) {
        case "chunk":
          length += line.delta.length;
          if (length > MAX_SAID)
            throw child.failed(`has said more than ${MAX_SAID} characters at once`, false);
          said += line.kind === "thinking" ? "" : line.delta;
          if (line.delta === "") question.onProgress?.();
          else question.onDelta({ kind: line.kind ?? "text", text: line.delta });
          break;
        case "message":
          if (this.#wasSaid(line.message)) break;
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
          throw child.failed("said twice that it is ready", false);
        case "pong":
          break;
      }
    }
  }

  /** Rejects with `sub_agent_failed` where the child has died, is silent, or takes too long. */
  async #next(child: Child, signal: AbortSignal): Promise<ChildLine | "aborted"> {
    const { silenceMs, worker } = this.#parts;
    const lateness = this.#lateness.signal;
    let line = await child.next(silenceMs / 2, signal, lateness);
    if (line === "late") {
      if (child.understands) child.send({ type: "ping" });
      line = await child.next(silenceMs / 2, signal, lateness);
    }
    if (line === "late") throw child.failed(`has said nothing for ${silenceMs / 1000} s`, true);
    if (line === "aborted" && !signal.aborted)
      throw child.failed(`was at work for more than ${worker.timeoutMs! / 1000} s`, false);
    if (line !== "aborted" && line.type !== "tool_request") child.checkId(line, this.#request.session);
    return line;
  }

  /** What comes again after a new beginning is in the journal. */
  #wasSaid(message: AssistantBody): boolean {
    const calls = message.blocks.filter((block) => block.type === "toolCall");
    return this.#replay?.holds(calls) ?? false;
  }

  /** Answers what needs no new call. False: it is a new one. */
  #answer(child: Child, request: ToolRequest): boolean {
    const again = this.#replay?.take(request);
    if (again !== undefined) {
      this.#unsaid.push(...again.said);
      this.#tell(child, request.id, again.outcome, true);
      return true;
    }
    const open = this.#calls.take(request);
    if (open === "other")
      throw child.failed(`requested another call than it announced as "${request.id}"`, false);
    if (open === "answered") throw child.failed(`requested the call "${request.id}" twice`, false);
    if (open === "unknown") return false;
    this.#tell(child, request.id, open.outcome, open.isLast);
    return true;
  }

  /** Those that it has sent at once are one step. */
  #furtherRequests(child: Child): readonly ToolRequest[] {
    const requests: ToolRequest[] = [];
    for (;;) {
      const line = child.takeRequest();
      if (line === undefined) return requests;
      requests.push(line);
    }
  }

  #step(child: Child, body: AssistantBody, requested: readonly ToolRequest[]): AssistantBody {
    if (this.#calls.isOpen) throw child.failed("went on before it had the results of its calls", false);
    this.#unsaid.push(...(this.#replay?.end() ?? []));
    const calls = body.blocks.filter((block) => block.type === "toolCall");
    if (calls.length === 0) throw child.failed("sent a message without calls before it was done", false);
    if (!this.#calls.open(calls, requested)) throw child.failed("gave two calls the same id", false);
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

  async #abort(child: Child, heard: string): Promise<AssistantBody> {
    const end = await this.#cancel(child);
    const spent = end?.type === "done" ? end.result : end;
    const rest = spent === undefined ? NOTHING_SPENT : restOf(spent, this.#reported);
    const said = (end?.type === "done" ? end.result.response : "") || heard;
    if (said === "" && spent !== undefined) await this.#noteSpent(spent); // nothing said is not kept
    return abortedBody(said, rest);
  }

  /** Lets it end with what there is. Undefined: it does not. */
  async #cancel(child: Child): Promise<Done | Failure | undefined> {
    if (!child.understands || child.hasExited) return undefined;
    const { cancelMs } = this.#parts.pool.times;
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
      return undefined; // that it died now makes no difference
    }
  }

  /** What it has cost counts, also where nothing came of it: an empty message says so. */
  async #noteSpent(spent: Spent): Promise<void> {
    const rest = restOf(spent, this.#reported);
    if (isNothing(rest)) return;
    const { clock, mintId } = this.#parts;
    await this.#request.record(assistantMessage(mintId(), spentBody(rest), clock()));
  }
}
