import { assistantBody, type Block, type Message, promptText } from "../../model/message.ts";
import { NO_USAGE, type Usage } from "../../model/usage.ts";
import type { Question } from "../agent.ts";

/** A rule of thumb for English: enough to make limits and sums move as they would with a real model. */
const CHARACTERS_PER_TOKEN = 4;

export function estimateUsage(
  { system, exchanges }: Pick<Question, "system" | "exchanges">,
  said: readonly Block[],
): Usage {
  const results = exchanges.flatMap(({ toolCalls }) =>
    toolCalls.map(({ result }) => jsonLength(result ?? "")),
  );
  const read = exchanges.flatMap(({ messages }) => messages.map(lengthRead));
  return {
    ...NO_USAGE,
    input: tokens([system.length, ...results, ...read]),
    output: tokens(said.map(lengthSaid)),
  };
}

function tokens(lengths: readonly number[]): number {
  return Math.ceil(sum(lengths) / CHARACTERS_PER_TOKEN);
}

function lengthRead(message: Message): number {
  if (message.role !== "assistant") return promptText(message).length;
  return sum(assistantBody(message).blocks.map(lengthSaid));
}

function lengthSaid(block: Block): number {
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
