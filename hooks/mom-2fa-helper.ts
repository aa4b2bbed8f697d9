/**
 * @name Help with codes
 * @description When Mom writes about a login code, a model says so, and the agent helps her
 * @mode persistent
 * @starts disabled
 */
import type { Filter, HookContext, HookResult } from "cortexd/hooks";

/** Change this to how she is known on the channels that she uses. */
const MOM = ["+15550101", "mom@example.com"];
const LEAST_CONFIDENCE = 0.7;

export const filter: Filter = { channels: ["imessage", "whatsapp", "sms", "email"], senders: MOM };

interface Verdict {
  readonly is_2fa: boolean;
  readonly service: string | null;
  readonly confidence: number;
}

export default async function ({ event, llm }: HookContext): Promise<HookResult> {
  if (!event.content) return { fire: false };
  const answer = await llm(
    `Is this message about a login code, a verification code or two-factor authentication?\n\n${event.content}`,
    {
      system: 'Answer with JSON: {"is_2fa": boolean, "service": string or null, "confidence": 0 to 1}',
      json: true,
      maxTokens: 200,
    },
  );
  const verdict = JSON.parse(answer) as Verdict;
  if (!verdict.is_2fa || verdict.confidence < LEAST_CONFIDENCE) return { fire: false };
  return {
    fire: true,
    routing: { session: "main" },
    context: {
      prompt:
        "This message seems to be about a login code. Explain in simple words how to find the code, one step at a " +
        "time. Never ask for the code itself, and never pass one on.",
      extracted: { service: verdict.service, confidence: verdict.confidence },
    },
  };
}
