/**
 * Makes the tool calls of a turn, so that each is made at most once and has exactly one outcome.
 *
 * The intent is on disk before the tool begins and the result right after it has ended. A call that had
 * begun and has no result was cut off: it is made again only where its tool says that this does no harm;
 * otherwise the model is told that nobody knows.
 */
import type { CallOutcome } from "../agents/agent.ts";
import { CortexError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import type { CallBlock, ToolStatus } from "../model/message.ts";
import type { Tool, ToolContext, ToolOutcome, ToolResult } from "../model/tool.ts";
import type { Suspension, TurnJournal } from "./journal.ts";

/** How long a tool has to end once it was told to. Then it is left alone: it may hold up no turn. */
const GRACE_MS = 5_000;

export interface CallParts {
  readonly journal: TurnJournal;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly clock: () => number;
  readonly context: Omit<ToolContext, "callId" | "callKey" | "signal">;
  /** Aborts the turn: the call ends, and its outcome is left open. */
  readonly signal: AbortSignal;
  /** Whether the process ends: begin nothing. */
  readonly isStopping: () => boolean;
  /** Whether a message waits that is to enter the turn before the model is asked again. */
  readonly hasSteering: () => Promise<boolean>;
  readonly suspensions: Suspension[];
  readonly graceMs?: number;
}

export async function callTool(call: CallBlock, ordinal: number, parts: CallParts): Promise<CallOutcome> {
  const { journal, tools, clock } = parts;
  if (parts.isStopping() || parts.signal.aborted) return { kind: "park" };
  const finish = async (
    status: Exclude<ToolStatus, "started">,
    result: ToolResult,
  ): Promise<CallOutcome> => ({
    kind: "done",
    call: await journal.finishCall(call, ordinal, { status, result, atMs: clock() }),
  });

  const tool = tools.get(call.name);
  const cutOff = journal.toolCalls[ordinal]?.status === "started";
  const waiting = cutOff ? journal.waitingCall(ordinal) : undefined;
  if (waiting !== undefined) return suspend(waiting, parts);
  if (cutOff && tool?.repeatable !== true) return finish("unknown", CUT_OFF);
  if (tool === undefined) return finish("error", toolUnknown(call.name, tools));
  if (!isObject(call.arguments)) return finish("error", ARGUMENTS_UNREADABLE);
  if (!cutOff) {
    if (await parts.hasSteering()) return finish("skipped", SKIPPED);
    await journal.startCall(call, ordinal, clock());
  }

  const outcome = await attempt(tool, call, ordinal, parts);
  if (outcome === "aborted") return { kind: "park" };
  if (outcome.kind === "done")
    return finish(outcome.result.isError === true ? "error" : "ok", outcome.result);
  const waits = { ordinal, callId: call.id, kind: outcome.waitKind, detail: outcome.detail };
  await journal.addWaiting(waits);
  return suspend(waits, parts);
}

function suspend(call: Suspension, { suspensions }: CallParts): CallOutcome {
  suspensions.push(call);
  return { kind: "suspended" };
}

/** What a tool throws is for the model to read, whatever it is: the turn goes on. */
async function attempt(
  tool: Tool,
  call: CallBlock,
  ordinal: number,
  { context, signal, graceMs = GRACE_MS }: CallParts,
): Promise<ToolOutcome | "aborted"> {
  if (signal.aborted) return "aborted";
  const deadline = AbortSignal.timeout(tool.timeoutMs);
  const stop = AbortSignal.any([signal, deadline]);
  using grace = startGrace(stop, graceMs);
  try {
    const running = tool.run(call.arguments, {
      ...context,
      callId: call.id,
      callKey: `${context.turn}-${ordinal}`,
      signal: stop,
    });
    const outcome = await Promise.race([running, grace.over]);
    if (signal.aborted) return "aborted";
    return (
      outcome ?? failed(`The tool took longer than ${tool.timeoutMs / 1000} s and may still be at work.`)
    );
  } catch (error) {
    if (signal.aborted) return "aborted";
    if (deadline.aborted)
      return failed(`The tool took longer than ${tool.timeoutMs / 1000} s and was stopped.`);
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

function isObject(value: Json): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a model wrote that is no JSON is kept as the text that it is. */
const ARGUMENTS_UNREADABLE: ToolResult = {
  text: "This call was not made: its arguments are no JSON object. Write them anew, and whole.",
  isError: true,
};

const CUT_OFF: ToolResult = {
  text: "Cortex was stopped while this call was under way. Whether it took effect is not known: look before you repeat it.",
  isError: true,
};

const SKIPPED: ToolResult = {
  text: "This call was not made: a newer message has arrived, and follows.",
  isError: true,
};

function toolUnknown(name: string, tools: ReadonlyMap<string, Tool>): ToolResult {
  const known = [...tools.keys()].join(", ");
  return { text: `There is no tool "${name}". The tools are: ${known || "none"}.`, isError: true };
}
