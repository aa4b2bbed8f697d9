/**
 * The loop that makes an agent of a model: ask, make the calls that it wants, ask again, until it has an
 * answer.
 *
 * All it knows is in the messages and in the outcomes of calls, so it has no beginning: given a turn that
 * was cut off after its second tool call, it goes on with the third. Calls are made one after the other,
 * in the order in which the model gave them. The place of a call is counted over all messages of its turn,
 * so it is the same each time that the turn is taken up.
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
import { NO_USAGE } from "../model/usage.ts";
import type { Agent, AgentRequest, AgentResult, Exchange, Model } from "./agent.ts";

interface LoopParts {
  readonly model: Model;
  readonly clock: () => number;
  readonly mintId: () => string;
}

export function createLoopAgent({ model, clock, mintId }: LoopParts): Agent {
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
          return { kind: "done", answer: answer(request, said(continuation.text)) };
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

  /** Nothing said is no answer, and blanks are nothing: providers refuse an empty one in what was said before. */
  function partial(request: AgentRequest, body: AssistantBody): Message | undefined {
    const said = answer(request, withoutCalls(body));
    return said.content.trim() === "" ? undefined : said;
  }
}

/** Makes the calls that have no outcome yet. Undefined: all have one now, and the model is to be asked. */
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

/** What Cortex says in the model's place when a limit is reached. */
function said(text: string): AssistantBody {
  const blocks = [{ type: "text", text } as const];
  return { blocks, stop: "limit", provider: "cortex", model: "cortex", usage: NO_USAGE, costUsd: 0 };
}

/** Calls of an answer that was cut off were never made, and a call without an outcome is refused by providers. */
function withoutCalls(body: AssistantBody): AssistantBody {
  return { ...body, blocks: body.blocks.filter((block) => !isCall(block)) };
}

/** Some models repeat the ids of their calls, and providers refuse a conversation in which two have the same. */
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

/** Thinking alone is no answer: nobody would see it. */
function isEmpty({ blocks }: AssistantBody): boolean {
  return blocks.every(
    (block) => block.type === "thinking" || (block.type === "text" && block.text.trim() === ""),
  );
}

function emptyAnswer({ provider, model }: AssistantBody): CortexError {
  return new CortexError("model_failed", `${provider} answered nothing with ${model}`, {
    hint: "It is asked again; a model that does this often needs other settings, or more room for its answer.",
    transient: true,
  });
}

function isCall(block: { readonly type: string }): block is CallBlock {
  return block.type === "toolCall";
}
