/**
 * What runs a turn. An agent is given the conversation and what it may do, and works until it has an
 * answer. It keeps nothing: all that must survive goes through the request, which writes it down before
 * the agent goes on. So an agent that is given the journal of a turn that was cut off simply continues.
 */
import type { AgentId, TurnId } from "../model/ids.ts";
import type { AssistantBody, CallBlock, Message, ToolCall } from "../model/message.ts";
import type { Profile } from "../model/profile.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Tool } from "../model/tool.ts";

export interface Agent {
  readonly capabilities: Capabilities;
  /**
   * Runs a turn to its end. Rejects with a CortexError where the model failed: `transient` says whether
   * another attempt makes sense. May be called for several turns at once.
   */
  run(request: AgentRequest): Promise<AgentResult>;
  /** What it takes to keep a conversation within the model's window. Absent: the agent sees to that itself. */
  readonly context?: ContextControl;
}

interface ContextControl {
  /** How many tokens a conversation may have. */
  window(profile: Profile): Promise<number>;
  /** Asks for a text, with no tools. Aborting and failing are as in `Model.ask`. */
  summarize(request: SummaryRequest): Promise<AssistantBody>;
}

export type SummaryRequest = Omit<Question, "tools" | "purpose">;

/** What the broker may ask of an agent; it does the next best thing without. */
interface Capabilities {
  /** Takes messages into the turn that is under way. */
  readonly steer: boolean;
  /** Goes on with the journal of a turn that was cut off, asking for nothing again. */
  readonly replay: boolean;
  /** Can stop at a tool call and go on hours later. */
  readonly suspend: boolean;
}

export interface AgentRequest {
  readonly profile: Profile;
  readonly session: SessionKey;
  readonly agent: AgentId;
  readonly turn: TurnId;
  readonly system: string;
  /** The turns before this one, oldest first. */
  readonly history: readonly Exchange[];
  /** What this turn holds already: at first the query, after a crash all that was journalled. */
  readonly current: Exchange;
  readonly tools: readonly ToolDescription[];
  /** Aborts the turn. Whatever was produced is given back as an aborted result. */
  readonly signal: AbortSignal;

  /**
   * Before every call of the model: takes in what has arrived, and may end the turn.
   */
  beforeModelCall(): Promise<Continuation>;
  /** Writes an assistant message with tool calls down. No tool runs before this has resolved. */
  record(message: Message): Promise<void>;
  /** Makes a call that has no outcome yet. What the tool does is never a rejection. */
  callTool(call: CallBlock, ordinal: number): Promise<CallOutcome>;
  /** For whoever watches. Never stored. */
  onDelta(delta: Delta): void;
  /** Told of what is not shown, such as the arguments of a call while they are written. */
  onProgress?(): void;
}

/** Messages in the order in which they were said, and what the calls among them led to. */
export interface Exchange {
  readonly messages: readonly Message[];
  readonly toolCalls: readonly ToolCall[];
}

export type ToolDescription = Pick<Tool, "name" | "description" | "parameters">;

export type Continuation =
  /** Call the model, with these further messages, which are in the journal already. */
  | { readonly kind: "go"; readonly messages: readonly Message[] }
  /** A limit was reached: the turn ends with this answer. */
  | { readonly kind: "stop"; readonly text: string }
  /** Leave it here; somebody else will go on from the journal. */
  | { readonly kind: "park" };

export type CallOutcome =
  | { readonly kind: "done"; readonly call: ToolCall }
  /** The calls after it are still made; then the turn waits. */
  | { readonly kind: "suspended" }
  | { readonly kind: "park" };

export type Delta =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking"; readonly text: string };

export type AgentResult =
  /** The answer, which is not recorded yet. Its id is the turn's. */
  | { readonly kind: "done"; readonly answer: Message }
  | { readonly kind: "suspended" }
  | { readonly kind: "parked" }
  /** With as much of an answer as there was. */
  | { readonly kind: "aborted"; readonly partial: Message | undefined };

/** One call of a model: what most backends are made of. The loop around it is `loop.ts`. */
export interface Model {
  /**
   * Asks the model once. Aborting resolves with what there was, stop `aborted`. Rejects with a
   * CortexError `model_failed` (transient where trying again makes sense) or `model_unconfigured`, or what
   * is wrong with the profile; with `context_overflow` where the question is longer than the model takes.
   */
  ask(question: Question): Promise<AssistantBody>;
  /** How many tokens a question and its answer may have. Absent: nobody knows. */
  window?(profile: Profile): Promise<number>;
}

export interface Question {
  readonly profile: Profile;
  readonly system: string;
  /** All that was said, oldest first; every call among them has its outcome. */
  readonly exchanges: readonly Exchange[];
  readonly tools: readonly ToolDescription[];
  /** For the provider's prompt cache. */
  readonly session: SessionKey;
  readonly agent: AgentId;
  /** The question is not part of a turn: what was said is to be summed up. */
  readonly purpose?: "summary";
  readonly signal: AbortSignal;
  onDelta(delta: Delta): void;
  onProgress?(): void;
}
