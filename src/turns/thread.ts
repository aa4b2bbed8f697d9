/** A thread as the model gets it: how much of it is read, what it looks like as a conversation, and how long that is. */
import type { Exchange, ToolDescription } from "../agents/agent.ts";
import { CHARACTERS_PER_TOKEN, estimateTokens, exchangeLength } from "../agents/estimate-tokens.ts";
import type { MessageId, TurnId } from "../model/ids.ts";
import { assistantBody, type Message } from "../model/message.ts";
import type { Context, Ledger, TurnContent } from "../store/store.ts";

const NO_THREAD: Context = { compaction: undefined, turns: [] };

/** How much of a thread is read, in windows. The model never gets more than one window of it. */
const READ_SHARE = 1.5;
/** The number of turns read to learn how long turns are. */
export const PROBED_TURNS = 64;
/** The most by which the next guess may grow. */
const MAX_GROWTH = 64;

/**
 * The thread that ends with a turn, for the turn after it. With a window, in tokens, no more is read than needed to know
 * that the thread exceeds it: the thread is then partial.
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

/** Whether older turns exist than those that were read. */
export function isPartial({ compaction, turns }: Context): boolean {
  return compaction === undefined && turns[0]?.turn.parent !== undefined;
}

/** A thread as a conversation. */
export function historyOf({ compaction, turns }: Context): Exchange[] {
  return compaction === undefined ? [...turns] : [asAnswer(compaction), ...turns];
}

const REQUEST = "What was said and done in this conversation so far?";

/** Providers reject a conversation that begins with an answer, so a summary answers a question. */
function asAnswer({ turn, messages, toolCalls }: TurnContent): Exchange {
  const request: Message = {
    id: `${turn.id}-request` as MessageId,
    role: "user",
    content: REQUEST,
    atMs: turn.startedAtMs,
  };
  return { messages: [request, ...messages], toolCalls };
}

/** The size of the conversation that the model is about to get. */
export interface Load {
  /** Our best knowledge. */
  readonly tokens: number;
  /** From the number of characters, which is all that is known of a part. */
  readonly estimated: number;
}

interface Measured {
  readonly system: string;
  readonly tools: readonly ToolDescription[];
  readonly thread: Context;
  readonly current: Exchange;
}

/** The last answer says how long everything up to it was; what came after is estimated. */
export function measure({ system, tools, thread, current }: Measured): Load {
  const estimated = estimateTokens({ system, tools, exchanges: [...historyOf(thread), current] });
  const counted = countedTokens(thread);
  if (counted === undefined) return { tokens: estimated, estimated };
  return { tokens: counted + estimateTokens({ system: "", exchanges: [current] }), estimated };
}

/** Undefined: not counted, or the thread has changed since. */
function countedTokens({ compaction, turns }: Context): number | undefined {
  const newest = turns.at(-1);
  if (newest === undefined || newest.turn.status !== "completed") return undefined;
  if (compaction !== undefined && newest.turn.depth < compaction.turn.depth) return undefined;
  const answer = newest.messages.findLast(({ role }) => role === "assistant");
  const usage = answer === undefined ? undefined : assistantBody(answer).usage;
  if (usage === undefined) return undefined;
  const tokens = usage.input + usage.cacheRead + usage.cacheWrite + usage.output;
  return tokens > 0 ? tokens : undefined;
}
