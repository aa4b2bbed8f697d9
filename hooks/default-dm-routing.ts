/**
 * @name Messages
 * @description Answers direct messages, and messages in groups that `channels` admits
 * @mode persistent
 */
import type { Filter, HookContext, HookResult } from "cortexd/hooks";

/** Where people write. Judged before the hook is called, so that all other events cost nothing. */
export const filter: Filter = {
  channels: ["telegram", "discord", "slack", "whatsapp", "imessage", "signal", "matrix", "sms", "email"],
};

export default async function ({ event }: HookContext): Promise<HookResult> {
  if (event.target) return { fire: false }; // the sender has named a session
  if (!event.content || event.content_type !== "text") return { fire: false };
  const { admission } = event.metadata as { admission?: { answered: boolean } };
  const isShared = event.place_kind === "group" || event.place_kind === "channel";
  return { fire: !isShared || admission?.answered === true }; // without `routing`, the event's own session
}
