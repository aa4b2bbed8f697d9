/** The calls of one step: which of them the child has requested, and what they have led to. */
import type { CallBlock, ToolCall } from "../../model/message.ts";
import type { ToolRequest } from "./protocol.ts";
import { isSameCall } from "./replay.ts";

interface OpenCall {
  readonly call: CallBlock;
  isRequested: boolean;
  isAnswered: boolean;
  outcome: ToolCall | undefined;
}

interface Taken {
  readonly id: string;
  readonly outcome: ToolCall | undefined;
  /** All others of its step are answered. */
  readonly isLast: boolean;
}

export class OpenCalls {
  #calls: OpenCall[] = [];
  readonly #used = new Set<string>();

  /** Whether some of them have not been answered. */
  get isOpen(): boolean {
    return this.#calls.some(({ isAnswered }) => !isAnswered);
  }

  /** Begins a step. False: an id was used before. */
  open(calls: readonly CallBlock[], requested: readonly ToolRequest[]): boolean {
    const isRequested = requested.length > 0;
    this.#calls = calls.map((call) => ({ call, isRequested, isAnswered: false, outcome: undefined }));
    return calls.every(({ id }) => !this.#used.has(id) && this.#used.add(id));
  }

  /** They are the last of all calls of the turn. The turn may have given them other ids: the place counts. */
  setOutcomes(callsOfTurn: number, toolCalls: readonly ToolCall[]): void {
    const first = callsOfTurn - this.#calls.length;
    for (const [at, open] of this.#calls.entries())
      open.outcome = toolCalls.find(({ ordinal }) => ordinal === first + at);
  }

  /** Those that can be answered now. */
  takeRequested(): readonly Taken[] {
    return this.#calls
      .filter(({ isRequested, isAnswered }) => isRequested && !isAnswered)
      .map((open) => this.#answer(open));
  }

  take(request: ToolRequest): Taken | "unknown" | "other" | "answered" {
    const open = this.#calls.find(({ call }) => call.id === request.id);
    if (open === undefined) return this.#used.has(request.id) ? "answered" : "unknown";
    if (open.isAnswered) return "answered";
    return isSameCall(open.call, request) ? this.#answer(open) : "other";
  }

  #answer(open: OpenCall): Taken {
    open.isAnswered = true;
    return { id: open.call.id, outcome: open.outcome, isLast: !this.isOpen };
  }
}
