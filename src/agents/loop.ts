/**
 * The loop that turns a model into an agent: ask, make the requested calls, ask again, until there is an answer.
 *
 * Its only state is the messages and the outcomes of calls. So a turn that was interrupted after its second tool call
 * continues with the third. Calls are made one at a time, in the model's order. The ordinal of a call counts over all
 * messages of its turn, so it is the same whenever the turn is resumed.
 */
import {
  type AssistantBody,
  assistantMessage,
  type CallBlock,
  callsOf,
  type Message,
  type ToolCall,
} from "../model/message.ts";
import { CortexError } from "../model/errors.ts";
import type { ToolResult } from "../model/tool.ts";
import { NO_USAGE } from "../model/usage.ts";
import type { Agent, AgentRequest, AgentResult, Exchange, Model } from "./agent.ts";

interface LoopOptions {
  readonly model: Model;
  readonly clock: () => number;
  readonly mintId: () => string;
}

export function createLoopAgent({ model, clock, mintId }: LoopOptions): Agent {
  const window = model.window?.bind(model);
  return {
    capabilities: { steer: true, replay: true, suspend: true },
    ...(window !== undefined && {
      context: { window, summarize: (request) => model.ask({ ...request, tools: [], purpose: "summary" }) },
    }),
    async run(request) {
      const messages = [...request.current.messages];
      const toolCalls = request.current.toolCalls.filter(({ status }) => status !== "started");
      for (;;) {
        const ended = await makeCalls(request, messages, toolCalls);
        if (ended !== undefined) return ended;
        const continuation = await request.beforeModelCall();
        if (request.signal.aborted) return { kind: "aborted", partial: undefined };
        if (continuation.kind === "park") return { kind: "parked" };
        if (continuation.kind === "stop")
          return { kind: "done", answer: answer(request, limitBody(continuation.text)) };
        messages.push(...continuation.messages);

        const exchanges = [...request.history, { messages, toolCalls }];
        const body = withDistinctIds(await model.ask({ ...request, exchanges }), exchanges);
        if (body.stop === "aborted") return { kind: "aborted", partial: partial(request, body) };
        if (isEmpty(body)) throw emptyAnswer(body);
        if (!body.blocks.some(isCall)) return { kind: "done", answer: answer(request, body) };
        const message = assistantMessage(mintId(), body, clock());
        await request.record(message);
        messages.push(message);
      }
    },
  };

  function answer(request: AgentRequest, body: AssistantBody): Message {
    return assistantMessage(request.turn, body, clock());
  }

  /** Undefined for a blank answer: providers reject a history with an empty message. */
  function partial(request: AgentRequest, body: AssistantBody): Message | undefined {
    const message = answer(request, withoutCalls(body));
    return message.content.trim() === "" ? undefined : message;
  }
}

/** Makes the calls that have no outcome yet. Undefined: all have one now, and the model is asked next. */
async function makeCalls(
  request: AgentRequest,
  messages: readonly Message[],
  toolCalls: ToolCall[],
): Promise<AgentResult | undefined> {
  const finished = new Set(toolCalls.map(({ ordinal }) => ordinal));
  let suspended = false;
  for (const [ordinal, call] of messages.flatMap(callsOf).entries()) {
    if (finished.has(ordinal)) continue;
    const outcome = await request.callTool(call, ordinal);
    if (request.signal.aborted) return { kind: "aborted", partial: undefined };
    if (outcome.kind === "park") return { kind: "parked" };
    if (outcome.kind === "suspended") suspended = true;
    else toolCalls.push(outcome.call);
  }
  return suspended ? { kind: "suspended" } : undefined;
}

/** The outcome of a call as the model reads it. It must know whether the call may have taken effect. */
export function toolResultOf(call: ToolCall | undefined): {
  readonly text: string;
  readonly isError: boolean;
} {
  const result = storedResult(call);
  // A call that has begun is in the ledger, so one that is missing there was never made.
  const wasMade = call !== undefined && call.status !== "skipped";
  return {
    text: result?.text ?? (wasMade ? UNKNOWN_OUTCOME : "This call was not made."),
    isError: call?.status !== "ok" || result === undefined || result.isError === true,
  };
}

export function storedResult(call: Pick<ToolCall, "result"> | undefined): ToolResult | undefined {
  return call?.result as ToolResult | undefined; // only results of tools are stored there
}

const UNKNOWN_OUTCOME = "The outcome of this call is unknown: it may or may not have taken effect.";

/** The answer that Cortex gives in the model's place when a limit is reached. */
function limitBody(text: string): AssistantBody {
  const blocks = [{ type: "text", text } as const];
  return { blocks, stop: "limit", provider: "cortex", model: "cortex", usage: NO_USAGE, costUsd: 0 };
}

/** Calls in an aborted answer were never made, and providers reject a call without an outcome. */
function withoutCalls(body: AssistantBody): AssistantBody {
  return { ...body, blocks: body.blocks.filter((block) => !isCall(block)) };
}

/** Some models reuse the ids of their calls, and providers reject a conversation with duplicate ids. */
function withDistinctIds(body: AssistantBody, exchanges: readonly Exchange[]): AssistantBody {
  if (!body.blocks.some(isCall)) return body;
  const used = new Set(exchanges.flatMap(({ messages }) => messages.flatMap(callsOf)).map(({ id }) => id));
  const blocks = body.blocks.map((block) => {
    if (!isCall(block)) return block;
    let id = block.id;
    for (let n = 2; used.has(id); n++) id = `${block.id}_${n}`;
    used.add(id);
    return id === block.id ? block : { ...block, id };
  });
  return { ...body, blocks };
}

/** Thinking alone is not an answer: it would not be shown. */
function isEmpty({ blocks }: AssistantBody): boolean {
  return blocks.every(
    (block) => block.type === "thinking" || (block.type === "text" && block.text.trim() === ""),
  );
}

function emptyAnswer({ provider, model }: AssistantBody): CortexError {
  return new CortexError("model_failed", `${model} (${provider}) returned an empty answer`, {
    hint: "The request is retried. If this happens often, change the model's settings or raise its output limit.",
    transient: true,
  });
}

function isCall(block: { readonly type: string }): block is CallBlock {
  return block.type === "toolCall";
}
