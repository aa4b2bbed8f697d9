/** From pi's answer to ours. */
import type { AssistantMessage, AssistantMessageEvent } from "@earendil-works/pi-ai";

import type { AssistantBody, Block, CallBlock } from "../../model/message.ts";
import type { Usage } from "../../model/usage.ts";
import type { Delta } from "../agent.ts";

type ParseJson = (text: string) => unknown;

/** An answer while it arrives. */
export class Arriving {
  /** The arguments of each call, letter by letter as the model wrote them. */
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
    if (event.type === "toolcall_delta") {
      this.#written.set(event.contentIndex, (this.#written.get(event.contentIndex) ?? "") + event.delta);
    }
  }

  /** The answer, once pi has given the last of it. Calls of one that was cut off are left out: they were not made. */
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
      // A server that counted nothing, or less, has not worked for nothing.
      costUsd: priced && counted && Number.isFinite(total) && total >= 0 ? total : null,
    };
  }

  /**
   * pi completes arguments that are no JSON as far as it can, and a half-written file would be written.
   * So the call keeps the text as it was written, and the tool refuses it. The same goes for what is nested deeper
   * than can be kept.
   */
  #call(block: PiCall, index: number, parseJson: ParseJson): CallBlock {
    const written = this.#written.get(index)?.trim() ?? "";
    const call = {
      type: "toolCall",
      id: block.id,
      name: block.name,
      arguments:
        isJson(written, parseJson) && isShallow(block.arguments, MAX_ARGUMENTS_DEPTH)
          ? block.arguments
          : written,
    } as const;
    return block.thoughtSignature === undefined
      ? call
      : { ...call, thoughtSignature: block.thoughtSignature };
  }
}

type PiBlock = AssistantMessage["content"][number];
type PiCall = Extract<PiBlock, { type: "toolCall" }>;

/** No text at all: the call has no arguments, or its provider gives them whole. */
function isJson(written: string, parseJson: ParseJson): boolean {
  if (written === "") return true;
  try {
    parseJson(written);
    return true;
  } catch {
    return false; // That is the question.
  }
}

/** Far more than any tool takes; with what is around it in a message, less than the ledger does. */
const MAX_ARGUMENTS_DEPTH = 100;

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((each) => isShallow(each, depth - 1));
}

function isEmpty(block: Exclude<PiBlock, PiCall>): boolean {
  if (block.type === "text") return block.text === "" && block.textSignature === undefined;
  return block.thinking === "" && !block.thinkingSignature;
}

/** Only what is to be kept: pi's blocks may hold more, or fields that are undefined, which JSON has not. */
function copy(block: Exclude<PiBlock, PiCall>): Block {
  if (block.type === "text") {
    const { text, textSignature } = block;
    return { type: "text", text, ...(textSignature !== undefined && { textSignature }) };
  }
  const { thinking, thinkingSignature, redacted } = block;
  return {
    type: "thinking",
    thinking,
    ...(thinkingSignature !== undefined && { thinkingSignature }),
    ...(redacted !== undefined && { redacted }),
  };
}

/** Some servers give calls no id, or the same to all, and then their results cannot be told apart. */
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

/** Some servers count tokens by fractions, below zero or not at all, and pi passes on what they say. */
function count(tokens: number | undefined): number {
  const whole = Math.round(Number(tokens));
  return Number.isSafeInteger(whole) ? Math.max(0, whole) : 0;
}

function stopOf(message: AssistantMessage, blocks: readonly Block[]): AssistantBody["stop"] {
  if (message.stopReason === "length") return "length";
  return blocks.some(({ type }) => type === "toolCall") ? "tools" : "stop";
}
