import type { MessageId } from "./ids.ts";
import type { Json } from "./json.ts";
import type { Usage } from "./usage.ts";

export type Role = "user" | "assistant" | "tool" | "system";

/** One piece of content. */
export interface Message {
  readonly id: MessageId;
  readonly role: Role;
  /** What a person would read. */
  readonly content: string;
  /**
   * What the text does not say: an `AssistantBody` or a `UserBody`. Absent where `content` says it all.
   */
  readonly body?: Json;
  readonly atMs: number;
}

/** What there is to a message of the user beside its text: the model reads these first. */
export type UserBody = {
  /** What the ledger holds about it, with the ids of where that is from. */
  readonly memory?: string;
  /** One line: when it was said, where, by whom. */
  readonly envelope?: string;
  /** What a hook added. */
  readonly extracted?: string;
  /** One line for each: its name, type, size and where it is. */
  readonly attachments?: string;
};

/** An assistant message in full: enough to play it back to any provider, exactly to the one that made it. */
export type AssistantBody = {
  readonly blocks: readonly Block[];
  /** `tools`: it waits for the results of its calls. `length`: the model ran out of room. `limit`: Cortex ended the turn. */
  readonly stop: "stop" | "length" | "tools" | "aborted" | "limit";
  readonly provider: string;
  readonly model: string;
  /** The provider's protocol: signatures mean something only to the one that made them. */
  readonly api?: string;
  readonly usage: Usage;
  /** Null where the price is not known. */
  readonly costUsd: number | null;
};

/** Signatures are the provider's own and are kept untouched. */
export type Block =
  | { readonly type: "text"; readonly text: string; readonly textSignature?: string }
  | {
      readonly type: "thinking";
      readonly thinking: string;
      readonly thinkingSignature?: string;
      readonly redacted?: boolean;
    }
  | CallBlock;

export type CallBlock = {
  readonly type: "toolCall";
  readonly id: string;
  readonly name: string;
  readonly arguments: Json;
  readonly thoughtSignature?: string;
};

/** An assistant message. Its text is kept once: where one block holds all of it, the block is left without. */
export function assistantMessage(id: string, body: AssistantBody, atMs: number): Message {
  const texts = body.blocks.filter((block) => block.type === "text");
  const content = texts.map(({ text }) => text).join("");
  const blocks = texts.length === 1 ? body.blocks.map(withoutText) : body.blocks;
  return {
    id: id as MessageId,
    role: "assistant",
    content,
    body: { ...body, blocks },
    atMs,
  };
}

/** The body of an assistant message, also of one that was stored without. */
export function assistantBody(message: Message): Pick<AssistantBody, "blocks"> & Partial<AssistantBody> {
  if (message.body === undefined)
    return { blocks: message.content === "" ? [] : [{ type: "text", text: message.content }] };
  const body = message.body as AssistantBody;
  return { ...body, blocks: body.blocks.map((block) => withText(block, message.content)) };
}

/** Whether the last answer of a turn says that a limit ended it: what it holds is what was found until then. */
export function endedAtLimit(messages: readonly Message[]): boolean {
  const last = messages.findLast(({ role }) => role === "assistant");
  return last !== undefined && assistantBody(last).stop === "limit";
}

function withoutText(block: Block): Omit<Block, "text"> {
  if (block.type !== "text") return block;
  const { text: _, ...rest } = block;
  return rest;
}

function withText(block: Block, text: string): Block {
  return block.type === "text" && !("text" in block) ? { ...(block as object), type: "text", text } : block;
}

export function callsOf(message: Message): readonly CallBlock[] {
  if (message.role !== "assistant") return [];
  return assistantBody(message).blocks.filter((block) => block.type === "toolCall");
}

/**
 * A message of the user as the model reads it: what the ledger holds about it, as a paragraph of its own; the
 * envelope, what a hook added, attachments; then the words, verbatim.
 */
export function promptText(message: Message): string {
  const { memory, envelope, extracted, attachments } = (message.body ?? {}) as UserBody;
  const said = [envelope, extracted, attachments, message.content].filter((part) => part !== undefined);
  return `${memory === undefined ? "" : `${memory}\n\n`}${said.join("\n")}`;
}

/** `unknown`: the call had begun when the process died and nobody can say whether it took effect. */
export type ToolStatus = "started" | "ok" | "error" | "unknown" | "skipped" | "aborted";

export interface ToolCall {
  /** The place of the call within its turn, counted from 0. */
  readonly ordinal: number;
  /** The id that the model gave to the call. */
  readonly callId: string;
  readonly tool: string;
  readonly params: Json;
  readonly status: ToolStatus;
  /** A `ToolResult` of `tool.ts`. */
  readonly result?: Json;
  readonly startedAtMs: number;
  readonly completedAtMs?: number;
  /** The session of the worker that the call started. */
  readonly childSession?: string;
}
