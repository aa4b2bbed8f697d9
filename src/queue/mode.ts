import type { Config } from "../config/config.ts";
import { parseQueueMode, type QueueMode } from "../model/queue-mode.ts";

/** People expect to be heard at once; agents, timers and webhooks wait their turn. */
export type SenderKind = "person" | "agent";

/** What a message does when its session is busy: the message's own word, else the session's, the agent's, the config's. */
export function chooseMode(wishes: {
  readonly message: string | undefined;
  readonly session: string | undefined;
  readonly agent: string | undefined;
  readonly sender: SenderKind;
  readonly config: Config;
}): QueueMode {
  const named = wishes.message ?? wishes.session ?? wishes.agent;
  if (named !== undefined) return parseQueueMode(named);
  const { mode, agentMode } = wishes.config.broker.queue;
  return wishes.sender === "person" ? mode : agentMode;
}
