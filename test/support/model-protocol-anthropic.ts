/** Anthropic's messages. */
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

type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: Json }
  | { readonly type: "tool_result"; readonly tool_use_id: string; readonly content: Content };

interface Body {
  readonly system?: Content;
  readonly messages: readonly {
    readonly role: "user" | "assistant";
    readonly content: string | readonly Block[];
  }[];
  readonly tools?: readonly { readonly name: string }[];
}

/** What thinking is signed with here. */
export const SIGNATURE = "c2lnbmVk";

const STOP_REASONS = { stop: "end_turn", length: "max_tokens", tools: "tool_use" };

export const anthropic: Protocol = {
  path: /\/v1\/messages$/,

  read(body) {
    const { system, messages, tools = [] } = body as Body;
    return {
      messages: [...(system === undefined ? [] : [said("system", system)]), ...messages.flatMap(readMessage)],
      tools: tools.map(({ name }) => name),
    };
  },

  pieces({ id, model, thinking, text, calls, stop, usage }) {
    let index = 0;
    const block = (kind: Piece["kind"], start: Json, deltas: readonly Json[]): Piece[] => {
      const at = { index: index++ };
      return [
        event("start", "content_block_start", { ...at, content_block: start }),
        ...deltas.map((delta) => event(kind, "content_block_delta", { ...at, delta })),
        event(kind, "content_block_stop", at),
      ];
    };
    const thoughts = halves(thinking).map((half) => ({ type: "thinking_delta", thinking: half }));
    const texts = halves(text).map((half) => ({ type: "text_delta", text: half }));
    const signature = { type: "signature_delta", signature: SIGNATURE };
    const counted = { input_tokens: usage.input, cache_read_input_tokens: usage.cacheRead, output_tokens: 1 };
    const message = { id, type: "message", role: "assistant", model, content: [], usage: counted };
    return [
      event("start", "message_start", { message }),
      event("start", "ping", {}),
      ...(thinking === ""
        ? []
        : block("thinking", { type: "thinking", thinking: "", signature: "" }, [...thoughts, signature])),
      ...(text === "" ? [] : block("text", { type: "text", text: "" }, texts)),
      ...calls.flatMap((call) =>
        block(
          "call",
          { type: "tool_use", id: call.id, name: call.name, input: {} },
          halves(written(call)).map((half) => ({ type: "input_json_delta", partial_json: half })),
        ),
      ),
      event("end", "message_delta", {
        delta: { stop_reason: STOP_REASONS[stop] },
        usage: { output_tokens: usage.output },
      }),
      event("end", "message_stop", {}),
    ];
  },
};

/** The results of calls come as the user's words in this protocol. */
function readMessage({ role, content }: Body["messages"][number]): AskedMessage[] {
  if (typeof content === "string") return [said(role, content)];
  const results = content.filter((block) => block.type === "tool_result");
  const rest = content.filter((block) => block.type !== "tool_result");
  const called = rest.filter((block) => block.type === "tool_use");
  const calls = called.map(({ id, name, input }) => ({ id, name, arguments: input }));
  const texts = rest.filter((block) => block.type === "text");
  return [
    ...results.map((result) => said("tool", result.content, { callId: result.tool_use_id })),
    ...(rest.length === 0 ? [] : [said(role, texts, { calls })]),
  ];
}
