import type { Block } from "../../model/message.ts";
import { NO_USAGE, type Usage } from "../../model/usage.ts";
import type { Question } from "../agent.ts";
import { blocksLength, estimateTokens, tokensIn } from "../estimate-tokens.ts";

/** Enough to make limits and sums move as they would with a real model. */
export function estimateUsage(
  { system, exchanges }: Pick<Question, "system" | "exchanges">,
  said: readonly Block[],
): Usage {
  return {
    ...NO_USAGE,
    input: estimateTokens({ system, exchanges }),
    output: tokensIn(blocksLength(said)),
  };
}
