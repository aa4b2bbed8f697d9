import type { Exchange, Question } from "../../src/agents/agent.ts";
import { DEFAULT_AGENT, type MessageId } from "../../src/model/ids.ts";
import type { Json } from "../../src/model/json.ts";
import type { AssistantBody, Message, ToolCall } from "../../src/model/message.ts";
import type { Profile } from "../../src/model/profile.ts";
import type { SessionKey } from "../../src/model/session-key.ts";
import { NO_USAGE } from "../../src/model/usage.ts";

/** A question to a model, of which a test says only what matters to it. */
export function question(profile: Partial<Profile>, more: Partial<Question> = {}): Question {
  return {
    profile: { name: "tested", backend: "pi", fallback: [], ...profile },
    system: "Be brief.",
    exchanges: [exchange([userMessage("Hello")])],
    tools: [],
    session: "agent:main:telegram:dm:4711" as SessionKey,
    agent: DEFAULT_AGENT,
    signal: new AbortController().signal,
    onDelta: () => {},
    ...more,
  };
}

export function exchange(messages: readonly Message[], toolCalls: readonly ToolCall[] = []): Exchange {
  return { messages, toolCalls };
}

export function userMessage(content: string, body?: Json): Message {
  const id = `user-${content}` as MessageId;
  return { id, role: "user", content, atMs: 1, ...(body !== undefined && { body }) };
}

export function assistantMessage(
  blocks: AssistantBody["blocks"],
  more: Partial<AssistantBody> = {},
): Message {
  const body: AssistantBody = {
    blocks,
    stop: "stop",
    provider: "other",
    model: "other",
    usage: NO_USAGE,
    costUsd: null,
    ...more,
  };
  return { id: "a" as MessageId, role: "assistant", content: "", body, atMs: 2 };
}

export function toolCall(ordinal: number, more: Partial<ToolCall> = {}): ToolCall {
  return {
    ordinal,
    callId: `call-${ordinal}`,
    tool: "Read",
    params: {},
    status: "ok",
    startedAtMs: 3,
    completedAtMs: 4,
    ...more,
  };
}

/** The parameters of a tool that takes a path. */
export const READ_TOOL = {
  name: "Read",
  description: "Reads a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};
