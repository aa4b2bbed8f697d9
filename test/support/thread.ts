/** Turns as they are read from the store, of which a test says only what matters to it. */
import type { AgentId, PersonaId, TurnId } from "../../src/model/ids.ts";
import type { Message, ToolCall } from "../../src/model/message.ts";
import type { TurnContent } from "../../src/store/store.ts";
import { facts, message, session, START_MS } from "./sample.ts";

export function turnContent(
  depth: number,
  messages: readonly Message[],
  fields: Partial<TurnContent["turn"]> & { readonly toolCalls?: readonly ToolCall[] } = {},
): TurnContent {
  const { toolCalls = [], ...more } = fields;
  const turn: TurnContent["turn"] = {
    id: `turn-${depth}` as TurnId,
    parent: undefined,
    depth,
    type: "normal",
    status: "completed",
    session: session("work"),
    agent: "main" as AgentId,
    persona: "atlas" as PersonaId,
    facts,
    toolCallCount: toolCalls.length,
    childCount: 0,
    sourceEvent: undefined,
    startedAtMs: START_MS,
    completedAtMs: START_MS,
    hash: "",
    ...more,
  };
  return { turn, messages, toolCalls };
}

/** A question and an answer. */
export function spokenTurn(depth: number, query: string, answer: string): TurnContent {
  return turnContent(depth, [message(`q${depth}`, "user", query), message(`a${depth}`, "assistant", answer)]);
}

export function compactionTurn(depth: number, summary: string): TurnContent {
  return turnContent(depth, [message(`turn-${depth}`, "assistant", summary)], { type: "compaction" });
}
