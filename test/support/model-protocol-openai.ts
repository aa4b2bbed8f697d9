/** OpenAI's chat completions. */
import type { Json } from "../../src/model/json.ts";
import {
  type Answer,
  type Content,
  halves,
  type Piece,
  piece,
  type Protocol,
  said,
  written,
} from "./model-protocol.ts";

interface Body {
  readonly messages: readonly {
    readonly role: "system" | "developer" | "user" | "assistant" | "tool";
    readonly content?: Content;
    readonly tool_calls?: readonly {
      readonly id: string;
      readonly function: { name: string; arguments: string };
    }[];
    readonly tool_call_id?: string;
  }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

export const openai: Protocol = {
  path: /\/chat\/completions$/,

  read(body) {
    const { messages, tools = [] } = body as Body;
    return {
      messages: messages.map(({ role, content, tool_calls = [], tool_call_id: callId }) => {
        const calls = tool_calls.map((call) => ({
          id: call.id,
          name: call.function.name,
          arguments: JSON.parse(call.function.arguments) as Json,
        }));
        const more = callId === undefined ? { calls } : { callId };
        return said(role === "developer" ? "system" : role, content, more);
      }),
      tools: tools.map((tool) => tool.function.name),
    };
  },

  pieces({ id, model, thinking, text, calls, stop, usage }) {
    const head = { id, object: "chat.completion.chunk", model };
    const chunk = (kind: Piece["kind"], delta: Json, finish: string | null = null): Piece =>
      piece(kind, { ...head, choices: [{ index: 0, delta, finish_reason: finish }] });
    return [
      chunk("start", { role: "assistant", content: "" }),
      ...halves(thinking).map((half) => chunk("thinking", { reasoning_content: half })),
      ...halves(text).map((half) => chunk("text", { content: half })),
      ...calls.flatMap((call, index) =>
        halves(written(call)).map((half, at) => {
          const begin = { id: call.id, type: "function", function: { name: call.name, arguments: half } };
          const more = { function: { arguments: half } };
          return chunk("call", { tool_calls: [{ index, ...(at === 0 ? begin : more) }] });
        }),
      ),
      chunk("end", {}, finishReason(stop)),
      piece("end", { ...head, choices: [], usage: counted(usage) }),
      { kind: "end", data: "data: [DONE]\n\n" },
    ];
  },

  whole({ id, model, text, calls, stop, usage }) {
    const toolCalls = calls.map((call) => ({
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: written(call) },
    }));
    const message = { role: "assistant", content: text, tool_calls: toolCalls };
    return {
      id,
      object: "chat.completion",
      model,
      choices: [{ index: 0, message, finish_reason: finishReason(stop) }],
      usage: counted(usage),
    };
  },
};

function finishReason(stop: Answer["stop"]): string {
  return stop === "tools" ? "tool_calls" : stop;
}

function counted({ input, output, cacheRead }: Answer["usage"]): Json {
  return {
    prompt_tokens: input + cacheRead,
    completion_tokens: output,
    total_tokens: input + cacheRead + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
  };
}
