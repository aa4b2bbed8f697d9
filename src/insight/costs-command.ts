import { CortexError } from "../model/errors.ts";
import { readConfigured } from "../config/configured.ts";
import { COST_GROUPS, DEFAULT_COST_DAYS, MAX_COST_DAYS, readCosts } from "./costs.ts";
import { type Invocation, text } from "../feature/command.ts";
import { openLedger } from "../client/ledger.ts";
import { count, table, usd } from "../terminal/text.ts";

export async function costs(given: Invocation): Promise<void> {
  const { home, environment, print } = given;
  const by = groupOf(text(given, "by") ?? "day");
  const days = daysOf(text(given, "days"));
  const { config } = await readConfigured({ home, environment });
  await using ledger = await openLedger(home);
  const view = await readCosts({ by, days }, { ledger, nowMs: Date.now(), config });
  print.data(view, () => {
    const rows = view.items
      .filter(({ turns }) => turns > 0)
      .map(({ key, turns, usage, costUsd, unpriced }) => [
        key,
        usd(costUsd),
        count(turns, "turn"),
        `${usage.input + usage.cacheRead + usage.cacheWrite} in, ${usage.output} out`,
        unpriced === 0 ? "" : `${unpriced} unpriced`,
      ]);
    const total = `${usd(view.costUsd)} in ${count(days, "day")}, ${count(view.turns, "turn")}`;
    const { calls, tokens, limits } = view.today;
    const today = `Today: ${calls} of ${limits.callsPerDay} model calls, ${tokens} of ${limits.tokensPerDay} tokens.`;
    return rows.length === 0
      ? `No turns in ${count(days, "day")}.\n${today}`
      : `${table(rows)}\n\n${total}\n${today}`;
  });
}

function groupOf(word: string): (typeof COST_GROUPS)[number] {
  const group = COST_GROUPS.find((candidate) => candidate === word);
  if (group !== undefined) return group;
  throw new CortexError("usage", `Unknown cost group "${word}"`, {
    hint: `Groups: ${COST_GROUPS.join(", ")}.`,
  });
}

function daysOf(word: string | undefined): number {
  if (word === undefined) return DEFAULT_COST_DAYS;
  const days = Number(word);
  if (Number.isInteger(days) && days >= 1 && days <= MAX_COST_DAYS) return days;
  throw new CortexError("usage", `Invalid number of days "${word}"`, {
    hint: `Use a whole number from 1 to ${MAX_COST_DAYS}.`,
  });
}
