/** The outcome of delegated work, in words for its caller. */
import { count } from "../model/count.ts";
import type { TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { assistantBody, endedAtLimit, type Message, type ToolCall } from "../model/message.ts";
import { hasSaidAll, saidInAll } from "../model/reply-tool.ts";
import type { ToolResult } from "../model/tool.ts";
import type { Delegation, Ledger } from "../store/store.ts";
import { delegationDetail } from "./delegate.ts";

/** The maximum length of one result for a model. */
export const MAX_RESULT_LENGTH = 50_000;
const MAX_ERROR_LENGTH = 2_000;

interface Outcome {
  /** The answer, or the part that was produced. */
  readonly said: string;
  /** Why there is no result. Undefined: success. */
  readonly problem: string | undefined;
  /** Null: unknown. */
  readonly costUsd: number | null;
  /** The turn that did the work, committed or not. */
  readonly turn: TurnId | undefined;
  /** Whether the caller has had the whole answer in replies. */
  readonly isTold: boolean;
  /** Whether a limit ended it, so that the answer is incomplete. */
  readonly isCut: boolean;
}

type Reads = Pick<Ledger, "queue" | "turns" | "runs">;

/** The result of the waiting call. Undefined: not over yet. */
export async function childResult(delegation: Delegation, ledger: Reads): Promise<ToolResult | undefined> {
  if (delegation.state === "open") return undefined;
  const outcome = await readOutcome(delegation, ledger);
  const { said, problem, isCut } = outcome;
  const parts = [
    problem ?? (isCut ? INCOMPLETE : undefined),
    problem === undefined || said === "" ? said : `Partial result:\n\n${said}`,
  ];
  return {
    text: [...parts.filter((part) => part !== undefined && part !== ""), footer(delegation, outcome)].join(
      "\n\n",
    ),
    ...(problem === undefined ? {} : { isError: true }),
    details: detailsOf(delegation, outcome),
    childSession: delegation.session,
  };
}

/** The report message. Undefined: the worker's replies said everything. */
export function reportText(delegation: Delegation, outcome: Outcome): string | undefined {
  const { said, problem, isTold, isCut } = outcome;
  if (problem === undefined && isTold) return undefined;
  const head =
    problem ??
    (isCut ? INCOMPLETE : undefined) ??
    (said === "" ? "The work is done; the worker returned no text." : "The work is done:");
  const body = said === "" ? [] : problem === undefined ? [said] : [`Partial result:\n\n${said}`];
  return [head, ...body, footer(delegation, outcome)].join("\n\n");
}

/** The work has a result, and is not called done. */
const INCOMPLETE = "The work is incomplete: a limit was reached.";

function detailsOf({ id, session, state }: Delegation, { costUsd, turn, isCut }: Outcome): Json {
  return { delegation: id, session, state, limitReached: isCut, costUsd, turn: turn ?? null };
}

export async function readOutcome(delegation: Delegation, ledger: Reads): Promise<Outcome> {
  const { item, state } = delegation;
  const settled = await ledger.queue.outcome(item);
  const turn = delegation.turn ?? settled?.turn ?? settled?.formerTurn;
  const { messages, toolCalls } = await readWork(turn, ledger);
  const answers = messages.filter(({ role }) => role === "assistant");
  const said = answers.at(-1)?.content ?? "";
  return {
    said: shorten(saidInAll(said, toolCalls), turn),
    problem: problemOf(delegation, settled?.policy),
    costUsd: sumCosts(answers),
    turn,
    isTold: state === "done" && hasSaidAll(said, toolCalls),
    isCut: state === "done" && endedAtLimit(messages),
  };
}

/** The content of a turn, or the journal of one that was not committed. */
async function readWork(
  turn: TurnId | undefined,
  { turns, runs }: Reads,
): Promise<{ readonly messages: readonly Message[]; readonly toolCalls: readonly ToolCall[] }> {
  if (turn === undefined) return NOTHING;
  const committed = await turns.read(turn);
  if (committed !== undefined) return committed;
  const run = (await runs.ofTurn(turn)).at(-1);
  return run === undefined ? NOTHING : runs.readJournal(run.id);
}

const NOTHING = { messages: [], toolCalls: [] } as const;

function problemOf(delegation: Delegation, policy: string | undefined): string | undefined {
  const { state, error } = delegation;
  switch (state) {
    case "open":
    case "done":
      return undefined;
    case "aborted":
      return "The work was aborted.";
    case "failed":
      return `The work failed: ${(error ?? "unknown reason").slice(0, MAX_ERROR_LENGTH).toWellFormed()}`;
    case "dropped":
      return `The work was dropped before it started${policy === undefined ? "" : ` (policy ${policy})`}.`;
    case "timeout": {
      const { timeoutMs } = delegationDetail(delegation);
      return `The work timed out${timeoutMs === undefined ? "" : ` after ${timeoutMs / 1000} s`} and was stopped.`;
    }
    case "cancelled":
      return "The work was cancelled.";
  }
}

/** One answer whose price is not known makes the sum unknown. */
function sumCosts(answers: readonly Message[]): number | null {
  const costs = answers.map((answer) => assistantBody(answer).costUsd ?? null);
  return costs.reduce((sum: number | null, cost) => (sum === null || cost === null ? null : sum + cost), 0);
}

function shorten(text: string, turn: TurnId | undefined): string {
  if (text.length <= MAX_RESULT_LENGTH) return text;
  const rest = text.length - MAX_RESULT_LENGTH;
  return `${text.slice(0, MAX_RESULT_LENGTH).toWellFormed()}\n(${count(rest, "more character is", "more characters are")} in the turn ${turn})`;
}

function footer({ session }: Delegation, { costUsd }: Outcome): string {
  return `[worker ${session}${costUsd === null ? "" : `, ${costUsd.toFixed(4)} USD`}]`;
}
