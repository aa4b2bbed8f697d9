/** The cost of a program's run, and the part of it that its messages do not include. */
import type { AssistantBody } from "../../model/message.ts";
import { addUsage, NO_USAGE, type Usage } from "../../model/usage.ts";
import type { Spent } from "./protocol.ts";

export type Priced = Pick<AssistantBody, "usage" | "costUsd">;

/** Sums of floating-point dollars differ slightly. */
const ROUNDING_USD = 1e-9;

export const NOTHING_SPENT: Priced = { usage: NO_USAGE, costUsd: 0 };

export function addSpent(a: Priced, b: Priced): Priced {
  const costUsd = a.costUsd === null || b.costUsd === null ? null : a.costUsd + b.costUsd;
  return { usage: addUsage(a.usage, b.usage), costUsd };
}

/** In the form of the protocol. */
export function spentOf({ usage, costUsd }: Priced): Required<Omit<Spent, "durationMs">> {
  return { tokensIn: tokensIn(usage), tokensOut: usage.output, costUsd };
}

/** The part of the reported cost that exceeds the known cost of its messages. */
export function restOf(spent: Spent, known: Priced): Priced {
  const input = Math.max(0, (spent.tokensIn ?? 0) - tokensIn(known.usage));
  const output = Math.max(0, (spent.tokensOut ?? 0) - known.usage.output);
  return { usage: { ...NO_USAGE, input, output }, costUsd: restOfCost(spent.costUsd, known.costUsd) };
}

function restOfCost(spent: number | null | undefined, known: number | null): number | null {
  if (known === null) return 0; // a message already has an unknown cost
  if (spent === null || spent === undefined) return null;
  return spent - known > ROUNDING_USD ? spent - known : 0;
}

export function isNothing({ usage, costUsd }: Priced): boolean {
  return tokensIn(usage) === 0 && usage.output === 0 && (costUsd ?? 0) === 0;
}

function tokensIn({ input, cacheRead, cacheWrite }: Usage): number {
  return input + cacheRead + cacheWrite;
}
