/**
 * Translates between our form of a conversation and pi's: questions on their way out, answers as they arrive.
 *
 * Providers differ in what they accept back, and models in what they produce; the exceptions of both are handled here.
 */
import type {
  AssistantMessage,
  AssistantMessageEvent,
  Context,
  Message as PiMessage,
  Tool,
  ToolResultMessage,
} from "@earendil-works/pi-ai";

import { isJsonObject, type Json } from "../../model/json.ts";
import {
  assistantBody,
  type AssistantBody,
  type Block,
  type CallBlock,
  callsOf,
  type Message,
  promptText,
  type ToolCall,
} from "../../model/message.ts";
import { present } from "../../model/present.ts";
import type { Usage } from "../../model/usage.ts";
import { type Delta, type Exchange, MAX_ARGUMENTS_DEPTH, type Question } from "../agent.ts";
import { toolResultOf } from "../loop.ts";

/** The limit of most providers. */
const MAX_TOOL_NAME_LENGTH = 64;

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
  let ordinal = 0; // counted over all messages of the exchange
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
        return []; // results follow their calls
    }
  });
}

/**
 * pi keeps signatures only for the protocol, provider and model that made them, and omits aborted messages. But the user
 * has seen an aborted answer, so it is passed as a finished one.
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

/** Models invent names of tools, and providers reject a conversation with an invalid one. */
function acceptable(name: string): string {
  return name.replaceAll(/[^\w-]/g, "_").slice(0, MAX_TOOL_NAME_LENGTH) || "unnamed";
}

/** Arguments that are not JSON are kept as a string, but providers accept only objects. */
function asObject(value: Json): Readonly<Record<string, Json>> {
  return isJsonObject(value) ? value : { unreadable_arguments: value };
}

function toResult(call: CallBlock, outcome: ToolCall | undefined, timestamp: number): ToolResultMessage {
  const { text, isError } = toolResultOf(outcome);
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: acceptable(call.name),
    content: [{ type: "text", text }],
    isError,
    timestamp,
  };
}

/** Earlier messages were counted when they arrived. */
const NO_PI_USAGE: AssistantMessage["usage"] = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

type ParseJson = (text: string) => unknown;

/** An answer of pi's as it arrives. */
export class AnswerStream {
  /** The arguments of each call, exactly as the model wrote them. */
  readonly #written = new Map<number, string>();
  readonly #onDelta: (delta: Delta) => void;
  readonly #onProgress: () => void;

  constructor(onDelta: (delta: Delta) => void, onProgress: () => void = () => {}) {
    this.#onDelta = onDelta;
    this.#onProgress = onProgress;
  }

  take(event: AssistantMessageEvent): void {
    this.#onProgress();
    if (event.type === "text_delta") this.#onDelta({ kind: "text", text: event.delta });
    if (event.type === "thinking_delta") this.#onDelta({ kind: "thinking", text: event.delta });
    if (event.type === "toolcall_start") keepUnread(event.partial.content[event.contentIndex]);
    if (event.type === "toolcall_delta") {
      this.#written.set(event.contentIndex, (this.#written.get(event.contentIndex) ?? "") + event.delta);
    }
  }

  /** The complete answer. An aborted one has no calls: they were not made. */
  finish(message: AssistantMessage, parseJson: ParseJson, priced: boolean): AssistantBody {
    const aborted = message.stopReason === "aborted";
    const blocks = message.content.flatMap((block, index): Block[] => {
      if (block.type !== "toolCall") return isEmpty(block) ? [] : [copy(block)];
      return aborted ? [] : [this.#call(block, index, parseJson)];
    });
    const usage = usageOf(message);
    const { total } = message.usage.cost;
    const counted = usage.input + usage.output + usage.cacheRead + usage.cacheWrite > 0;
    return {
      blocks: withDistinctIds(blocks),
      stop: aborted ? "aborted" : stopOf(message, blocks),
      provider: message.provider,
      model: message.model,
      api: message.api,
      usage,
      // A server that counts no tokens was not free: its cost is unknown.
      costUsd: priced && counted && Number.isFinite(total) && total >= 0 ? total : null,
    };
  }

  /**
   * pi repairs truncated JSON, so a tool would write half a file. Instead, the call keeps invalid arguments as a string,
   * which the tool rejects. The same goes for arguments nested too deep to be stored.
   */
  #call(block: PiCall, index: number, parseJson: ParseJson): CallBlock {
    const written = this.#written.get(index)?.trim() ?? "";
    const read = readArguments(written, parseJson);
    // Some providers send arguments in one piece, which pi has parsed.
    const given = read === undefined || Object.keys(block.arguments).length > 0 ? block.arguments : read;
    return {
      type: "toolCall",
      id: block.id,
      name: block.name,
      arguments: read !== undefined && isShallow(given, MAX_ARGUMENTS_DEPTH) ? given : written,
      ...present({ thoughtSignature: block.thoughtSignature }),
    };
  }
}

