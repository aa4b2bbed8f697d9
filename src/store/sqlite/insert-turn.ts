import type { Database } from "better-sqlite3";

import { turnHash } from "../../model/turn-hash.ts";
import { preparePosition } from "./ancestry.ts";
import type { Held } from "./held.ts";
import { TRUST_PATH } from "./inherit-trust.ts";
import type { MessageInput, ToolCallInput } from "./journal.ts";
import { prepareRecorder } from "./record-changes.ts";
import { type Decoded, jsonOrNull, number, realOrNull, record, text } from "./wire.ts";

export const factsCodec = record({
  role: text,
  profile: text,
  provider: text,
  model: text,
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
  reasoning: number,
  costUsd: realOrNull,
  permissions: jsonOrNull,
});

type FactsInput = Decoded<typeof factsCodec>;

interface TurnInput {
  readonly key: number;
  readonly id: string;
  readonly type: "normal" | "compaction";
  readonly status: string;
  readonly firstKept: number | null;
  readonly source: number | null;
  readonly run: number;
  readonly facts: FactsInput;
  readonly startedMs: number;
}

/** Writes the turn's row, which makes the messages and tool calls under its key visible. */
export function prepareInsertTurn(db: Database) {
  const positionBelow = preparePosition(db);
  const changes = prepareRecorder(db);
  const insert = db.prepare(
    `insert into turn (key, id, parent, depth, jump, type, status, first_kept, session, agent, persona, role, profile,
                       provider, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
                       reasoning_tokens, cost_usd, tool_calls, permissions, source, run, started_ms, completed_ms, hash,
                       principal, trust)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
             (select principal from event where seq = ?), (select settings -> '${TRUST_PATH}' from session where key = ?))`,
  );
  const count = db.prepare("update session set turns = turns + 1, messages = messages + ? where key = ?");
  return (
    held: Held,
    turn: TurnInput,
    content: { messages: readonly MessageInput[]; toolCalls: readonly ToolCallInput[] },
    nowMs: number,
  ): void => {
    const position = positionBelow(held.head);
    const { facts } = turn;
    insert.run(
      turn.key,
      turn.id,
      held.head,
      position.depth,
      position.jump,
      turn.type,
      turn.status,
      turn.firstKept,
      held.key,
      held.agent,
      held.persona,
      facts.role,
      facts.profile,
      facts.provider,
      facts.model,
      facts.input,
      facts.output,
      facts.cacheRead,
      facts.cacheWrite,
      facts.reasoning,
      facts.costUsd,
      content.toolCalls.length,
      facts.permissions,
      turn.source,
      turn.run,
      turn.startedMs,
      nowMs,
      turnHash(position.parentHash, content.messages, content.toolCalls),
      turn.source,
      held.key,
    );
    count.run(content.messages.length, held.key);
    changes.turn(turn.key);
  };
}
