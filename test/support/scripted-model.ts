/** A model that says what the test has written down: the outside world of the loop around it. */
import type { Model, Question } from "../../src/agents/agent.ts";
import type { Json } from "../../src/model/json.ts";
import type { AssistantBody, Block, Message } from "../../src/model/message.ts";
import { message } from "./sample.ts";

type Answer = AssistantBody | ((question: Question) => AssistantBody | Promise<AssistantBody>);

export interface ScriptedModel extends Model {
  /** What it was asked, as it was at that moment. */
  readonly questions: Question[];
}

/** Answers in turn; what is asked beyond that is a mistake of the test. */
export function scriptedModel(...answers: readonly Answer[]): ScriptedModel {
  const questions: Question[] = [];
  return {
    questions,
    async ask(question) {
      const answer = answers[questions.length];
      questions.push({ ...question, exchanges: structuredClone(question.exchanges) });
      if (answer === undefined) throw new Error(`The script has no answer ${questions.length}`);
      return typeof answer === "function" ? answer(question) : answer;
    },
  };
}

/**
 * Goes by what it reads, so that the same turn always has the same answer. The steps say how many calls it
 * wants beside the first.
 */
export function attentiveModel(steps: readonly number[]): Model {
  return {
    async ask({ exchanges }) {
      const step = exchanges.at(-1)!.messages.filter(({ role }) => role === "assistant").length;
      const more = steps[step];
      if (more === undefined) return says("done");
      return calls(...Array.from({ length: more + 1 }, (_, i) => [`Tool${i}`, { step, i }] as const));
    },
  };
}

export function says(text: string, fields: Partial<AssistantBody> = {}): AssistantBody {
  return body([{ type: "text", text }], { stop: "stop", ...fields });
}

/** An answer as the message that holds it. */
export function spoken(id: string, said: AssistantBody): Message {
  return { ...message(id, "assistant", ""), body: said };
}

/** A call, by the name of its tool or with its arguments. */
export type Wish = string | readonly [string, Json];

/** Wants tools called. */
export function calls(...tools: readonly Wish[]): AssistantBody {
  const blocks = tools.map((tool, at): Block => {
    const [name, args] = typeof tool === "string" ? [tool, {}] : tool;
    return { type: "toolCall", id: `${name}-${at}`, name, arguments: args };
  });
  return body(blocks, { stop: "tools" });
}

function body(blocks: readonly Block[], fields: Partial<AssistantBody>): AssistantBody {
  return {
    blocks,
    stop: "stop",
    provider: "test",
    model: "scripted",
    usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, reasoning: 0 },
    costUsd: 0.5,
    ...fields,
  };
}
