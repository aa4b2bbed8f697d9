/**
 * What a model is given, part by part. The lengths of the parts add up to the length of the whole, as it is estimated
 * when a run decides whether it fits the window; so every token belongs to something.
 */
import type { ToolDescription } from "../agents/agent.ts";
import { exchangeLength, tokensIn, toolLength } from "../agents/estimate-tokens.ts";
import type { TurnId } from "../model/ids.ts";
import { type Message, promptText, type ToolCall } from "../model/message.ts";
import type { Context } from "../store/store.ts";
import { memoryOf } from "./memory.ts";
import { BETWEEN_PARTS, type SystemPrompt } from "./system-prompt.ts";
import { historyOf } from "./thread.ts";

/** In the order in which the model reads them. */
export const CONTEXT_KINDS = ["system", "tools", "history", "memory", "message"] as const;
type ContextKind = (typeof CONTEXT_KINDS)[number];

export interface ContextPart {
  readonly kind: ContextKind;
  /** A file, a section, a tool; of a turn, the first of its words. */
  readonly name: string;
  readonly turn: TurnId | undefined;
  /** What was cut or left out. */
  readonly note: string | undefined;
  readonly tokens: number;
  /** As the model reads it. */
  readonly text: () => string;
}

export interface Given {
  readonly system: SystemPrompt;
  readonly tools: readonly ToolDescription[];
  readonly thread: Context;
  /** The messages of the turn that is to come or is under way, and what it has done so far. */
  readonly current: { readonly messages: readonly Message[]; readonly toolCalls: readonly ToolCall[] };
}

interface Measured extends Pick<ContextPart, "kind" | "name" | "text"> {
  readonly turn?: TurnId;
  readonly note?: string | undefined;
  /** In characters. */
  readonly length: number;
}

export function explainContext({ system, tools, thread, current }: Given): ContextPart[] {
  const measured = [
    ...systemParts(system),
    ...tools.map(toolPart),
    ...historyParts(thread),
    ...currentParts(current),
  ];
  // The sum is rounded as a whole: what is left over by one part counts for the next.
  let length = 0;
  return measured.map(({ kind, name, turn, note, length: own, text }) => {
    const before = tokensIn(length);
    length += own;
    return { kind, name, turn, note, tokens: tokensIn(length) - before, text };
  });
}

function systemParts({ parts }: SystemPrompt): Measured[] {
  let isFirst = true;
  return parts.map(({ name, text, note }) => {
    const separator = isFirst || text === "" ? 0 : BETWEEN_PARTS.length;
    if (text !== "") isFirst = false;
    return { kind: "system", name, note, length: text.length + separator, text: () => text };
  });
}

function toolPart(tool: ToolDescription): Measured {
  const { name, description, parameters } = tool;
  return {
    kind: "tools",
    name,
    length: toolLength(tool),
    text: () => `${name}: ${description}\n${JSON.stringify(parameters)}`,
  };
}

function historyParts(thread: Context): Measured[] {
  const { compaction, turns } = thread;
  const contents = compaction === undefined ? turns : [compaction, ...turns];
  return historyOf(thread).map((exchange, at) => {
    const { turn, messages } = contents[at]!;
    const isSummary = turn.type === "compaction";
    return {
      kind: "history",
      name: isSummary ? "compaction" : (messages.find(({ role }) => role === "user")?.content ?? ""),
      turn: turn.id,
      length: exchangeLength(exchange),
      text: () => exchange.messages.map(wordsOf).join("\n"),
    };
  });
}

function currentParts({ messages, toolCalls }: Given["current"]): Measured[] {
  const queries = messages.filter(({ role }) => role === "user");
  const rest = { messages: messages.filter(({ role }) => role !== "user"), toolCalls };
  const done: Measured = {
    kind: "message",
    name: "done so far",
    length: exchangeLength(rest),
    text: () => rest.messages.map(wordsOf).join("\n"),
  };
  return [...queries.flatMap(queryParts), ...(done.length === 0 ? [] : [done])];
}

function queryParts(message: Message): Measured[] {
  const memory = memoryOf(message);
  const all = promptText(message);
  const above = memory === undefined ? "" : all.slice(0, memory.length + BETWEEN_PARTS.length);
  const said: Measured = {
    kind: "message",
    name: message.content,
    length: all.length - above.length,
    text: () => all.slice(above.length),
  };
  if (memory === undefined) return [said];
  return [{ kind: "memory", name: "from the ledger", length: above.length, text: () => memory }, said];
}

function wordsOf(message: Message): string {
  return message.role === "user" ? promptText(message) : message.content;
}
