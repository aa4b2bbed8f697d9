/**
 * The child's side: reads what the parent says until there is no more, for then the parent is gone. `ready` is
 * said before anything heavy is loaded. Takes one piece of work after the other.
 */
import type { Readable, Writable } from "node:stream";

import { CortexError } from "../../model/errors.ts";
import { LineReader, writeLine } from "./lines.ts";
import { type Init, type ParentLine, parseParentLine, PROTOCOL_VERSION } from "./protocol.ts";
import { count } from "../../model/count.ts";
import type { AgentId, MessageId, TurnId } from "../../model/ids.ts";
import { assistantBody, type CallBlock, endedAtLimit, type Message } from "../../model/message.ts";
import { OFFLINE_PROFILE, type Profile } from "../../model/profile.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type { AgentRequest, AgentResult, CallOutcome, Continuation, Delta, Model } from "../agent.ts";
import { createLoopAgent } from "../loop.ts";
import { addSpent, NOTHING_SPENT, spentOf } from "./spent.ts";

interface ChildParts extends Omit<ChildWorkParts, "send"> {
  readonly input: Readable;
  readonly output: Writable;
}

/** Resolves when there is nothing more to do, whatever is under way. False: the parent has broken the protocol. */
export async function runChild({ input, output, ...parts }: ChildParts): Promise<boolean> {
  const send = (line: object): void => writeLine(output, line);
  const lines = new LineReader(input);
  let work: ChildWork | undefined;
  try {
    for (;;) {
      const line = await lines.next();
      if (line === undefined) return true;
      const said = parseParentLine(line);
      if (said !== undefined) take(said);
    }
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    send({ type: "error", error: error.message, code: error.code, transient: false });
    return false;
  }

  function take(line: ParentLine): void {
    switch (line.type) {
      case "init":
        checkInit(line, work);
        send({ type: "ready", version: PROTOCOL_VERSION });
        work = new ChildWork(line, { ...parts, send });
        return void carryOut(work);
      case "message":
        return work?.hear(line.content);
      case "tool_result":
        if (work?.takeResult(line) === false) throw refused(`nobody has requested "${line.id}"`);
        return;
      case "cancel": // may come when it is done
        return work?.cancel();
      case "ping":
        return send({ type: "pong" });
    }
  }

  async function carryOut(given: ChildWork): Promise<void> {
    const end = await given.run();
    work = undefined; // who hears that it is done may send the next
    send(end);
  }
}

function checkInit({ version }: { readonly version: number }, work: ChildWork | undefined): void {
  if (work !== undefined) throw refused("there is work already");
  if (version < 1 || version > PROTOCOL_VERSION)
    throw refused(`version ${version} is not 1 or ${PROTOCOL_VERSION}`);
}

function refused(why: string): CortexError {
  return new CortexError("sub_agent_failed", `The sub-agent cannot go on: ${why}`, {
    hint: "docs/sub-agent-protocol.md says what a parent may send, and when.",
  });
}

export interface ChildWorkParts {
  readonly send: (line: object) => void;
  readonly clock: () => number;
  /** Loads what it takes to ask the model of a profile. */
  readonly openModel: (profile: Profile, environment: Environment) => Promise<Model>;
  /** The profile of a name, with the variables that it may need. Rejects where there is none. */
  readonly findProfile: (name: string) => Promise<NamedProfile>;
}

type Environment = (name: string) => string | undefined;

export interface NamedProfile {
  readonly profile: Profile;
  readonly environment: Environment;
}

type ToolAnswer = Extract<ParentLine, { type: "tool_result" }>;

/** Of what was said and of results of tools, the last so many, and so much of each, are told when a limit is reached. */
const MAX_FOUND = 8;
const MAX_FOUND_LENGTH = 1_000;

/** That the model is at work is told at most so often. */
const PROGRESS_MS = 1_000;

export class ChildWork {
  readonly #init: Init;
  readonly #parts: ChildWorkParts;
  readonly #canceled = new AbortController();
  readonly #requested = new Map<string, (answer: ToolAnswer) => void>();
  #heard: string[] = [];
  readonly #found: string[] = [];
  #modelCalls: number;
  #minted = 0;
  #spent = NOTHING_SPENT;
  #toldAtMs = 0;

  constructor(init: Init, parts: ChildWorkParts) {
    this.#init = init;
    this.#parts = parts;
    const said = init.conversation?.current.messages ?? [];
    this.#modelCalls = said.filter(({ role }) => role === "assistant").length;
  }

  hear(content: string): void {
    this.#heard.push(content);
  }

  /** False: nobody has asked for it. */
  takeResult(answer: ToolAnswer): boolean {
    const resolve = this.#requested.get(answer.id);
    resolve?.(answer);
    return this.#requested.delete(answer.id);
  }

  cancel(): void {
    this.#canceled.abort();
  }