type PiBlock = AssistantMessage["content"][number];
type PiCall = Extract<PiBlock, { type: "toolCall" }>;

/**
 * pi parses the arguments of a call anew with every delta. We never use partial arguments, and a 100 KB file written word by
 * word would cost 15 s of CPU time. So the text that pi accumulates looks blank to it, and is parsed once at the end.
 */
function keepUnread(block: object | undefined): void {
  for (const name of ["partialJson", "partialArgs"]) {
    const gathered: unknown = block === undefined ? undefined : Reflect.get(block, name);
    if (typeof gathered !== "string") continue;
    let text = gathered;
    Object.defineProperty(block, name, {
      configurable: true,
      get: () => new Unread(text),
      set: (longer: unknown) => {
        text = String(longer);
      },
    });
  }
}

/** Text that can be appended to but trims to nothing, so a partial value is never parsed. */
class Unread {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get length(): number {
    return this.#text.length;
  }

  toString(): string {
    return this.#text;
  }

  trim(): string {
    return "";
  }
}

/** Undefined: they are not JSON. Empty text: the call has none, or the provider sent them in one piece. */
function readArguments(written: string, parseJson: ParseJson): PiCall["arguments"] | undefined {
  if (written === "") return {};
  try {
    return parseJson(written) as PiCall["arguments"];
  } catch {
    return undefined;
  }
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((each) => isShallow(each, depth - 1));
}

function isEmpty(block: Exclude<PiBlock, PiCall>): boolean {
  if (block.type === "text") return block.text === "" && block.textSignature === undefined;
  return block.thinking === "" && !block.thinkingSignature;
}

/** Only our fields: pi's blocks may have others, or undefined ones, which JSON cannot represent. */
function copy(block: Exclude<PiBlock, PiCall>): Block {
  if (block.type === "text") {
    const { text, textSignature } = block;
    return { type: "text", text, ...present({ textSignature }) };
  }
  const { thinking, thinkingSignature, redacted } = block;
  return { type: "thinking", thinking, ...present({ thinkingSignature, redacted }) };
}

/** Some servers send calls without ids or with equal ones, so their results could not be told apart. */
function withDistinctIds(blocks: readonly Block[]): Block[] {
  const taken = new Set<string>();
  return blocks.map((block, index) => {
    if (block.type !== "toolCall") return block;
    const id = block.id === "" || taken.has(block.id) ? `call_${index}` : block.id;
    taken.add(id);
    return { ...block, id };
  });
}

function usageOf({ usage }: AssistantMessage): Usage {
  return {
    input: count(usage.input),
    output: count(usage.output),
    cacheRead: count(usage.cacheRead),
    cacheWrite: count(usage.cacheWrite),
    reasoning: count(usage.reasoning),
  };
}

/** Some servers report fractional, negative or no counts, and pi passes them on. */
function count(tokens: number | undefined): number {
  const whole = Math.round(Number(tokens));
  return Number.isSafeInteger(whole) ? Math.max(0, whole) : 0;
}

function stopOf(message: AssistantMessage, blocks: readonly Block[]): AssistantBody["stop"] {
  if (message.stopReason === "length") return "length";
  return blocks.some(({ type }) => type === "toolCall") ? "tools" : "stop";
}
