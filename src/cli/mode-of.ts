import type { AgentId } from "../model/ids.ts";
import type { QueueMode } from "../model/queue-mode.ts";
import { resolveQueue } from "../queue/settings.ts";
import type { configView } from "../feature/views.ts";

/** What a message of a person does that finds the session busy, by what the interface says of session and settings. */
export function modeOf(given: {
  /** What the session says itself. */
  readonly mode: string | null;
  readonly agent: AgentId;
  readonly channel: string;
  readonly config: Pick<ReturnType<typeof configView>, "broker" | "agents">;
}): QueueMode {
  const { mode, agent, channel, config } = given;
  const own = config.agents.find(({ id }) => id === agent)?.queueMode ?? null;
  const { settings } = resolveQueue({
    mode: undefined,
    session: { mode },
    channel,
    agent,
    sender: "person",
    config: { broker: config.broker, agents: { [agent]: own === null ? {} : { queueMode: own } } },
  });
  return settings.mode;
}
