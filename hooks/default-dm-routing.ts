/**
 * @name Direct messages
 * @description Answers direct messages: they go to the main session
 * @mode persistent
 */
import type { Filter, HookContext, HookResult } from "cortexd/hooks";

/** Where people write. Judged before the hook is called, so that all other events cost nothing. */
export const filter: Filter = {
  channels: ["telegram", "discord", "slack", "whatsapp", "imessage", "signal", "matrix", "sms", "email"],
};

export default async function ({ event }: HookContext): Promise<HookResult> {
  if (event.target) return { fire: false }; // whoever sent it has said where it goes
  if (!event.content || isGroup(event)) return { fire: false };
  // For a session of its own for each person: `${event.channel}:dm:${event.sender_id}`.
  return { fire: true, routing: { session: "main" } };
}

/** Channels mark what was said among many, each in the words of its platform. */
function isGroup({ metadata }: HookContext["event"]): boolean {
  const { is_group, isGroup, chat_type } = (metadata ?? {}) as Record<string, unknown>;
  return (
    is_group === true || isGroup === true || ["group", "supergroup", "channel"].includes(String(chat_type))
  );
}
