/** The first line to a child: everything it needs to know. */
import { isJsonObject } from "../../model/json.ts";
import { assistantBody, type Message, promptText } from "../../model/message.ts";
import type { AgentRequest, Exchange } from "../agent.ts";
import { type Init, PROTOCOL_VERSION } from "./protocol.ts";
import { beginningOf } from "./replay.ts";

/** Facts about a child's task, in addition to the request that every agent receives. */
export interface ProcessWorker {
  readonly type?: string | undefined;
  readonly parentSession?: string | undefined;
  /** The limit on model calls per turn. */
  readonly maxTurns?: number | undefined;
  /** The limit on a child's working time. */
  readonly timeoutMs?: number | undefined;
  /** A third-party program. Absent: our own. */
  readonly command?: readonly string[] | undefined;
  /** The variables configured for it. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** The folder of its agent's tools. */
  readonly workspace?: string | undefined;
}

export function initOf(
  { profile, session, agent, system, history, tools }: AgentRequest,
  current: Exchange,
  worker: ProcessWorker,
  credentials: Readonly<Record<string, string>>,
): Init {
  const { type, parentSession, maxTurns, timeoutMs, command, workspace } = worker;
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
      ...(workspace === undefined ? {} : { workspace }),
    },
    conversation: {
      history: history.map(forModel),
      // A third-party program starts over and does not learn about its earlier work.
      current: command === undefined ? forModel(current) : { messages: query(current), toolCalls: [] },
    },
  };
}

/** The messages that the turn answers. */
function query({ messages }: Exchange): readonly Message[] {
  return beginningOf(messages).filter(({ role }) => role === "user");
}

/** Without the empty messages that only record the cost of a failed attempt, and without `details` of results. */
function forModel({ messages, toolCalls }: Exchange): Exchange {
  return {
    messages: messages.filter(
      (message) => message.role !== "assistant" || assistantBody(message).blocks.length > 0,
    ),
    toolCalls: toolCalls.map((call) => {
      if (!isJsonObject(call.result)) return call;
      const { details: _, ...result } = call.result;
      return { ...call, result };
    }),
  };
}
