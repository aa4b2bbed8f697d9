/** Google's generateContent, streaming. */
import type { Json } from "../../src/model/json.ts";
import { type AskedMessage, halves, type Piece, piece, type Protocol, said } from "./model-protocol.ts";

interface Part {
  readonly text?: string;
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args: Json };
  readonly functionResponse?: { readonly id?: string; readonly response: Readonly<Record<string, string>> };
}

interface ContentOf {
  readonly role?: string;
  readonly parts: readonly Part[];
}

interface Body {
  readonly systemInstruction?: ContentOf;
  readonly contents: readonly ContentOf[];
  readonly tools?: readonly { readonly functionDeclarations: readonly { readonly name: string }[] }[];
}

export const google: Protocol = {
  path: /\/models\/(?<model>[^/:]+):streamGenerateContent$/,

  read(body) {
    const { systemInstruction, contents, tools = [] } = body as Body;
    const system = systemInstruction === undefined ? [] : [said("system", systemInstruction.parts)];
    return {
      messages: [...system, ...contents.flatMap(readContent)],
      tools: tools.flatMap(({ functionDeclarations }) => functionDeclarations.map(({ name }) => name)),
    };
  },

  pieces({ id, model, thinking, text, calls, stop, usage }) {
    const usageMetadata = {
      promptTokenCount: usage.input + usage.cacheRead,
      candidatesTokenCount: usage.output,
      cachedContentTokenCount: usage.cacheRead,
    };
    const chunk = (kind: Piece["kind"], parts: readonly Json[], finishReason?: string): Piece => {
      const candidate = { content: { role: "model", parts }, ...(finishReason && { finishReason }) };
      return piece(kind, { responseId: id, modelVersion: model, candidates: [candidate], usageMetadata });
    };
    return [
      ...halves(thinking).map((half) => chunk("thinking", [{ text: half, thought: true }])),
      ...halves(text).map((half) => chunk("text", [{ text: half }])),
      ...calls.map((call) =>
        chunk("call", [{ functionCall: { id: call.id, name: call.name, args: call.arguments } }]),
      ),
      chunk("end", [], stop === "length" ? "MAX_TOKENS" : "STOP"),
    ];
  },
};

function readContent({ role, parts }: ContentOf): AskedMessage[] {
  const results = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
  if (results.length > 0) {
    return results.map(({ id = "", response }) =>
      said("tool", Object.values(response).join(""), { callId: id }),
    );
  }
  const called = parts.flatMap(({ functionCall }) => functionCall ?? []);
  const calls = called.map(({ id = "", name, args }) => ({ id, name, arguments: args }));
  return [said(role === "model" ? "assistant" : "user", parts, { calls })];
}
