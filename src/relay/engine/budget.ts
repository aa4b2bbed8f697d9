/** What a relay may still spend: of its template, of whoever started it, and of the day that all relays share. */
import type { EngineParts } from "./engine-parts.ts";
import type { KeptRelay } from "../record/kept-relay.ts";
import { moneyLeft } from "../record/next-step.ts";
import type { RelayRecord } from "../record/record.ts";

/**
 * In USD: 0 where nothing is left, Infinity where nobody has set a limit. `record` is the relay as it will be saved, and
 * may have cost more than the store knows.
 */
export async function leftToSpend(
  record: RelayRecord,
  { record: saved, content, detail }: Pick<KeptRelay, "record" | "content" | "detail">,
  { store, usdPerDay, dayStartMs }: Pick<EngineParts, "store" | "usdPerDay" | "dayStartMs">,
): Promise<number> {
  const ofTemplate = moneyLeft(record, content.template) ?? Infinity;
  const left = Math.min(ofTemplate, (detail.budgetUsd ?? Infinity) - record.totalCostUsd);
  const perDay = usdPerDay();
  if (left <= 0 || perDay === undefined) return Math.max(0, left);
  const unsaved = record.totalCostUsd - saved.totalCostUsd;
  const isDaySpent = (await store.relays.spentUsd(dayStartMs())) + unsaved >= perDay;
  return isDaySpent ? 0 : left;
}
