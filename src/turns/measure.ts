import { type Exchange, type ToolDescription } from "../agents/agent.ts";
import { estimateTokens } from "../agents/estimate-tokens.ts";
import { assistantBody } from "../model/message.ts";
import type { Context } from "../store/store.ts";
import { historyOf } from "./thread.ts";

/** How long the conversation is that the model is about to be given. */
export interface Load {
  /** As far as we know. */
  readonly tokens: number;
  /** By its characters alone. What a part of it takes can only be estimated like this. */
  readonly estimated: number;
}

interface Measured {
  readonly system: string;
  readonly tools: readonly ToolDescription[];
  readonly thread: Context;
  readonly current: Exchange;
}

/** The last answer tells how long everything up to it was; what came after is estimated. */
export function measure({ system, tools, thread, current }: Measured): Load {
  const estimated = estimateTokens({ system, tools, exchanges: [...historyOf(thread), current] });
  const counted = countedTokens(thread);
  if (counted === undefined) return { tokens: estimated, estimated };
  return { tokens: counted + estimateTokens({ system: "", exchanges: [current] }), estimated };
}

/** Undefined where nobody counted, or something else was counted than what is there now. */
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
