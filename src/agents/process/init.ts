/** The first line that a child is sent: all that it needs to know. */
import { assistantBody, type Message, promptText } from "../../model/message.ts";
import type { ToolResult } from "../../model/tool.ts";
import type { AgentRequest, Exchange } from "../agent.ts";
import { type Init, PROTOCOL_VERSION } from "./protocol.ts";
import { beginningOf } from "./replay.ts";

/** What a child is told of its task beside what every agent is told. */
export interface ProcessWorker {
  readonly type?: string | undefined;
  readonly parentSession?: string | undefined;
  /** How often one turn may call the model. */
  readonly maxTurns?: number | undefined;
  /** How long one child may be at work. */
  readonly timeoutMs?: number | undefined;
  /** The program of somebody else. Absent: our own. */
  readonly command?: readonly string[] | undefined;
  /** The variables that were named for it. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** Where the program is started. Absent: where the pool says. */
  readonly folder?: string | undefined;
}

export function initOf(
  { profile, session, agent, system, history, tools }: AgentRequest,
  current: Exchange,
  worker: ProcessWorker,
  credentials: Readonly<Record<string, string>>,
): Init {
  const { type, parentSession, maxTurns, timeoutMs, command } = worker;
  return {
    type: "init",
    version: PROTOCOL_VERSION,
    config: {
      id: session,
      parentSessionId: parentSession,
      instruction: query(current).map(promptText).join("\n\n"),
      subAgentType: type,
      config: {
        agentId: agent,
        ...(profile.provider !== undefined && { provider: profile.provider }),
        ...(profile.model !== undefined && { model: profile.model }),
        tools: tools.map(({ name }) => name),
        ...(maxTurns !== undefined && { maxTurns }),
        ...(timeoutMs !== undefined && { timeout: timeoutMs }),
      },
    },
    agentConfig: {
      name: agent,
      profile,
      credentials,
      systemPrompt: system,
      tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
      maxTurns,
    },
    conversation: {
      history: history.map(forModel),
      // A program that begins again is not told that it has been at work before.
      current: command === undefined ? forModel(current) : { messages: query(current), toolCalls: [] },
    },
  };
}

/** What the turn is to answer. */
function query({ messages }: Exchange): readonly Message[] {
  return beginningOf(messages).filter(({ role }) => role === "user");
}

/** Without what only says what a failed attempt has cost, and without what is for people and programs. */
function forModel({ messages, toolCalls }: Exchange): Exchange {
  return {
    messages: messages.filter(
      (message) => message.role !== "assistant" || assistantBody(message).blocks.length > 0,
    ),
    toolCalls: toolCalls.map((call) => {
      if (call.result === undefined) return call;
      const { details: _, ...result } = call.result as unknown as ToolResult;
      return { ...call, result };
    }),
  };
}