  /** Gives the line that ends it. Never rejects. */
  async run(): Promise<object> {
    const { clock, openModel } = this.#parts;
    const startedMs = clock();
    try {
      const { credentials } = this.#init.agentConfig;
      const { profile, environment } = await this.#findProfile();
      const model = await openModel(profile, (name) => credentials[name] ?? environment(name));
      const agent = createLoopAgent({ model, clock, mintId: () => this.#mintId() });
      const result = await agent.run(this.#request(profile));
      const answer = answerOf(result);
      if (answer !== undefined) this.#count(answer);
      const isCut = answer !== undefined && endedAtLimit([answer]);
      const success = result.kind === "done" && !isCut;
      const response = answer?.content ?? "";
      const durationMs = clock() - startedMs;
      const limit = isCut && { limit: "maxTurns", error: `Limit reached: maxTurns ${this.#maxTurns}` };
      return {
        type: "done",
        result: { success, response, ...limit, ...spentOf(this.#spent), durationMs },
        ...(answer !== undefined && { message: answer }),
      };
    } catch (error) {
      return { type: "error", ...describe(error), ...spentOf(this.#spent) };
    }
  }

  #request(profile: Profile): AgentRequest {
    const { config, agentConfig, conversation } = this.#init;
    const current = conversation?.current ?? {
      messages: [this.#userMessage(config.instruction)],
      toolCalls: [],
    };
    return {
      profile,
      session: config.id as SessionKey,
      agent: agentConfig.name as AgentId,
      turn: "answer" as TurnId,
      system: agentConfig.systemPrompt,
      history: conversation?.history ?? [],
      current,
      tools: agentConfig.tools,
      signal: this.#canceled.signal,
      beforeModelCall: async () => this.#beforeModelCall(),
      record: async (message) => {
        this.#count(message);
        this.#noteFound(message.content);
        this.#parts.send({ type: "message", message });
      },
      callTool: (call, ordinal) => this.#callTool(call, ordinal),
      onDelta: (delta) => this.#onDelta(delta),
      onProgress: () => this.#onProgress(),
    };
  }

  /** The parent counts too, and comes first; a child that is given to somebody else's parent still ends. */
  #beforeModelCall(): Continuation {
    if (this.#modelCalls >= this.#maxTurns) {
      const why = `I stopped here: the model was asked ${count(this.#modelCalls, "time")}.`;
      const found =
        this.#found.length === 0
          ? "Nothing was found so far."
          : `Found so far:\n\n${this.#found.join("\n\n")}`;
      return {
        kind: "stop",
        text: `${why} (Limit \`maxTurns\` of this sub-agent: ${this.#maxTurns}.)\n\n${found}`,
      };
    }
    this.#modelCalls++;
    return { kind: "go", messages: this.#heard.splice(0).map((content) => this.#userMessage(content)) };
  }

  async #callTool({ id, name, arguments: params }: CallBlock, ordinal: number): Promise<CallOutcome> {
    const { clock, send } = this.#parts;
    const startedAtMs = clock();
    const answered = new Promise<ToolAnswer>((resolve) => this.#requested.set(id, resolve));
    const canceled = new Promise<undefined>((resolve) => {
      this.#canceled.signal.addEventListener("abort", () => resolve(undefined), { once: true });
    });
    if (this.#canceled.signal.aborted) return { kind: "park" };
    send({ type: "tool_request", id, name, arguments: params });
    const answer = await Promise.race([answered, canceled]);
    if (answer === undefined) return { kind: "park" };
    const { text, isError } = answer;
    if (!isError) this.#noteFound(`${name}: ${text}`);
    const status = isError ? "error" : "ok";
    const result = { text, isError };
    const completedAtMs = clock();
    return {
      kind: "done",
      call: { ordinal, callId: id, tool: name, params, status, result, startedAtMs, completedAtMs },
    };
  }

  get #maxTurns(): number {
    return this.#init.agentConfig.maxTurns ?? Infinity;
  }

  /** A whole profile has all that it needs in `credentials`. */
  async #findProfile(): Promise<NamedProfile> {
    const { profile } = this.#init.agentConfig;
    if (typeof profile !== "string") return { profile, environment: () => undefined };
    if (profile === OFFLINE_PROFILE.name) return { profile: OFFLINE_PROFILE, environment: () => undefined };
    return this.#parts.findProfile(profile);
  }

  #onDelta({ kind, text }: Delta): void {
    this.#toldAtMs = this.#parts.clock();
    this.#parts.send({ type: "chunk", delta: text, ...(kind === "thinking" && { kind }) });
  }

  #onProgress(): void {
    const nowMs = this.#parts.clock();
    if (nowMs - this.#toldAtMs < PROGRESS_MS) return;
    this.#toldAtMs = nowMs;
    this.#parts.send({ type: "chunk", delta: "" });
  }

  #count(message: Message): void {
    const { usage = NOTHING_SPENT.usage, costUsd = 0 } = assistantBody(message);
    this.#spent = addSpent(this.#spent, { usage, costUsd });
  }

  /** For whoever is told that a limit was reached. */
  #noteFound(text: string): void {
    if (text.trim() === "") return;
    this.#found.push(text.trim().slice(0, MAX_FOUND_LENGTH).toWellFormed());
    if (this.#found.length > MAX_FOUND) this.#found.shift();
  }

  #userMessage(content: string): Message {
    return { id: this.#mintId() as MessageId, role: "user", content, atMs: this.#parts.clock() };
  }

  /** Only this process knows them: the parent has ids of its own. */
  #mintId(): string {
    return `child-${++this.#minted}`;
  }
}

function answerOf(result: AgentResult): Message | undefined {
  if (result.kind === "done") return result.answer;
  return result.kind === "aborted" ? result.partial : undefined;
}

function describe(error: unknown): object {
  if (!(error instanceof CortexError)) return { error: String(error) };
  const { code, message, hint, transient, retryAfterMs } = error;
  return { error: message, code, hint, transient, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}
