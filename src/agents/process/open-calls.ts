/** The calls of one step: which ones the child has requested, and their outcomes. */
import type { CallBlock, ToolCall } from "../../model/message.ts";
import type { ToolRequest } from "./protocol.ts";
import { isSameCall } from "./replay.ts";

interface OpenCall {
  readonly call: CallBlock;
  isRequested: boolean;
  isAnswered: boolean;
  outcome: ToolCall | undefined;
}

interface CallAnswer {
  readonly id: string;
  readonly outcome: ToolCall | undefined;
  /** All other calls of the step are answered. */
  readonly isLast: boolean;
}

export class OpenCalls {
  #calls: OpenCall[] = [];
  readonly #used = new Set<string>();

  /** Whether a call is not answered yet. */
  get isOpen(): boolean {
    return this.#calls.some(({ isAnswered }) => !isAnswered);
  }

  /** Begins a step. False: an id was used before. */
  open(calls: readonly CallBlock[], requested: readonly ToolRequest[]): boolean {
    const isRequested = requested.length > 0;
    this.#calls = calls.map((call) => ({ call, isRequested, isAnswered: false, outcome: undefined }));
    return calls.every(({ id }) => !this.#used.has(id) && this.#used.add(id));
  }

  /** Ours are the last calls of the turn. Matched by position, because the turn may have changed their ids. */
  setOutcomes(callsOfTurn: number, toolCalls: readonly ToolCall[]): void {
    const first = callsOfTurn - this.#calls.length;
    for (const [at, open] of this.#calls.entries())
      open.outcome = toolCalls.find(({ ordinal }) => ordinal === first + at);
  }

  /** The answers of all requested calls. */
  takeRequested(): readonly CallAnswer[] {
    return this.#calls
      .filter(({ isRequested, isAnswered }) => isRequested && !isAnswered)
      .map((open) => this.#answer(open));
  }

  take(request: ToolRequest): CallAnswer | "unknown" | "other" | "answered" {
    const open = this.#calls.find(({ call }) => call.id === request.id);
    if (open === undefined) return this.#used.has(request.id) ? "answered" : "unknown";
    if (open.isAnswered) return "answered";
    return isSameCall(open.call, request) ? this.#answer(open) : "other";
  }

  #answer(open: OpenCall): CallAnswer {
    open.isAnswered = true;
    return { id: open.call.id, outcome: open.outcome, isLast: !this.isOpen };
  }
}
