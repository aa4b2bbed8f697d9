/** Runs a tool within its time limit. Neither an error nor a tool that does not end holds up the turn. */
import { CortexError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import type { Tool, ToolContext, ToolOutcome } from "../model/tool.ts";

/** How long a tool has to end after it was told to. Then it is abandoned. */
const GRACE_MS = 5_000;

/** Errors become results for the model. aborted: the signal of the context came first. */
export async function runTool(
  tool: Tool,
  params: Json,
  context: ToolContext,
  graceMs = GRACE_MS,
): Promise<ToolOutcome | "aborted"> {
  const { signal } = context;
  if (signal.aborted) return "aborted";
  const deadline = AbortSignal.timeout(tool.timeoutMs);
  const stop = AbortSignal.any([signal, deadline]);
  using grace = startGrace(stop, graceMs);
  try {
    const running = tool.run(params, { ...context, signal: stop });
    const outcome = await Promise.race([running, grace.over]);
    if (signal.aborted) return "aborted";
    return outcome ?? failed(`The tool timed out after ${tool.timeoutMs / 1000} s and may still be running.`);
  } catch (error) {
    if (signal.aborted) return "aborted";
    if (deadline.aborted)
      return failed(`The tool timed out after ${tool.timeoutMs / 1000} s and was stopped.`);
    if (error instanceof CortexError) return failed(`${error.message}. ${error.hint}`);
    return failed(`The tool failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Is over some time after the signal. */
function startGrace(stop: AbortSignal, ms: number): Disposable & { readonly over: Promise<undefined> } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => void (timer = setTimeout(resolve, ms, undefined));
  stop.addEventListener("abort", begin, { once: true });
  return {
    over: promise,
    [Symbol.dispose]() {
      stop.removeEventListener("abort", begin);
      clearTimeout(timer);
    },
  };
}

function failed(text: string): ToolOutcome {
  return { kind: "done", result: { text, isError: true } };
}
