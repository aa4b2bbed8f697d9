import { count } from "../model/count.ts";
import { canonicalJson } from "../model/json.ts";
import { assistantBody, callsOf, type Message, type ToolCall } from "../model/message.ts";
import type { ToolResult } from "../model/tool.ts";
import type { Worker } from "../model/worker.ts";

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
  worker?: Worker,
): string | undefined {
  const stopped = (why: string, limit: keyof TurnLimits): string =>
    `I stopped here: ${why}. (Limit ${nameOf(limit, limits, worker)}.)${worker === undefined ? " Write again to let me go on." : ""}`;
  const answers = turn.messages.filter(({ role }) => role === "assistant");
  if (answers.length >= limits.modelCalls) {
    return stopped(`the model was asked ${count(answers.length, "time")}`, "modelCalls");
  }
  const costUsd = answers.reduce((sum, answer) => sum + (assistantBody(answer).costUsd ?? 0), 0);
  if (costUsd >= limits.costUsd && costUsd > 0) {
    return stopped(`it has cost ${costUsd.toFixed(4)} USD`, "costUsd");
  }
  if (turn.workedMs >= limits.wallClockMs) {
    const seconds = Math.round(turn.workedMs / 1000);
    return stopped(`it has taken ${seconds} s`, "wallClockMs");
  }
  const repeated = repetitions(answers);
  if (repeated >= limits.repeatedCalls) {
    return stopped(`the same call was made ${repeated} times in a row`, "repeatedCalls");
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

/** Which limit it is, and whose: that of the worker where it is the narrower one. */
function nameOf(limit: keyof TurnLimits, limits: TurnLimits, worker: Worker | undefined): string {
  if (limit === "modelCalls" && worker?.maxTurns === limits.modelCalls) {
    const whose = worker.type === undefined ? "this work" : `this sub-agent of type ${worker.type}`;
    return `\`maxTurns\` of ${whose}: ${limits.modelCalls}`;
  }
  if (limit === "costUsd" && worker?.costUsd === limits.costUsd)
    return `\`costUsd\` of this work: ${limits.costUsd}`;
  return `\`${limit}\`: ${limits[limit]}, in \`limits\` of the agent`;
}

/** As much as is told of what was found. */
const MAX_FOUND_LENGTH = 8_000;
/** Of the results of tools, where nothing was said about them. */
const MAX_RESULTS = 5;
const MAX_RESULT_LENGTH = 1_000;

/** What a turn has come to so far, for whoever waits for its result: what was said, else the last results of tools. */
export function foundSoFar(messages: readonly Message[], toolCalls: readonly ToolCall[]): string {
  const said = messages
    .filter(({ role, content }) => role === "assistant" && content.trim() !== "")
    .map(({ content }) => content.trim());
  const found =
    said.length > 0
      ? said
      : toolCalls
          .filter(({ status }) => status === "ok")
          .map(describeCall)
          .slice(-MAX_RESULTS);
  if (found.length === 0) return "Nothing was found so far.";
  return `Found so far:\n\n${found.join("\n\n").slice(-MAX_FOUND_LENGTH).toWellFormed()}`;
}

function describeCall({ tool, params, result }: ToolCall): string {
  const { text } = result as unknown as ToolResult;
  return `${tool} ${canonicalJson(params)}:\n${text.slice(0, MAX_RESULT_LENGTH).toWellFormed()}`;
}
