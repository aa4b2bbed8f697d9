import type { Exchange } from "../agents/agent.ts";
import { CHARACTERS_PER_TOKEN } from "../agents/estimate-tokens.ts";
import { callsOf, type ToolCall } from "../model/message.ts";
import type { ToolResult } from "../model/tool.ts";

/** What is left of a result that the model has worked with already, in characters. */
export const OLD_RESULT_LENGTH = 300;
/** How much of the window the results may take that the model has not seen yet. */
const NEW_RESULTS_SHARE = 0.25;
const NOTE = "\n(Cut here: the conversation was longer than the model takes.)";

/** A turn with less of what its tools have said: what the model is given, not what is in the ledger. */
export function shortenResults({ messages, toolCalls }: Exchange, room: number): Exchange {
  const newest = messages.findLast((message) => callsOf(message).length > 0);
  const newestCount = newest === undefined ? 0 : callsOf(newest).length;
  const total = messages.flatMap(callsOf).length;
  const newLength = (room * CHARACTERS_PER_TOKEN * NEW_RESULTS_SHARE) / Math.max(1, newestCount);
  return {
    messages,
    toolCalls: toolCalls.map((call) =>
      shorten(call, call.ordinal < total - newestCount ? OLD_RESULT_LENGTH : newLength),
    ),
  };
}

function shorten(call: ToolCall, maxLength: number): ToolCall {
  const result = call.result as ToolResult | undefined;
  if (result === undefined || result.text.length <= maxLength) return call;
  const text = result.text.slice(0, Math.ceil(maxLength)).toWellFormed() + NOTE;
  return { ...call, result: { ...result, text } };
}
