import type { Database } from "better-sqlite3";

import { prepareClaims } from "./claim.ts";
import { prepareCountUsage, usedCodec } from "./count-usage.ts";
import { leaseCodec, prepareHeld } from "./held.ts";
import { factsCodec, prepareInsertTurn } from "./insert-turn.ts";
import { messageCodec, prepareContent } from "./journal.ts";
import { firstKey } from "./keys.ts";
import { operation, Refusal } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { required } from "./row.ts";
import { turnUnknown } from "./unknown.ts";
import { record, text, textOrNull } from "./wire.ts";

/** Notes that a run sums its thread up. That ends with the compaction, with the run, or when it is taken up anew. */
export const beginCompaction = operation(record({ lease: leaseCodec, run: text }), (db) => {
  const findHeld = prepareHeld(db);
  const note = db.prepare("update run set compacting_ms = ? where key = ?");
  const changes = prepareRecorder(db);
  return ({ lease, run }, { nowMs }): null | Refusal => {
    const held = findHeld(lease, run);
    if (held instanceof Refusal) return held;
    if (held.compacting_ms !== null) return null; // the same call came before
    note.run(nowMs, held.run);
    changes.compacting(held.run, true);
    return null;
  };
});

/** A compaction is a turn of its own; a run row is written with it, since a turn's key is that of a run. */
export const compact = operation(
  record({
    lease: leaseCodec,
    run: text,
    turn: text,
    compactionRun: text,
    facts: factsCodec,
    summary: messageCodec,
    used: usedCodec,
    firstKept: textOrNull,
  }),
  (db) => {
    const findHeld = prepareHeld(db);
    const findTurn = db.prepare<[string], number>("select key from turn where id = ?").pluck();
    const findCompaction = db
      .prepare<[string], string>(
        "select s.label from turn t join session s on s.key = t.session where t.id = ? and t.type = 'compaction'",
      )
      .pluck();
    const isInContext = prepareIsInContext(db);
    const claims = prepareClaims(db);
    const usage = prepareCountUsage(db);
    const insertRun = db.prepare(
      `insert into run (key, id, turn, turn_id, session, parent, attempt, state, started_ms, ended_ms)
       values (?, ?, ?, ?, ?, ?, 1, 'completed', ?, ?)`,
    );
    const { insertMessage } = prepareContent(db);
    const insertTurn = prepareInsertTurn(db);
    const moveHead = db.prepare("update session set head = ? where key = ?");
    const changes = prepareRecorder(db);
    const moveParent = db.prepare(
      "update run set parent = ?, progress = progress + 1, compacting_ms = null where key = ?",
    );

    return (input, { nowMs, wake }): null | Refusal => {
      const before = findCompaction.get(input.turn);
      if (before === input.lease.session) return null; // the same call came before
      const held = findHeld(input.lease, input.run);
      if (held instanceof Refusal) return held;
      if (findTurn.get(input.turn) !== undefined) return turnExists(input.turn);
      if (held.head === null) return nothingToCompact(input.lease.session);
      const firstKept = input.firstKept === null ? null : findTurn.get(input.firstKept);
      if (firstKept === undefined) return turnUnknown(input.firstKept!);
      if (firstKept !== null && !isInContext(held.head, firstKept)) return notInContext(input.firstKept!);
      if (input.summary.id !== input.turn) return summaryMisnamed(input.turn, input.summary.id);

      const key = claims.nextRunKey();
      const startedMs = held.compacting_ms ?? nowMs;
      insertRun.run(key, input.compactionRun, key, input.turn, held.key, held.head, startedMs, nowMs);
      insertMessage(firstKey(key), input.summary);
      changes.messages(key, 0, 1);
      usage.ofSession(held.key, input.used, nowMs);
      insertTurn(
        held,
        {
          key,
          id: input.turn,
          type: "compaction",
          status: "completed",
          firstKept,
          source: null,
          run: key,
          facts: input.facts,
          startedMs,
        },
        { messages: [input.summary], toolCalls: [] },
        nowMs,
      );
      moveHead.run(key, held.key);
      moveParent.run(key, held.run);
      changes.run(key, "completed");
      if (held.compacting_ms !== null) changes.compacting(held.run, false);
      wake("runs");
      return null;
    };
  },
);

/** Whether a turn is one of those from the head back to the last compaction, which itself is not. */
function prepareIsInContext(db: Database): (head: number, turn: number) => boolean {
  const find = db.prepare<[number], { parent: number | null; type: string }>(
    "select parent, type from turn where key = ?",
  );
  return (head, turn) => {
    for (let at: number | null = head; at !== null;) {
      const row: { parent: number | null; type: string } = required(find.get(at));
      if (row.type === "compaction") return false;
      if (at === turn) return true;
      at = row.parent;
    }
    return false;
  };
}

function turnExists(turn: string): Refusal {
  return new Refusal("state_conflict", `Turn ${turn} already exists`, "Use a new id for each turn.");
}

function notInContext(turn: string): Refusal {
  return new Refusal(
    "turn_invalid",
    `Turn ${turn} is not in the context to compact`,
    "Keep a turn after the last compaction of this thread, or none.",
  );
}

function nothingToCompact(session: string): Refusal {
  return new Refusal(
    "turn_invalid",
    `Session "${session}" has no turns to compact`,
    "Compact a session that points at a turn.",
  );
}

function summaryMisnamed(turn: string, message: string): Refusal {
  return new Refusal(
    "turn_invalid",
    `The summary of turn ${turn} has the wrong id: ${message}`,
    "The last assistant message must have the id of its turn.",
  );
}
