/** What a chat says when it is asked for sessions, turns and costs. */
import type { SessionView, TurnView } from "../feature/views.ts";
import { count, duration, firstLine, moment, table } from "../terminal/text.ts";

const MAX_SAID_LENGTH = 60;

export function describeSessions(sessions: readonly SessionView[], here: string): string {
  if (sessions.length === 0) return "There is no session yet: one begins with its first message.";
  const rows = sessions.map(({ key, state, queued, usedAt }) => [
    key === here ? "*" : " ",
    key,
    queued === 0 ? state : `${state}, ${queued} waiting`,
    moment(usedAt),
  ]);
  return `${table(rows)}\n/switch <session> goes on in another one.`;
}

/** Newest first, as the numbers are counted. */
export function describeTurns(turns: readonly TurnView[]): string {
  if (turns.length === 0) return "Nothing was said here yet.";
  const rows = turns.map((turn, at) => [String(at + 1), turn.id, moment(turn.startedAt), saidIn(turn)]);
  return `${table(rows)}\n/fork <number> goes on after one of them, in a session of its own.`;
}

export interface Costs {
  readonly costUsd: number;
  readonly turns: number;
  readonly items: readonly { readonly key: string; readonly turns: number; readonly costUsd: number }[];
}

export function describeCosts({ costUsd, turns, items }: Costs, here: string, days: number): string {
  const own = items.find(({ key }) => key === here) ?? { turns: 0, costUsd: 0 };
  const all = `all sessions: ${usd(costUsd)}, ${count(turns, "turn")}`;
  return `In ${count(days, "day")}, this session: ${usd(own.costUsd)}, ${count(own.turns, "turn")}; ${all}.`;
}

/** Undefined where it has cost nothing: there is nothing to say then. */
export function describeSpent({ costUsd, startedAt, completedAt }: TurnView): string | undefined {
  if (costUsd === null || costUsd === 0) return undefined;
  return `${usd(costUsd)} · ${duration(Date.parse(completedAt) - Date.parse(startedAt))}`;
}

export function usd(amount: number): string {
  return `$${amount.toFixed(4)}`;
}

/** What was said last before the answer. */
export function queryOf({ type, query }: TurnView): string {
  return type === "compaction" ? "(compaction)" : (query.at(-1)?.content ?? "");
}

function saidIn(turn: TurnView): string {
  const asked = firstLine(queryOf(turn), MAX_SAID_LENGTH);
  return turn.text === "" ? asked : `${asked} → ${firstLine(turn.text, MAX_SAID_LENGTH)}`;
}
