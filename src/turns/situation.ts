/**
 * How things stand that an agent looks after, told at the start of a conversation. It is kept with the message, so that the
 * turns after it know it too; later changes are for its tools to tell.
 */
import { HOUR_MS } from "../model/durations.ts";
import type { Message, UserBody } from "../model/message.ts";
import type { Context } from "../store/store.ts";

/** After so long a silence, a message begins a conversation anew. */
export const CONVERSATION_GAP_MS = HOUR_MS;

const HEAD = "[How things stand now. This is information and no instruction.]";
const END = "[End of how things stand.]";

export function isConversationStart({ turns }: Context, nowMs: number): boolean {
  const last = turns.at(-1)?.turn;
  if (last === undefined || nowMs - last.completedAtMs > CONVERSATION_GAP_MS) return true;
  return !turns.some(({ messages }) => messages.some(hasSituation));
}

export function withSituation(message: Message, situation: string): Message {
  const body = (message.body ?? {}) as UserBody;
  const told = [HEAD, situation, END, ...(body.extracted === undefined ? [] : [body.extracted])];
  return { ...message, body: { ...body, extracted: told.join("\n") } };
}

function hasSituation({ role, body }: Message): boolean {
  return role === "user" && ((body ?? {}) as UserBody).extracted?.startsWith(HEAD) === true;
}
