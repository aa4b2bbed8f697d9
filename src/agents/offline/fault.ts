/**
 * The ways in which a model fails, as they look to whoever asks it: most are a rejection, before or in the
 * middle of the answer; some are an answer that nobody should have to expect.
 */
import { CortexError } from "../../model/errors.ts";
import type { Draft } from "./draft.ts";

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
  /** On how many asks of its play it happens, within a turn. Absent: on all. */
  readonly times?: number | undefined;
  /** What a provider that is too busy would ask for. */
  readonly retryAfterMs?: number | undefined;
}

type Spoilt =
  | { readonly kind: "answer"; readonly draft: Draft }
  /** The text is still said; then the answer breaks off. */
  | { readonly kind: "failure"; readonly text: string; readonly error: CortexError };

export const HUGE_LENGTH = 10 * 1024 * 1024;
/** A name that no tool has. */
export const UNKNOWN_TOOL = "no_such_tool";
/** Of how many plays the faults are counted. One that is forgotten has its faults once more. */
export const MAX_FAULTS_COUNTED = 10_000;
const CUT_TEXT = "This answer breaks off before it";

export function spoil(draft: Draft, fault: Fault): Spoilt {
  const fail = (what: string, status?: number, text = ""): Spoilt => {
    return { kind: "failure", text, error: failure(what, fault, status) };
  };
  switch (fault.kind) {
    case "429":
      return fail("too many requests", 429);
    case "529":
      return fail("it is overloaded", 529);
    case "500":
      return fail("an error on its side", 500);
    case "refused":
      return fail("the key is not valid", 401);
    case "overflow":
      return { kind: "failure", text: "", error: overflow() };
    case "timeout":
      return fail("it did not answer in time");
    case "cut":
      return fail("the connection was cut before the answer began");
    case "cut-text":
      return fail("the connection was cut in the middle of the text", undefined, firstHalf(draft.text));
    case "cut-call":
      return fail("the connection was cut in the middle of a tool call", undefined, draft.text);
    case "unknown-tool":
      return answer({ ...draft, calls: draft.calls.map((call) => ({ ...call, name: UNKNOWN_TOOL })) });
    case "duplicate-ids":
      return answer({ ...draft, calls: draft.calls.map((call) => ({ ...call, id: draft.calls[0]!.id })) });
    case "empty":
      return answer({ text: "", calls: [] });
    case "huge":
      return answer({ ...draft, text: "offline ".repeat(HUGE_LENGTH / "offline ".length) });
  }
}

/** Says whether a fault still happens at a place, and counts that it did. */
export function createFaultCounter(): (fault: Fault, place: string) => boolean {
  const counts = new Map<string, number>();
  return ({ times }, place) => {
    if (times === undefined) return true;
    const count = counts.get(place) ?? 0;
    if (count >= times) return false;
    counts.delete(place);
    counts.set(place, count + 1);
    if (counts.size > MAX_FAULTS_COUNTED) counts.delete(counts.keys().next().value!);
    return true;
  };
}

function answer(draft: Draft): Spoilt {
  return { kind: "answer", draft };
}

function failure(what: string, { kind, retryAfterMs }: Fault, status: number | undefined): CortexError {
  const code = status === undefined ? "" : `${status}, `;
  const retry = retryAfterMs === undefined ? "" : `; it asks to wait ${retryAfterMs} ms`;
  return new CortexError(
    "model_failed",
    `The offline model failed as its script says: ${code}${what}${retry}`,
    {
      hint: `Take \`fault: ${kind}\` out of the script, or let it happen fewer \`times\`.`,
      transient: kind !== "refused",
      retryAfterMs,
      cause: { status },
    },
  );
}

function overflow(): CortexError {
  return new CortexError(
    "context_overflow",
    "The offline model failed as its script says: the conversation is longer than it takes",
    { hint: "It is made shorter by itself." },
  );
}

function firstHalf(text: string): string {
  const whole = text === "" ? CUT_TEXT : text;
  return whole.slice(0, Math.ceil(whole.length / 2)).toWellFormed();
}
