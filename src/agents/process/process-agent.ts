/**
 * An agent that is a child process. The child asks its model and says which tools it wants; all else is done on
 * this side, by the loop that every agent has: the calls are made, and written down, as if the model were here.
 * To that loop, the child is a model.
 */
import type { Agent } from "../agent.ts";
import { createLoopAgent } from "../loop.ts";
import { Conversation, type ConversationParts } from "./conversation.ts";

export interface ProcessAgentParts extends ConversationParts {
  /** Keeps conversations within the window: an agent of this process for the same profile. */
  readonly inner: Agent;
}

/** An agent for the turns of one worker. */
export function createProcessAgent(parts: ProcessAgentParts): Agent {
  const { inner, clock, mintId } = parts;
  return {
    capabilities: { steer: true, replay: true, suspend: true },
    ...(inner.context !== undefined && { context: inner.context }),
    async run(request) {
      using conversation = new Conversation(request, parts);
      const model = { ask: conversation.ask.bind(conversation) };
      return await createLoopAgent({ model, clock, mintId }).run(request);
    },
  };
}
