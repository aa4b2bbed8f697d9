import { canonicalJson } from "../model/json.ts";
import { assistantBody, callsOf, type Message } from "../model/message.ts";

/** What one turn may take. Each limit ends the turn with an answer that says so. */
export interface TurnLimits {
  readonly modelCalls: number;
  readonly costUsd: number;
  /** How long it may be at work, over all attempts. */
  readonly wallClockMs: number;
  /** How often in a row the same call with the same parameters may be made. */
  readonly repeatedCalls: number;
}

/** The answer that ends a turn which has reached a limit; undefined: it may go on. */
export function limitReached(
  limits: TurnLimits,
  turn: { readonly messages: readonly Message[]; readonly workedMs: number },
): string | undefined {
  const answers = turn.messages.filter(({ role }) => role === "assistant");
  if (answers.length >= limits.modelCalls) {
    return stopped(`the model was asked ${answers.length} times`, "modelCalls", limits.modelCalls);
  }
  const costUsd = answers.reduce((sum, answer) => sum + (assistantBody(answer).costUsd ?? 0), 0);
  if (costUsd >= limits.costUsd && costUsd > 0) {
    return stopped(`it has cost ${costUsd.toFixed(4)} USD`, "costUsd", limits.costUsd);
  }
  if (turn.workedMs >= limits.wallClockMs) {
    const seconds = Math.round(turn.workedMs / 1000);
    return stopped(`it has taken ${seconds} s`, "wallClockMs", limits.wallClockMs);
  }
  const repeated = repetitions(answers);
  if (repeated >= limits.repeatedCalls) {
    return stopped(
      `the same call was made ${repeated} times in a row`,
      "repeatedCalls",
      limits.repeatedCalls,
    );
  }
  return undefined;
}

/** How many calls at the end of a turn are the same one. */
function repetitions(answers: readonly Message[]): number {
  const calls = answers.flatMap(callsOf).map((call) => canonicalJson([call.name, call.arguments]));
  const last = calls.at(-1);
  const other = calls.findLastIndex((call) => call !== last);
  return calls.length - 1 - other;
}

function stopped(why: string, limit: string, value: number): string {
  return `I stopped here: ${why}. (Limit \`${limit}\`: ${value}, in \`limits\` of the agent.) Write again to let me go on.`;
}
