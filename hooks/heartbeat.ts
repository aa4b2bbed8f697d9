/**
 * @name Heartbeat
 * @description Wakes the agent every half hour of the day, to see whether something needs attention
 * @mode persistent
 * @starts disabled
 */
import type { Filter, HookResult } from "cortexd/hooks";

/** Every 30 minutes from 8:00 to 22:30, on the clock of `timezone` in cortex.json. Nobody is woken at night. */
export const filter: Filter = { channels: ["timer"], cron: "*/30 8-22 * * *" };

export default async function (): Promise<HookResult> {
  return {
    fire: true,
    // In a session of its own, so that the conversation in the main one stays a conversation.
    routing: { session: "agent:main:cron:heartbeat" },
    context: {
      prompt:
        "HEARTBEAT. Read HEARTBEAT.md in your workspace, if there is one, and do what it says is due now. " +
        "Write to the owner with the tool `message` only if something needs attention. Else answer NO_REPLY.",
    },
  };
}
