/** Messages and calls, for tests of what reads a conversation. Ids are counted within it. */
import type { Exchange } from "../../src/agents/agent.ts";
import type { MessageId } from "../../src/model/ids.ts";
import type { Json } from "../../src/model/json.ts";
import type { CallBlock, Message, ToolCall, ToolStatus } from "../../src/model/message.ts";

type Part = Omit<Message, "id" | "atMs">;

export function user(content: string, envelope?: string): Part {
  return { role: "user", content, ...(envelope === undefined ? {} : { body: { envelope } }) };
}

/** What the assistant said, and the tools that it wanted called. */
export function assistant(content: string, ...tools: readonly string[]): Part {
  const calls = tools.map((name, at) => ({ type: "toolCall", id: `${name}-${at}`, name, arguments: {} }));
  const blocks: Json[] = content === "" ? calls : [{ type: "text", text: content }, ...calls];
  return { role: "assistant", content, body: { blocks } };
}

export function exchange(parts: readonly Part[], toolCalls: readonly ToolCall[] = [], name = "m"): Exchange {
  const messages = parts.map((part, at) => ({ ...part, id: `${name}${at}` as MessageId, atMs: at }));
  return { messages, toolCalls };
}

export function outcome(
  call: Pick<CallBlock, "id" | "name" | "arguments">,
  ordinal: number,
  text: string,
  status: ToolStatus = "ok",
): ToolCall {
  const { id: callId, name: tool, arguments: params } = call;
  return { ordinal, callId, tool, params, status, result: { text }, startedAtMs: 0, completedAtMs: 1 };
}
