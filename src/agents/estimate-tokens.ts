/** Estimates the length of a conversation in tokens, without the model's tokenizer. */
import { assistantBody, type Block, type Message, promptText } from "../model/message.ts";
import type { Exchange, ToolDescription } from "./agent.ts";
import { storedResult } from "./loop.ts";

/** A rule of thumb for English and code; other languages have fewer. */
export const CHARACTERS_PER_TOKEN = 4;

interface Prompt {
  readonly system: string;
  readonly exchanges: readonly Exchange[];
  readonly tools?: readonly ToolDescription[];
}

export function estimateTokens({ system, exchanges, tools = [] }: Prompt): number {
  return tokensIn(sum([system.length, ...tools.map(toolLength), ...exchanges.map(exchangeLength)]));
}

export function tokensIn(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** In characters, as sent to the model. */
export function toolLength({ name, description, parameters }: ToolDescription): number {
  return name.length + description.length + jsonLength(parameters);
}

/** In characters, as sent to the model. */
export function exchangeLength({ messages, toolCalls }: Exchange): number {
  const results = toolCalls.map((call) => (storedResult(call)?.text ?? "").length);
  return sum([...messages.map(messageLength), ...results]);
}

function messageLength(message: Message): number {
  if (message.role !== "assistant") return promptText(message).length;
  return blocksLength(assistantBody(message).blocks);
}

export function blocksLength(blocks: readonly Block[]): number {
  return sum(blocks.map(blockLength));
}

function blockLength(block: Block): number {
  switch (block.type) {
    case "text":
      return block.text.length;
    case "thinking":
      return block.thinking.length;
    case "toolCall":
      return block.name.length + jsonLength(block.arguments);
  }
}

function jsonLength(value: unknown): number {
  return JSON.stringify(value).length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
