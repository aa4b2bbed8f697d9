/** Begins what comes next, as far as there is money for it. */
import { beginNext } from "./begin-steps.ts";
import { leftToSpend } from "./budget.ts";
import { conclude, type Draft, fail, nameOf } from "./draft.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { KeptRelay } from "../record/kept-relay.ts";
import type { NextStep } from "../record/next-step.ts";
import type { RelayRecord } from "../record/record.ts";

/** False: nothing was begun, and the relay comes to its end because of it. */
export async function beginLeg(
  draft: Draft,
  next: readonly NextStep[],
  relay: KeptRelay,
  parts: EngineParts,
): Promise<boolean> {
  const left = await leftToSpend(draft.record, relay, parts);
  if (left <= 0) {
    conclude(draft, { stopReason: "cost_limit" }, parts.clock());
    return false;
  }
  const share = left / draft.record.active.length;
  const limited = next.map((step) =>
    Number.isFinite(share) ? Object.assign({}, step, { maxCostUsd: share }) : step,
  );
  try {
    const { record } = draft;
    const begun = await beginNext({ ...relay, record, artifact: draft.artifact }, limited, parts);
    draft.record = begun.record;
    for (const [step, order] of begun.orders) draft.orders.set(step, order);
    draft.notices.push(boundary(begun.record, record.steps.length));
    return true;
  } catch (error) {
    fail(draft, error, parts.clock());
    return false;
  }
}

function boundary({ steps }: RelayRecord, first: number): string {
  const names = steps
    .slice(first)
    .map((step) => `*${nameOf(step)}*`)
    .join(", ");
  const before = steps.slice(0, first).findLast(({ kind }) => kind !== "script");
  return `Step ${first + 1}: ${names} starting${before === undefined ? "" : ` (prev: ${nameOf(before)})`}`;
}
