/** The costs of turns by session, agent, persona, person, model or day. */
import type { Config } from "../config/config.ts";
import { dateOf, dayStart, dayStarts } from "../model/day.ts";
import type { CostQuery, CostRow, Ledger, ModelUse } from "../store/store.ts";

export const COST_GROUPS = ["day", "session", "agent", "persona", "person", "model"] as const;
export const DEFAULT_COST_DAYS = 30;
export const MAX_COST_DAYS = 366;

interface CostsRequest {
  readonly by: CostQuery["by"];
  /** Number of days, including today. */
  readonly days: number;
}

export async function readCosts(
  { by, days }: CostsRequest,
  { ledger, nowMs, config }: { readonly ledger: Ledger; readonly nowMs: number; readonly config: Config },
) {
  const { timezone } = config;
  const dayStartsMs = dayStarts(nowMs, days, timezone);
  const [sinceMs = nowMs] = dayStartsMs;
  const range = { sinceMs, untilMs: nowMs + 1 };
  const rows = await ledger.turns.costs({ ...range, by, ...(by === "day" && { dayStartsMs }) });
  const name = (key: string): string => (by === "day" ? dateOf(Number(key), timezone) : key);
  const whole = by === "day" ? rows : await ledger.turns.costs({ ...range, by: "day", dayStartsMs });
  const used = await ledger.turns.usedSince(dayStart(nowMs, timezone));
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
    /** Usage since midnight, free calls included, and the limits. */
    today: { ...usageOf(used), limits: config.usage },
  };
}

export function usageOf(used: readonly ModelUse[]) {
  return {
    calls: used.reduce((total, { calls }) => total + calls, 0),
    tokens: used.reduce((total, { tokens }) => total + tokens, 0),
    personas: used.map(({ persona, calls, tokens }) => ({ persona: persona ?? null, calls, tokens })),
  };
}

function sum(rows: readonly CostRow[], value: (row: CostRow) => number): number {
  return rows.reduce((total, row) => total + value(row), 0);
}
