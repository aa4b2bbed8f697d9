import type { Json } from "./json.ts";
import type { MessageId } from "./ids.ts";

export type Role = "user" | "assistant" | "tool" | "system";

/** One piece of content. */
export interface Message {
  readonly id: MessageId;
  readonly role: Role;
  /** What a person would read. */
  readonly content: string;
  /**
   * All that an agent's engine needs to play the message back exactly: content blocks, thinking,
   * signatures, usage. Nothing but that engine looks inside. Absent where `content` says it all.
   */
  readonly body?: Json;
  readonly atMs: number;
}

/** `unknown`: the call had begun when the process died and nobody can say whether it took effect. */
export type ToolStatus = "started" | "ok" | "error" | "unknown" | "skipped" | "aborted";

export interface ToolCall {
  /** The place of the call within its turn, counted from 0. */
  readonly ordinal: number;
  /** The id that the model gave to the call. */
  readonly callId: string;
  readonly tool: string;
  readonly params: Json;
  readonly status: ToolStatus;
  readonly result?: Json;
  readonly startedAtMs: number;
  readonly completedAtMs?: number;
  /** The session of the worker that the call started. */
  readonly childSession?: string;
}
