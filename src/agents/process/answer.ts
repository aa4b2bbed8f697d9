/** Translates the lines of a child into answers and errors of a model. */
import { CortexError, type ErrorCode } from "../../model/errors.ts";
import type { AssistantBody, Block } from "../../model/message.ts";
import { NO_USAGE } from "../../model/usage.ts";
import type { Done, Failure, ToolRequest } from "./protocol.ts";
import { addSpent, NOTHING_SPENT, type Priced, restOf } from "./spent.ts";

/** For answers of an unknown model. */
const UNNAMED = { provider: "sub-agent", model: "sub-agent" };

/** Error codes that our own child may pass on from its model. They decide about retries and fallbacks. */
const MODEL_FAILURES: readonly ErrorCode[] = [
  "context_overflow",
  "model_failed",
  "model_unconfigured",
  "script_invalid",
];

/** The message for requests that came without one. */
export function requestsBody(requests: readonly ToolRequest[]): AssistantBody {
  const blocks = requests.map(({ id, name, arguments: args }): Block => ({
    type: "toolCall",
    id,
    name,
    arguments: args,
  }));
  return { ...UNNAMED, blocks, stop: "tools", usage: NO_USAGE, costUsd: 0 };
}

/** The answer, with the cost of the run that its messages do not include. Undefined: it contains no answer. */
export function answerOf({ result, message }: Done, reported: Priced): AssistantBody | undefined {
  const body: AssistantBody = message ?? textBody(result.response, NOTHING_SPENT);
  const blocks = body.blocks.filter(({ type }) => type !== "toolCall");
  if (!blocks.some((block) => block.type === "text" && block.text.trim() !== "")) return undefined;
  const rest = restOf(result, addSpent(reported, body));
  const stop = result.limit !== undefined ? "limit" : body.stop === "length" ? "length" : "stop";
  return { ...body, blocks, stop, ...addSpent(body, rest) };
}

export function abortedBody(text: string, spent: Priced = NOTHING_SPENT): AssistantBody {
  return { ...textBody(text, spent), stop: "aborted" };
}

/** An empty answer that only reports a cost. */
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
      hint: failure.hint ?? "Check the profile.",
      transient,
      retryAfterMs,
    });
  return new CortexError("sub_agent_failed", `The sub-agent failed: ${error}`, {
    hint: failure.hint ?? "Check the log, or run the sub-agent's command by hand.",
    transient,
    retryAfterMs,
  });
}
