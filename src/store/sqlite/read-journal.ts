import type { Database } from "better-sqlite3";

import type { MessageInput, ToolCallInput } from "./journal.ts";
import { firstKey, lastKey } from "./keys.ts";

/** Messages and tool calls that the journal holds of a turn, in order. */
export function prepareReadJournal(db: Database) {
  const readMessages = db.prepare<[number, number], MessageInput>(
    "select id, role, content, body, at_ms as atMs from message where key between ? and ? order by key",
  );
  const readCalls = db.prepare<[number, number], ToolCallInput>(
    `select key % 65536 as ordinal, call_id as callId, tool, params, status, result, child_session as childSession,
            started_ms as startedAtMs, completed_ms as completedAtMs
     from tool_call where key between ? and ? order by key`,
  );
  return (turn: number): { messages: MessageInput[]; toolCalls: ToolCallInput[] } => ({
    messages: readMessages.all(firstKey(turn), lastKey(turn)),
    toolCalls: readCalls.all(firstKey(turn), lastKey(turn)),
  });
}
