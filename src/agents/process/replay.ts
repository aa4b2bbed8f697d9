/**
 * What a turn that was cut off holds already, for a program that begins again. It asks for the same calls in the
 * same order as long as it does the same; so long it is told what they led to then, and nothing is done twice.
 */
import { canonicalJson } from "../../model/json.ts";
import { type CallBlock, callsOf, type Message, promptText, type ToolCall } from "../../model/message.ts";
import type { Exchange } from "../agent.ts";

type Entry =
  | { readonly kind: "call"; readonly call: CallBlock; readonly outcome: ToolCall | undefined }
  /** What was said while it worked. */
  | { readonly kind: "said"; readonly text: string };

/** What was said before the first call. */
export function beginningOf(messages: readonly Message[]): readonly Message[] {
  const begun = messages.findIndex((message) => callsOf(message).length > 0);
  return begun === -1 ? messages : messages.slice(0, begun);
}

type Wish = Pick<CallBlock, "name" | "arguments">;

export class Replay {
  #entries: readonly Entry[];

  constructor({ messages, toolCalls }: Exchange) {
    const outcomes = new Map(toolCalls.map((call) => [call.ordinal, call]));
    let ordinal = 0;
    this.#entries = messages.slice(beginningOf(messages).length).flatMap((message): Entry[] => {
      if (message.role === "user") return [{ kind: "said", text: promptText(message) }];
      return callsOf(message).map((call) => ({ kind: "call", call, outcome: outcomes.get(ordinal++) }));
    });
  }

  /** Whether these calls were made next, in this order. */
  holds(wishes: readonly Wish[]): boolean {
    const next = this.#entries.filter((entry) => entry.kind === "call");
    return (
      wishes.length > 0 &&
      wishes.every((wish, at) => next[at] !== undefined && isSameCall(next[at].call, wish))
    );
  }

  /** What this call led to, and what was said then. Undefined: it was not made next; the rest is of no use. */
  take(wish: Wish): { readonly outcome: ToolCall | undefined; readonly said: readonly string[] } | undefined {
    const [next, ...rest] = this.#entries;
    if (next?.kind !== "call" || !isSameCall(next.call, wish)) return undefined;
    const end = rest.findIndex(({ kind }) => kind === "call");
    const said = rest.slice(0, end === -1 ? rest.length : end);
    this.#entries = rest.slice(said.length);
    return { outcome: next.outcome, said: textsOf(said) };
  }

  /** Ends it: what was said, and was not told yet. */
  end(): readonly string[] {
    const said = textsOf(this.#entries);
    this.#entries = [];
    return said;
  }
}

function textsOf(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === "said" ? [entry.text] : []));
}

export function isSameCall(call: Wish, wish: Wish): boolean {
  return call.name === wish.name && canonicalJson(call.arguments) === canonicalJson(wish.arguments);
}
