/**
 * The journal of an interrupted turn, for a program that starts over. As long as it repeats the same calls in the same
 * order, they are answered with their earlier outcomes, so nothing is done twice.
 */
import { canonicalJson } from "../../model/json.ts";
import { type CallBlock, callsOf, type Message, promptText, type ToolCall } from "../../model/message.ts";
import type { Exchange } from "../agent.ts";

type Entry =
  | { readonly kind: "call"; readonly call: CallBlock; readonly outcome: ToolCall | undefined }
  /** A message that arrived during the work. */
  | { readonly kind: "message"; readonly text: string };

/** The messages before the first call. */
export function beginningOf(messages: readonly Message[]): readonly Message[] {
  const begun = messages.findIndex((message) => callsOf(message).length > 0);
  return begun === -1 ? messages : messages.slice(0, begun);
}

type RequestedCall = Pick<CallBlock, "name" | "arguments">;

export class Replay {
  #entries: readonly Entry[];

  constructor({ messages, toolCalls }: Exchange) {
    const outcomes = new Map(toolCalls.map((call) => [call.ordinal, call]));
    let ordinal = 0;
    this.#entries = messages.slice(beginningOf(messages).length).flatMap((message): Entry[] => {
      if (message.role === "user") return [{ kind: "message", text: promptText(message) }];
      return callsOf(message).map((call) => ({ kind: "call", call, outcome: outcomes.get(ordinal++) }));
    });
  }

  /** Whether these calls were made next, in this order. */
  holds(calls: readonly RequestedCall[]): boolean {
    const next = this.#entries.filter((entry) => entry.kind === "call");
    return (
      calls.length > 0 && calls.every((call, at) => next[at] !== undefined && isSameCall(next[at].call, call))
    );
  }

  /** The outcome of a call, and the messages after it. Undefined: another call was next, and the rest is useless. */
  take(
    call: RequestedCall,
  ): { readonly outcome: ToolCall | undefined; readonly messages: readonly string[] } | undefined {
    const [next, ...rest] = this.#entries;
    if (next?.kind !== "call" || !isSameCall(next.call, call)) return undefined;
    const end = rest.findIndex(({ kind }) => kind === "call");
    const messages = rest.slice(0, end === -1 ? rest.length : end);
    this.#entries = rest.slice(messages.length);
    return { outcome: next.outcome, messages: textsOf(messages) };
  }

  /** Ends the replay. Returns the messages that were not taken. */
  end(): readonly string[] {
    const messages = textsOf(this.#entries);
    this.#entries = [];
    return messages;
  }
}

function textsOf(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === "message" ? [entry.text] : []));
}

export function isSameCall(a: RequestedCall, b: RequestedCall): boolean {
  return a.name === b.name && canonicalJson(a.arguments) === canonicalJson(b.arguments);
}
