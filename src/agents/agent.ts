/**
 * The port of whatever runs a turn. An agent receives the conversation and its permissions, and works until it has an
 * answer. It keeps no state: everything that must survive goes through the request, which records it before the agent
 * continues. So an agent that receives the journal of an interrupted turn simply continues it.
 */
import type { AgentId, TurnId } from "../model/ids.ts";
import type { AssistantBody, CallBlock, Message, ToolCall } from "../model/message.ts";
import type { Profile } from "../model/profile.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Tool } from "../model/tool.ts";

export interface Agent {
  readonly capabilities: Capabilities;
  /**
   * Runs a turn to its end. Rejects with a CortexError if the model failed: `transient` says whether to retry. May be
   * called for several turns at once.
   */
  run(request: AgentRequest): Promise<AgentResult>;
  /** Keeps a conversation within the model's context window. Absent: the agent does that itself. */
  readonly context?: ContextControl;
}

interface ContextControl {
  /** The size of the context window, in tokens. */
  window(profile: Profile): Promise<number>;
  /** Asks for a summary, without tools. Aborts and fails like `Model.ask`. */
  summarize(request: SummaryRequest): Promise<AssistantBody>;
}

export type SummaryRequest = Omit<Question, "tools" | "purpose">;

/** What the broker may ask of an agent. Without a capability, it does the next best thing. */
interface Capabilities {
  /** Accepts messages during a turn. */
  readonly steer: boolean;
  /** Continues an interrupted turn from its journal without asking for anything again. */
  readonly replay: boolean;
  /** Can stop at a tool call and continue hours later. */
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
  /** The turn so far: at first the query, after a crash everything in the journal. */
  readonly current: Exchange;
  readonly tools: readonly ToolDescription[];
  /** Aborts the turn. The partial answer is returned in an aborted result. */
  readonly signal: AbortSignal;

  /** Called before every model call: returns the messages that have arrived, and may end the turn. */
  beforeModelCall(): Promise<Continuation>;
  /** Records an assistant message with tool calls. No tool runs before this resolves. */
  record(message: Message): Promise<void>;
  /** Makes a call that has no outcome yet. A failing tool is an outcome, never a rejection. */
  callTool(call: CallBlock, ordinal: number): Promise<CallOutcome>;
  /** Streams the answer to observers. Never stored. */
  onDelta(delta: Delta): void;
  /** Reports progress that is not shown, such as the arguments of a call being written. */
  onProgress?(): void;
}

/** Messages in chronological order, and the outcomes of the calls in them. */
export interface Exchange {
  readonly messages: readonly Message[];
  readonly toolCalls: readonly ToolCall[];
}

export type ToolDescription = Pick<Tool, "name" | "description" | "parameters">;

export type Continuation =
  /** Call the model with these additional messages, which are already in the journal. */
  | { readonly kind: "go"; readonly messages: readonly Message[] }
  /** A limit was reached: the turn ends with this answer. */
  | { readonly kind: "stop"; readonly text: string }
  /** Stop here; another holder continues from the journal. */
  | { readonly kind: "park" };

export type CallOutcome =
  | { readonly kind: "done"; readonly call: ToolCall }
  /** The remaining calls are still made; then the turn waits. */
  | { readonly kind: "suspended" }
  | { readonly kind: "park" };

export type Delta =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking"; readonly text: string };

export type AgentResult =
  /** The answer, not yet recorded. Its id is the turn's. */
  | { readonly kind: "done"; readonly answer: Message }
  | { readonly kind: "suspended" }
  | { readonly kind: "parked" }
  /** With the partial answer, if any. */
  | { readonly kind: "aborted"; readonly partial: Message | undefined };

/** The port of a single model call, which most backends consist of. `loop.ts` makes an agent of it. */
export interface Model {
  /**
   * Asks the model once. If aborted, it resolves with the partial answer and stop `aborted`. Rejects with a CortexError:
   * `model_failed` (transient if a retry makes sense), `model_unconfigured` or another problem of the profile, or
   * `context_overflow` if the question exceeds the model's window.
   */
  ask(question: Question): Promise<AssistantBody>;
  /** How many tokens a question and its answer may have together. Absent: unknown. */
  window?(profile: Profile): Promise<number>;
}

/** How deep the arguments of a call may be nested: with the message around them, less than the ledger allows. */
export const MAX_ARGUMENTS_DEPTH = 100;

export interface Question {
  readonly profile: Profile;
  readonly system: string;
  /** The whole conversation, oldest first; every call in it has its outcome. */
  readonly exchanges: readonly Exchange[];
  readonly tools: readonly ToolDescription[];
  /** Keys the provider's prompt cache. */
  readonly session: SessionKey;
  readonly agent: AgentId;
  /** The question is not part of a turn: it asks for a summary of the conversation. */
  readonly purpose?: "summary";
  readonly signal: AbortSignal;
  onDelta(delta: Delta): void;
  onProgress?(): void;
}
