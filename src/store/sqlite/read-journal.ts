import type { Database } from "better-sqlite3";

import type { MessageInput, ToolCallInput } from "./journal.ts";
import { firstKey, lastKey } from "./keys.ts";

const MESSAGES = "select id, role, content, body, at_ms as atMs from message";
const CALLS = `select key % 65536 as ordinal, call_id as callId, tool, params, status, result,
  child_session as childSession, started_ms as startedAtMs, completed_ms as completedAtMs from tool_call`;

/** The journalled messages and tool calls of a turn, in order. */
export function prepareReadJournal(db: Database) {
  const readMessages = db.prepare<[number, number], MessageInput>(
    `${MESSAGES} where key between ? and ? order by key`,
  );
  const readCalls = db.prepare<[number, number], ToolCallInput>(
    `${CALLS} where key between ? and ? order by key`,
  );
  return (turn: number): { messages: MessageInput[]; toolCalls: ToolCallInput[] } => ({
    messages: readMessages.all(firstKey(turn), lastKey(turn)),
    toolCalls: readCalls.all(firstKey(turn), lastKey(turn)),
  });
}

/** A single message or call. */
export function prepareReadEntry(db: Database) {
  const readMessage = db.prepare<[number], MessageInput>(`${MESSAGES} where key = ?`);
  const readCall = db.prepare<[number], ToolCallInput>(`${CALLS} where key = ?`);
  return {
    message: (turn: number, place: number): MessageInput | undefined =>
      readMessage.get(firstKey(turn) + place),
    call: (turn: number, ordinal: number): ToolCallInput | undefined =>
      readCall.get(firstKey(turn) + ordinal),
  };
}
