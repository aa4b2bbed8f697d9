/** The answers of a chat to its own commands: help, sessions, turns, costs. */
import { chatHelp } from "./chat-commands.ts";
import { type ChatCosts, type ChatServer, COST_DAYS } from "./chat-server.ts";
import type { SessionView, TurnView } from "../feature/views.ts";
import { messageOf, type Talk } from "./send.ts";
import { count, duration, firstLine, moment, table } from "../terminal/text.ts";

const MAX_SAID_LENGTH = 60;

export async function answerTo(
  asked: "help" | "sessions" | "turns" | "costs",
  talk: Talk,
  server: ChatServer,
): Promise<string> {
  const { session } = talk;
  switch (asked) {
    case "help": {
      const { text = "" } = await server.say(messageOf("/help", talk));
      return `${chatHelp()}\n\nCortex commands, available in every channel:\n${text}`;
    }
    case "sessions":
      return describeSessions(await server.sessions(), session);
    case "turns":
      return describeTurnList(await server.turns(session));
    case "costs":
      return describeCosts(await server.costs(), session, COST_DAYS);
  }
}

export function describeSessions(sessions: readonly SessionView[], here: string): string {
  if (sessions.length === 0) return "No sessions yet. The first message starts one.";
  const rows = sessions.map(({ key, state, queued, usedAt }) => [
    key === here ? "*" : " ",
    key,
    queued === 0 ? state : `${state}, ${queued} queued`,
    moment(usedAt),
  ]);
  return `${table(rows)}\nType /switch <session> to change to another one.`;
}

/** Newest first; the numbers are those that /fork takes. */
export function describeTurnList(turns: readonly TurnView[]): string {
  if (turns.length === 0) return "No turns yet.";
  const rows = turns.map((turn, at) => [String(at + 1), turn.id, moment(turn.startedAt), saidIn(turn)]);
  return `${table(rows)}\nType /fork <number> to continue from one of them in a new session.`;
}

export function describeCosts({ costUsd, turns, items }: ChatCosts, here: string, days: number): string {
  const own = items.find(({ key }) => key === here) ?? { turns: 0, costUsd: 0 };
  const all = `all sessions ${dollars(costUsd)}, ${count(turns, "turn")}`;
  return `Last ${count(days, "day")}: this session ${dollars(own.costUsd)}, ${count(own.turns, "turn")}; ${all}.`;
}

/** Undefined if the turn was free. */
export function describeSpent({ costUsd, startedAt, completedAt }: TurnView): string | undefined {
  if (costUsd === null || costUsd === 0) return undefined;
  return `${dollars(costUsd)} · ${duration(Date.parse(completedAt) - Date.parse(startedAt))}`;
}

export function dollars(amount: number): string {
  return `$${amount.toFixed(4)}`;
}

/** The last message before the answer. */
export function queryOf({ type, query }: TurnView): string {
  return type === "compaction" ? "(compaction)" : (query.at(-1)?.content ?? "");
}

function saidIn(turn: TurnView): string {
  const asked = firstLine(queryOf(turn), MAX_SAID_LENGTH);
  return turn.text === "" ? asked : `${asked} → ${firstLine(turn.text, MAX_SAID_LENGTH)}`;
}
