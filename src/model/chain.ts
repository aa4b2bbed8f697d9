/**
 * Chains of events. What a turn, a hook or a relay brings about is caused by the event that it works on, and is one
 * link deeper than that. What comes from outside (people, timers, webhooks, files) begins a chain. What brings a result
 * back to where it was asked for is as deep as the event that led to the asking. So a chain is long where things set
 * each other off, and not where one of them does much; results that come back are counted by themselves.
 */
import { count } from "./count.ts";
import { CortexError, type ErrorCode } from "./errors.ts";

interface ChainLimits {
  readonly maxChain: number;
  readonly maxReturns: number;
}

interface Link {
  readonly depth: number;
  readonly returned: number;
}

const ENDED = "The event chain reached its limit";

/** Whether this is what was said of the end of a chain. */
export function isChainEnd(error: string | null): boolean {
  return error?.startsWith(ENDED) === true;
}

/** Throws where nothing of ours may follow from an event any more. */
export function checkChain({ depth, returned }: Link, limits: ChainLimits, code: ErrorCode): void {
  if (depth >= limits.maxChain) throw ended(`${depth} internal events in a row`, "maxChain", code);
  if (returned >= limits.maxReturns)
    throw ended(`${count(returned, "worker result")} in a row`, "maxReturns", code);
}

function ended(what: string, limit: keyof ChainLimits, code: ErrorCode): CortexError {
  return new CortexError(code, `${ENDED}: ${what} without an external event`, {
    hint: `Stop here and answer with what you have. The limit is \`broker.${limit}\` in cortex.json.`,
  });
}
