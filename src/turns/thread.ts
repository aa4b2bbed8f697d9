import type { Exchange } from "../agents/agent.ts";
import { CHARACTERS_PER_TOKEN, exchangeLength } from "../agents/estimate-tokens.ts";
import type { MessageId, TurnId } from "../model/ids.ts";
import type { Message } from "../model/message.ts";
import type { Context, Ledger, TurnContent } from "../store/store.ts";

const NO_THREAD: Context = { compaction: undefined, turns: [] };

/** How much of a thread is read, in windows. More than one would never be given to a model as it is. */
const READ_SHARE = 1.5;
/** How many turns are read to see how long turns are. */
export const PROBED_TURNS = 64;
/** By how much the next guess may be larger. */
const MAX_GROWTH = 64;

/**
 * What a turn after this one is given of its thread. With a window, in tokens, no more is read than to know that the
 * thread is longer than that: it is then partial.
 */
export async function readThread(
  head: TurnId | undefined,
  { turns }: Pick<Ledger, "turns">,
  window = Infinity,
): Promise<Context> {
  if (head === undefined) return NO_THREAD;
  if (window === Infinity) return turns.context(head);
  const maxLength = window * READ_SHARE * CHARACTERS_PER_TOKEN;
  for (let limit = PROBED_TURNS; ;) {
    const thread = await turns.context(head, { limit });
    // What follows a compaction fits the window, or nearly.
    if (thread.compaction !== undefined && thread.turns.length + 1 >= limit) return turns.context(head);
    const length = thread.turns.reduce((sum, turn) => sum + exchangeLength(turn), 0);
    if (!isPartial(thread) || length > maxLength) return thread;
    limit = Math.ceil(limit * Math.min(MAX_GROWTH, Math.max(2, (1.1 * maxLength) / (length + 1))));
  }
}

/** Whether there are turns before the oldest that was read. */
export function isPartial({ compaction, turns }: Context): boolean {
  return compaction === undefined && turns[0]?.turn.parent !== undefined;
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
