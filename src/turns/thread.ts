import type { Exchange } from "../agents/agent.ts";
import type { MessageId, TurnId } from "../model/ids.ts";
import type { Message } from "../model/message.ts";
import type { Context, Store, TurnContent } from "../store/store.ts";

const NO_THREAD: Context = { compaction: undefined, turns: [] };

/** What a turn after this one is given of its thread. */
export async function readThread(head: TurnId | undefined, store: Store): Promise<Context> {
  return head === undefined ? NO_THREAD : store.turns.context(head);
}

/** The same as a conversation. */
export function historyOf({ compaction, turns }: Context): Exchange[] {
  return compaction === undefined ? [...turns] : [asAnswer(compaction), ...turns];
}

const REQUEST = "What was said and done in this conversation so far?";

/** Providers refuse a conversation that begins with an answer, so a summary is the answer to a question. */
function asAnswer({ turn, messages, toolCalls }: TurnContent): Exchange {
  const request: Message = {
    id: `${turn.id}-request` as MessageId,
    role: "user",
    content: REQUEST,
    atMs: turn.startedAtMs,
  };
  return { messages: [request, ...messages], toolCalls };
}
