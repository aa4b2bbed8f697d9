import type { Database } from "better-sqlite3";

import { prepareClaims } from "./claim.ts";
import { prepareCountUsage, usedCodec } from "./count-usage.ts";
import { type Held, leaseCodec, prepareHeld } from "./held.ts";
import { factsCodec, prepareInsertTurn } from "./insert-turn.ts";
import { messageCodec, prepareContent } from "./journal.ts";
import { firstKey } from "./keys.ts";
import { operation, Refusal } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { required } from "./row.ts";
import { turnUnknown } from "./unknown.ts";
import { type Decoded, record, text, textOrNull } from "./wire.ts";

/** Marks a run as compacting. The mark ends with the compaction, with the run, or when the run is claimed again. */
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

const compactCodec = record({
  lease: leaseCodec,
  run: text,
  turn: text,
  compactionRun: text,
  facts: factsCodec,
  summary: messageCodec,
  used: usedCodec,
  firstKept: textOrNull,
});

/** A compaction is a turn; a run row is written with it, since a turn's key is that of a run. */
export const compact = operation(compactCodec, (db) => {
  const findHeld = prepareHeld(db);
  const findCompaction = db
    .prepare<[string], string>(
      "select s.label from turn t join session s on s.key = t.session where t.id = ? and t.type = 'compaction'",
    )
    .pluck();
  const findFirstKept = prepareFindFirstKept(db);
  const claims = prepareClaims(db);
  const usage = prepareCountUsage(db);
  const insertRun = db.prepare(
    `insert into run (key, id, turn, turn_id, session, parent, attempt, state, started_ms, ended_ms)
     values (?, ?, ?, ?, ?, ?, 1, 'completed', ?, ?)`,
  );
  const { insertMessage } = prepareContent(db);
  const insertTurn = prepareInsertTurn(db);
  const moveHead = db.prepare("update session set head = ? where key = ?");
  const moveParent = db.prepare(
    "update run set parent = ?, progress = progress + 1, compacting_ms = null where key = ?",
  );
  const changes = prepareRecorder(db);

  return (input, { nowMs, wake }): null | Refusal => {
    const { turn: id, facts, summary } = input;
    if (findCompaction.get(id) === input.lease.session) return null; // the same call came before
    const held = findHeld(input.lease, input.run);
    if (held instanceof Refusal) return held;
    const firstKept = findFirstKept(held, input);
    if (firstKept instanceof Refusal) return firstKept;

    const key = claims.nextRunKey();
    const startedMs = held.compacting_ms ?? nowMs;
    insertRun.run(key, input.compactionRun, key, id, held.key, held.head, startedMs, nowMs);
    insertMessage(firstKey(key), summary);
    changes.messages(key, 0, 1);
    usage.ofSession(held.key, input.used, nowMs);
    const turn = { key, id, status: "completed", firstKept, source: null, run: key, facts, startedMs };
    insertTurn(held, { ...turn, type: "compaction" }, { messages: [summary], toolCalls: [] }, nowMs);
    moveHead.run(key, held.key);
    moveParent.run(key, held.run);
    changes.run(key, "completed");
    if (held.compacting_ms !== null) changes.compacting(held.run, false);
    wake("runs");
    return null;
  };
});

/** Finds the oldest turn that a compaction keeps, null for none. Refuses a compaction that is not allowed. */
function prepareFindFirstKept(db: Database) {
  const findTurn = db.prepare<[string], number>("select key from turn where id = ?").pluck();
  const isInContext = prepareIsInContext(db);
  return (held: Held, input: Decoded<typeof compactCodec>): number | null | Refusal => {
    const { turn, firstKept: id, summary } = input;
    if (findTurn.get(turn) !== undefined) return turnExists(turn);
    if (held.head === null) return nothingToCompact(input.lease.session);
    let firstKept: number | null = null;
    if (id !== null) {
      const found = findTurn.get(id);
      if (found === undefined) return turnUnknown(id);
      if (!isInContext(held.head, found)) return notInContext(id);
      firstKept = found;
    }
    return summary.id === turn ? firstKept : summaryMisnamed(turn, summary.id);
  };
}

/** Whether a turn is between the head and the last compaction. The compaction itself is not. */
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
