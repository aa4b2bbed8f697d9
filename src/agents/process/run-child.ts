/**
 * The child's side of the protocol: does one task after another until its input ends, which means that the parent is gone.
 * `ready` is sent before anything heavy is loaded.
 *
 * A task runs in the loop of every agent, with a model of its own. Tools belong to the parent: each call is requested, and
 * its outcome comes back.
 */
import type { Readable, Writable } from "node:stream";

import { CortexError } from "../../model/errors.ts";
import { readLines, writeLine } from "./lines.ts";
import { type Init, type ParentLine, parseParentLine, PROTOCOL_VERSION } from "./protocol.ts";
import { count } from "../../model/count.ts";
import type { AgentId, MessageId, TurnId } from "../../model/ids.ts";
import { assistantBody, type CallBlock, endedAtLimit, type Message } from "../../model/message.ts";
import { OFFLINE_PROFILE, type Profile } from "../../model/profile.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type { AgentRequest, AgentResult, CallOutcome, Continuation, Delta, Model } from "../agent.ts";
import { createLoopAgent } from "../loop.ts";
import { addSpent, NOTHING_SPENT, spentOf } from "./spent.ts";

interface ChildOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly clock: () => number;
  /** Loads and opens the model of a profile. */
  readonly openModel: (profile: Profile, environment: Environment) => Promise<Model>;
  /** Finds a profile by name, with the variables that it may need. Rejects if it is unknown. */
  readonly findProfile: (name: string) => Promise<NamedProfile>;
}

type Environment = (name: string) => string | undefined;

export interface NamedProfile {
  readonly profile: Profile;
  readonly environment: Environment;
}

/** Resolves at the end of the input, even during a task. False: the parent violated the protocol. */
export async function runChild({ input, output, ...options }: ChildOptions): Promise<boolean> {
  const send = (line: object): void => writeLine(output, line);
  const lines = readLines(input);
  let work: ChildWork | undefined;
  try {
    for (;;) {
      const line = await lines.next();
      if (line === undefined) return true;
      const parsed = parseParentLine(line);
      if (parsed !== undefined) take(parsed);
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
        work = new ChildWork(line, { ...options, send });
        return void carryOut(work);
      case "message":
        return work?.hear(line.content);
      case "tool_result":
        if (work?.takeResult(line) === false) throw refused(`"${line.id}" was not requested`);
        return;
      case "cancel": // may arrive after the task is done
        return work?.cancel();
      case "ping":
        return send({ type: "pong" });
    }
  }

  async function carryOut(task: ChildWork): Promise<void> {
    const end = await task.run();
    work = undefined; // the parent may send the next task once it has read `end`
    send(end);
  }
}

function checkInit({ version }: { readonly version: number }, work: ChildWork | undefined): void {
  if (work !== undefined) throw refused("it is already working");
  if (version < 1 || version > PROTOCOL_VERSION)
    throw refused(`expected protocol version 1 or ${PROTOCOL_VERSION}, got ${version}`);
}

function refused(why: string): CortexError {
  return new CortexError("sub_agent_failed", `The sub-agent cannot continue: ${why}`, {
    hint: "See docs/sub-agent-protocol.md for the allowed messages.",
  });
}

/** The tools and the streams of a task are its parent's, reached by `send`. */
interface TaskHost extends Omit<ChildOptions, "input" | "output"> {
  readonly send: (line: object) => void;
}

type ToolAnswer = Extract<ParentLine, { type: "tool_result" }>;

/** After a limit, the answer quotes the last messages and tool results: how many, and how much of each. */
const MAX_FINDINGS = 8;
const MAX_FINDING_LENGTH = 1_000;

/** The interval of progress reports while the model works. */
const PROGRESS_MS = 1_000;

class ChildWork {
  readonly #init: Init;
  readonly #host: TaskHost;
  readonly #canceled = new AbortController();
  readonly #requested = new Map<string, (answer: ToolAnswer) => void>();
  #incoming: string[] = [];
  readonly #findings: string[] = [];
  #modelCalls: number;
  #minted = 0;
  #spent = NOTHING_SPENT;
  #reportedAtMs = 0;

  constructor(init: Init, host: TaskHost) {
    this.#init = init;
    this.#host = host;
    const messages = init.conversation?.current.messages ?? [];
    this.#modelCalls = messages.filter(({ role }) => role === "assistant").length;
  }

  hear(content: string): void {
    this.#incoming.push(content);
  }

  /** False: it was not requested. */
  takeResult(answer: ToolAnswer): boolean {
    const resolve = this.#requested.get(answer.id);
    resolve?.(answer);
    return this.#requested.delete(answer.id);
  }

  cancel(): void {
    this.#canceled.abort();
  }

  /** Returns the final line. Never rejects. */
  async run(): Promise<object> {
    const { clock, openModel } = this.#host;
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
        this.#noteFinding(message.content);
        this.#host.send({ type: "message", message });
      },
      callTool: (call, ordinal) => this.#callTool(call, ordinal),
      onDelta: (delta) => this.#onDelta(delta),
      onProgress: () => this.#onProgress(),
    };
  }

  /** Our parent also counts, and stops first. With a third-party parent, the child must stop by itself. */
  #beforeModelCall(): Continuation {
    if (this.#modelCalls >= this.#maxTurns) {
      const why = `I stopped here: this task made ${count(this.#modelCalls, "model call")}.`;
      const findings =
        this.#findings.length === 0
          ? "No findings so far."
          : `Found so far:\n\n${this.#findings.join("\n\n")}`;
      return {
        kind: "stop",
        text: `${why} (Limit \`maxTurns\` of this sub-agent: ${this.#maxTurns}.)\n\n${findings}`,
      };
    }
    this.#modelCalls++;
    return { kind: "go", messages: this.#incoming.splice(0).map((content) => this.#userMessage(content)) };
  }

  async #callTool({ id, name, arguments: params }: CallBlock, ordinal: number): Promise<CallOutcome> {
    const { clock, send } = this.#host;
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
    if (!isError) this.#noteFinding(`${name}: ${text}`);
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

  /** A profile that was sent in full finds everything it needs in `credentials`. */
  async #findProfile(): Promise<NamedProfile> {
    const { profile } = this.#init.agentConfig;
    if (typeof profile !== "string") return { profile, environment: () => undefined };
    if (profile === OFFLINE_PROFILE.name) return { profile: OFFLINE_PROFILE, environment: () => undefined };
    return this.#host.findProfile(profile);
  }

  #onDelta({ kind, text }: Delta): void {
    this.#reportedAtMs = this.#host.clock();
    this.#host.send({ type: "chunk", delta: text, ...(kind === "thinking" && { kind }) });
  }

  #onProgress(): void {
    const nowMs = this.#host.clock();
    if (nowMs - this.#reportedAtMs < PROGRESS_MS) return;
    this.#reportedAtMs = nowMs;
    this.#host.send({ type: "chunk", delta: "" });
  }

  #count(message: Message): void {
    const { usage = NOTHING_SPENT.usage, costUsd = 0 } = assistantBody(message);
    this.#spent = addSpent(this.#spent, { usage, costUsd });
  }

  /** Kept for the answer after a limit. */
  #noteFinding(text: string): void {
    if (text.trim() === "") return;
    this.#findings.push(text.trim().slice(0, MAX_FINDING_LENGTH).toWellFormed());
    if (this.#findings.length > MAX_FINDINGS) this.#findings.shift();
  }

  #userMessage(content: string): Message {
    return { id: this.#mintId() as MessageId, role: "user", content, atMs: this.#host.clock() };
  }

  /** Known only to this process: the parent uses its own ids. */
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
