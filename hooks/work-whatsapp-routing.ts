/**
 * @name Work on WhatsApp
 * @description Sends what one person writes on WhatsApp to the agent "work", in a session of its own
 * @mode persistent
 * @starts disabled
 */
import type { Filter, HookContext, HookResult } from "cortexd/hooks";

/** Change this to the number of your colleague, and make the agent with `cortex agents create work`. */
const COLLEAGUE = "+15550100";
const AGENT = "work";

/** All that there is to decide: the hook is called for nothing else. */
export const filter: Filter = { channels: ["whatsapp"], senders: [COLLEAGUE] };

export default async function ({ event }: HookContext): Promise<HookResult> {
  const session = `agent:${AGENT}:whatsapp:dm:${event.sender_id}`;
  // Exclusive: else default-dm-routing would have the main agent answer as well.
  return { fire: true, routing: { session }, exclusive: true };
}
