/**
 * The ways in which a model can fail: most are a rejection, before or in the middle of the answer; some are an answer that
 * no model should give.
 */
import { CortexError } from "../../model/errors.ts";
import type { CallBlock } from "../../model/message.ts";

/** What the offline model is about to answer. */
export interface PlannedAnswer {
  readonly text: string;
  readonly calls: readonly CallBlock[];
}

export const FAULT_KINDS = [
  "429",
  "529",
  "500",
  "timeout",
  "cut",
  "cut-text",
  "cut-call",
  "refused",
  "overflow",
  "unknown-tool",
  "duplicate-ids",
  "empty",
  "huge",
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** How often it happens per play and turn. Absent: always. */
  readonly times?: number | undefined;
  /** The delay that an overloaded provider would ask for. */
  readonly retryAfterMs?: number | undefined;
}

type FaultyOutcome =
  | { readonly kind: "answer"; readonly answer: PlannedAnswer }
  /** The text is still streamed; then the answer breaks off. */
  | { readonly kind: "failure"; readonly text: string; readonly error: CortexError };

export const HUGE_LENGTH = 10 * 1024 * 1024;
/** No tool has this name. */
export const UNKNOWN_TOOL = "no_such_tool";
/** For how many plays faults are counted. A play that is dropped starts its count over. */
export const MAX_FAULTS_COUNTED = 10_000;
const CUT_TEXT = "This answer breaks off before it";

export function applyFault(planned: PlannedAnswer, fault: Fault): FaultyOutcome {
  const fail = (what: string, status?: number, text = ""): FaultyOutcome => {
    return { kind: "failure", text, error: failure(what, fault, status) };
  };
  switch (fault.kind) {
    case "429":
      return fail("too many requests", 429);
    case "529":
      return fail("overloaded", 529);
    case "500":
      return fail("internal server error", 500);
    case "refused":
      return fail("invalid key", 401);
    case "overflow":
      return { kind: "failure", text: "", error: overflow() };
    case "timeout":
      return fail("timeout");
    case "cut":
      return fail("connection lost before the answer began");
    case "cut-text":
      return fail("connection lost in the middle of the text", undefined, firstHalf(planned.text));
    case "cut-call":
      return fail("connection lost in the middle of a tool call", undefined, planned.text);
    case "unknown-tool":
      return answer({ ...planned, calls: planned.calls.map((call) => ({ ...call, name: UNKNOWN_TOOL })) });
    case "duplicate-ids": {
      const id = planned.calls[0]?.id ?? "";
      return answer({ ...planned, calls: planned.calls.map((call) => ({ ...call, id })) });
    }
    case "empty":
      return answer({ text: "", calls: [] });
    case "huge":
      return answer({ ...planned, text: "offline ".repeat(HUGE_LENGTH / "offline ".length) });
  }
}

/** Returns a function that tells whether a fault is still due at a place, and counts it. */
export function createFaultCounter(): (fault: Fault, place: string) => boolean {
  const counts = new Map<string, number>();
  return ({ times }, place) => {
    if (times === undefined) return true;
    const count = counts.get(place) ?? 0;
    if (count >= times) return false;
    counts.delete(place);
    counts.set(place, count + 1);
    for (const oldest of counts.keys()) {
      if (counts.size <= MAX_FAULTS_COUNTED) break;
      counts.delete(oldest);
    }
    return true;
  };
}

function answer(planned: PlannedAnswer): FaultyOutcome {
  return { kind: "answer", answer: planned };
}

function failure(what: string, { kind, retryAfterMs }: Fault, status: number | undefined): CortexError {
  const code = status === undefined ? "" : `${status}, `;
  const retry = retryAfterMs === undefined ? "" : `; retry after ${retryAfterMs} ms`;
  return new CortexError("model_failed", `The offline model failed as scripted: ${code}${what}${retry}`, {
    hint: `Remove \`fault: ${kind}\` from the script, or lower its \`times\`.`,
    transient: kind !== "refused",
    retryAfterMs,
    cause: { status },
  });
}

function overflow(): CortexError {
  return new CortexError(
    "context_overflow",
    "The offline model failed as scripted: the conversation exceeds its context window",
    { hint: "The conversation is shortened automatically." },
  );
}

function firstHalf(text: string): string {
  const whole = text === "" ? CUT_TEXT : text;
  return whole.slice(0, Math.ceil(whole.length / 2)).toWellFormed();
}
