/**
 * @name Is Casey home?
 * @description Looks once, at a given moment, whether Casey has written to be safe, and tells the agent if not
 * @mode one-shot
 * @starts disabled
 */
import type { Filter, HookContext, HookResult } from "cortexd/hooks";

/** Change these: when to look, on the clock of `timezone` in cortex.json, whose messages, and how far back. */
const LOOK_AT = "2030-01-01T23:30";
const CASEY = "casey@example.com";
const HOURS = 6;

/** If Cortex is not running at that moment, it looks when it is back. */
export const filter: Filter = { channels: ["timer"], cron: `at ${LOOK_AT}`, catchUp: "once" };

export default async function ({ query, llm, now }: HookContext): Promise<HookResult> {
  const messages = await query(
    `select content from events
     where sender_id = ? and direction = 'received' and timestamp > ? and content is not null
     order by timestamp desc limit 20`,
    [CASEY, now.getTime() - HOURS * 3_600_000],
  );
  if (messages.length > 0) {
    const said = messages.map(({ content }) => `- ${String(content)}`).join("\n");
    const answer = await llm(
      `Does one of these messages say that the writer has arrived safely?\n\n${said}`,
      {
        system: 'Answer with JSON: {"safe": boolean}',
        json: true,
        maxTokens: 50,
      },
    );
    // All is well: nothing to do, now or later.
    if ((JSON.parse(answer) as { safe: boolean }).safe) return { fire: false, disable_hook: true };
  }
  return {
    fire: true,
    routing: { session: "main" },
    context: {
      prompt: "Casey has not written to be safe. Ask Casey, and tell the owner.",
      extracted: { messages: messages.length, hours: HOURS },
    },
  };
}
