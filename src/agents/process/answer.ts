/** What a child says, as what a model says; and what a call has led to, as what a child is told. */
import { CortexError, type ErrorCode } from "../../model/errors.ts";
import type { AssistantBody, Block, ToolCall } from "../../model/message.ts";
import type { ToolResult } from "../../model/tool.ts";
import { NO_USAGE } from "../../model/usage.ts";
import type { Done, Failure, ToolRequest } from "./protocol.ts";
import { addSpent, NOTHING_SPENT, type Priced, restOf } from "./spent.ts";

/** What stands where nobody knows which model it was. */
const UNNAMED = { provider: "sub-agent", model: "sub-agent" };

/** What our own child may say of the model that it asks; a turn is tried again, or elsewhere, according to it. */
const MODEL_FAILURES: readonly ErrorCode[] = [
  "context_overflow",
  "model_failed",
  "model_unconfigured",
  "script_invalid",
];

/** Requests that no message came before, as the message. */
export function requestsBody(requests: readonly ToolRequest[]): AssistantBody {
  const blocks = requests.map(({ id, name, arguments: args }): Block => ({
    type: "toolCall",
    id,
    name,
    arguments: args,
  }));
  return { ...UNNAMED, blocks, stop: "tools", usage: NO_USAGE, costUsd: 0 };
}

/** With what the run has cost beyond what its messages say. Undefined: there is no answer in it. */
export function answerOf({ result, message }: Done, reported: Priced): AssistantBody | undefined {
  const said: AssistantBody = message ?? textBody(result.response, NOTHING_SPENT);
  const blocks = said.blocks.filter(({ type }) => type !== "toolCall");
  if (!blocks.some((block) => block.type === "text" && block.text.trim() !== "")) return undefined;
  const rest = restOf(result, addSpent(reported, said));
  const stop = result.limit !== undefined ? "limit" : said.stop === "length" ? "length" : "stop";
  return { ...said, blocks, stop, ...addSpent(said, rest) };
}

export function abortedBody(text: string, spent: Priced = NOTHING_SPENT): AssistantBody {
  return { ...textBody(text, spent), stop: "aborted" };
}

/** Says nothing but what was spent. */
export function spentBody(spent: Priced): AssistantBody {
  return textBody("", spent);
}

function textBody(text: string, { usage, costUsd }: Priced): AssistantBody {
  const blocks: Block[] = text === "" ? [] : [{ type: "text", text }];
  return { ...UNNAMED, blocks, stop: "stop", usage, costUsd };
}

export function failureOf(failure: Failure, isOwn: boolean): CortexError {
  const { error, code, transient = false, retryAfterMs } = failure;
  const known = isOwn ? MODEL_FAILURES.find((each) => each === code) : undefined;
  if (known !== undefined)
    return new CortexError(known, error, {
      hint: failure.hint ?? "Look at the profile.",
      transient,
      retryAfterMs,
    });
  return new CortexError("sub_agent_failed", `The sub-agent failed: ${error}`, {
    hint: failure.hint ?? "What it says of itself is all that is known.",
    transient,
    retryAfterMs,
  });
}

/** The model has to know whether a call may have taken effect: one that is not in the journal was never made. */
const NOT_MADE = "This call was not made.";
const NO_OUTCOME = "The outcome of this call is unknown: it may or may not have taken effect.";

export function resultOf(outcome: ToolCall | undefined): {
  readonly text: string;
  readonly isError: boolean;
} {
  const result = outcome?.result as ToolResult | undefined;
  const isMissing = outcome === undefined || outcome.status === "skipped";
  return {
    text: result?.text ?? (isMissing ? NOT_MADE : NO_OUTCOME),
    isError: outcome?.status !== "ok" || result === undefined || result.isError === true,
  };
}
