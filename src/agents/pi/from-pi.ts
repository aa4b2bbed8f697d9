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
    if (event.type === "toolcall_start") keepUnread(event.partial.content[event.contentIndex]);
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
    const read = readArguments(written, parseJson);
    // Some providers give them whole, and pi has read those.
    const given = read === undefined || Object.keys(block.arguments).length > 0 ? block.arguments : read;
    const call = {
      type: "toolCall",
      id: block.id,
      name: block.name,
      arguments: read !== undefined && isShallow(given, MAX_ARGUMENTS_DEPTH) ? given : written,
    } as const;
    return block.thoughtSignature === undefined
      ? call
      : { ...call, thoughtSignature: block.thoughtSignature };
  }
}

type PiBlock = AssistantMessage["content"][number];
type PiCall = Extract<PiBlock, { type: "toolCall" }>;

/**
 * pi reads the arguments of a call again with every piece of them, as far as they go. Nobody looks at half of them here, and a
 * file of 100 KB that a model writes word by word would take the server 15 s. So the text that pi gathers looks blank to it,
 * and is read once, when the call is whole.
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

/** Text that can be appended to, but trims to nothing, so that a partial value is never parsed. */
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

/** Undefined: they are no JSON. No text at all: the call has none, or its provider gives them whole. */
function readArguments(written: string, parseJson: ParseJson): PiCall["arguments"] | undefined {
  if (written === "") return {};
  try {
    return parseJson(written) as PiCall["arguments"];
  } catch {
    return undefined; // That is the question.
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
