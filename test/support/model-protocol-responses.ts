/** OpenAI's responses. */
import type { Json } from "../../src/model/json.ts";
import {
  type AskedMessage,
  type Content,
  event,
  halves,
  type Piece,
  type Protocol,
  said,
  written,
} from "./model-protocol.ts";

type Item =
  | {
      readonly type?: "message";
      readonly role: "system" | "developer" | "user" | "assistant";
      readonly content: Content;
    }
  | {
      readonly type: "function_call";
      readonly call_id: string;
      readonly name: string;
      readonly arguments: string;
    }
  | { readonly type: "function_call_output"; readonly call_id: string; readonly output: Content }
  | { readonly type: "reasoning" };

interface Body {
  readonly input: readonly Item[];
  readonly tools?: readonly { readonly name: string }[];
}

export const responses: Protocol = {
  path: /\/responses$/,

  read(body) {
    const { input, tools = [] } = body as Body;
    return { messages: input.reduce(addItem, []), tools: tools.map(({ name }) => name) };
  },

  pieces({ id, thinking, text, calls, stop, usage }) {
    const items = [
      ...(thinking === "" ? [] : [reasoningItem(thinking)]),
      ...(text === "" ? [] : [messageItem(text)]),
      ...calls.map((call, index) => callItem(`fc_${index}`, call.id, call.name, written(call))),
    ];
    const response = {
      id,
      status: stop === "length" ? "incomplete" : "completed",
      ...(stop === "length" && { incomplete_details: { reason: "max_output_tokens" } }),
      output: items.map(({ item }) => item),
      usage: {
        input_tokens: usage.input + usage.cacheRead,
        input_tokens_details: { cached_tokens: usage.cacheRead },
        output_tokens: usage.output,
      },
    };
    return [
      event("start", "response.created", { response: { id } }),
      ...items.flatMap(itemPieces),
      event("end", stop === "length" ? "response.incomplete" : "response.completed", { response }),
    ];
  },
};

interface OutputItem {
  readonly kind: Piece["kind"];
  readonly deltaType: string;
  readonly delta: string;
  readonly empty: { readonly [key: string]: Json };
  readonly item: { readonly [key: string]: Json };
}

function itemPieces({ kind, empty, deltaType, delta, item }: OutputItem, index: number): Piece[] {
  const at = { output_index: index };
  return [
    event("start", "response.output_item.added", { ...at, item: empty }),
    ...halves(delta).map((half) => event(kind, deltaType, { ...at, delta: half })),
    event(kind, "response.output_item.done", { ...at, item }),
  ];
}

function reasoningItem(thinking: string): OutputItem {
  const empty = { type: "reasoning", id: "rs_1", summary: [] };
  const item = { ...empty, summary: [{ type: "summary_text", text: thinking }] };
  return {
    kind: "thinking",
    deltaType: "response.reasoning_summary_text.delta",
    delta: thinking,
    empty,
    item,
  };
}

function messageItem(text: string): OutputItem {
  const empty = { type: "message", id: "msg_1", role: "assistant", content: [] };
  const item = { ...empty, content: [{ type: "output_text", text }] };
  return { kind: "text", deltaType: "response.output_text.delta", delta: text, empty, item };
}

function callItem(id: string, callId: string, name: string, args: string): OutputItem {
  const empty = { type: "function_call", id, call_id: callId, name, arguments: "" };
  const item = { ...empty, arguments: args };
  return { kind: "call", deltaType: "response.function_call_arguments.delta", delta: args, empty, item };
}

/** Calls are items of their own here; they belong to the message before them. */
function addItem(messages: readonly AskedMessage[], item: Item): AskedMessage[] {
  if (item.type === "reasoning") return [...messages];
  if (item.type === "function_call_output") {
    return [...messages, said("tool", item.output, { callId: item.call_id })];
  }
  if (item.type !== "function_call") {
    return [...messages, said(item.role === "developer" ? "system" : item.role, item.content)];
  }
  const call = { id: item.call_id, name: item.name, arguments: JSON.parse(item.arguments) as Json };
  const last = messages.at(-1);
  if (last?.role !== "assistant") return [...messages, said("assistant", "", { calls: [call] })];
  return [...messages.slice(0, -1), { ...last, calls: [...last.calls, call] }];
}
