/** From our conversation to pi's. */
import type {
  Context,
  Message as PiMessage,
  AssistantMessage,
  Tool,
  ToolResultMessage,
} from "@earendil-works/pi-ai";

import type { Json } from "../../model/json.ts";
import {
  assistantBody,
  type Block,
  callsOf,
  type CallBlock,
  type Message,
  promptText,
  type ToolCall,
} from "../../model/message.ts";
import type { ToolResult } from "../../model/tool.ts";
import type { Exchange, Question } from "../agent.ts";

/** What providers allow. */
const MAX_TOOL_NAME = 64;

export function toContext({
  system,
  exchanges,
  tools,
}: Pick<Question, "system" | "exchanges" | "tools">): Context {
  return {
    systemPrompt: system,
    messages: exchanges.flatMap(toMessages),
    tools: tools.map(({ name, description, parameters }) => ({
      name,
      description,
      parameters: parameters as unknown as Tool["parameters"],
    })),
  };
}

function toMessages({ messages, toolCalls }: Exchange): PiMessage[] {
  const outcomes = new Map(toolCalls.map((call) => [call.ordinal, call]));
  // The place of a call is counted over all messages of its exchange.
  let ordinal = 0;
  return messages.flatMap((message): PiMessage[] => {
    const timestamp = message.atMs;
    switch (message.role) {
      case "user":
        return [{ role: "user", content: promptText(message), timestamp }];
      case "system":
        return [{ role: "system", content: message.content, timestamp }];
      case "assistant":
        return [
          toAssistant(message),
          ...callsOf(message).map((call) => toResult(call, outcomes.get(ordinal++), timestamp)),
        ];
      case "tool":
        return []; // What a call led to stands with the call.
    }
  });
}

/**
 * pi keeps signatures only where protocol, provider and model are those that made them, and leaves
 * aborted messages out; what the user has seen of an answer is part of the conversation, so it is
 * given as a finished one.
 */
function toAssistant(message: Message): AssistantMessage {
  const { blocks, stop, api = "none", provider = "none", model = "none" } = assistantBody(message);
  const content = (stop === "aborted" ? blocks.filter(({ type }) => type === "text") : blocks).map(toContent);
  return {
    role: "assistant",
    content,
    api,
    provider,
    model,
    usage: NO_PI_USAGE,
    stopReason: content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop",
    timestamp: message.atMs,
  };
}

function toContent(block: Block): AssistantMessage["content"][number] {
  if (block.type !== "toolCall") return block;
  return { ...block, name: acceptable(block.name), arguments: asObject(block.arguments) };
}

/** A name that a model made up is told to it as it is, but providers refuse a conversation in which it stands. */
function acceptable(name: string): string {
  return name.replaceAll(/[^\w-]/g, "_").slice(0, MAX_TOOL_NAME) || "unnamed";
}

/** Arguments that were no JSON are kept as text, but providers take only objects back. */
function asObject(value: Json): { [key: string]: Json } {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as { [key: string]: Json }) : { unreadable_arguments: value };
}

/**
 * pi would say that there is no result. Whether a call may have taken effect is what the model must know: one
 * that was begun is in the ledger, so one that is not there was never made.
 */
const NO_OUTCOME = "The outcome of this call is unknown: it may or may not have taken effect.";
const NOT_MADE = "This call was not made.";

function toResult(call: CallBlock, outcome: ToolCall | undefined, timestamp: number): ToolResultMessage {
  const result = outcome?.result as ToolResult | undefined;
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: acceptable(call.name),
    content: [
      {
        type: "text",
        text: result?.text ?? (outcome === undefined || outcome.status === "skipped" ? NOT_MADE : NO_OUTCOME),
      },
    ],
    isError: outcome?.status !== "ok" || result === undefined || result.isError === true,
    timestamp,
  };
}

/** Tokens of earlier messages were counted when they were made. */
const NO_PI_USAGE: AssistantMessage["usage"] = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
