/** What turns have cost: by session, agent, persona, model or day. */
import type { CostQuery, CostRow, Ledger } from "../store/store.ts";
import { dateOf, dayStarts } from "../model/day.ts";

export const COST_GROUPS = ["day", "session", "agent", "persona", "model"] as const;
export const DEFAULT_COST_DAYS = 30;
export const MAX_COST_DAYS = 366;

export interface CostsWanted {
  readonly by: CostQuery["by"];
  /** Today and as many days before it as make this number. */
  readonly days: number;
}

export async function readCosts(
  { by, days }: CostsWanted,
  { ledger, nowMs, timezone }: { readonly ledger: Ledger; readonly nowMs: number; readonly timezone: string },
) {
  const dayStartsMs = dayStarts(nowMs, days, timezone);
  const sinceMs = dayStartsMs[0]!;
  const range = { sinceMs, untilMs: nowMs + 1 };
  const rows = await ledger.turns.costs({ ...range, by, ...(by === "day" && { dayStartsMs }) });
  const name = (key: string): string => (by === "day" ? dateOf(Number(key), timezone) : key);
  const whole = by === "day" ? rows : await ledger.turns.costs({ ...range, by: "day", dayStartsMs });
  return {
    by,
    since: new Date(sinceMs).toISOString(),
    costUsd: sum(whole, ({ costUsd }) => costUsd),
    turns: sum(whole, ({ turns }) => turns),
    unpriced: sum(whole, ({ unpriced }) => unpriced),
    items: rows.map(({ key, turns, usage, costUsd, unpriced }) => ({
      key: name(key),
      turns,
      usage,
      costUsd,
      unpriced,
    })),
    next: null,
  };
}

function sum(rows: readonly CostRow[], value: (row: CostRow) => number): number {
  return rows.reduce((total, row) => total + value(row), 0);
}
