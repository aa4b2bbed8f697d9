import { existsSync } from "node:fs";
import type { Database } from "better-sqlite3";

import type { TurnId } from "../../model/ids.ts";
import { turnHash } from "../../model/turn-hash.ts";
import type { Verdict } from "../store.ts";
import { verifyAudit } from "./audit.ts";
import { openForReading } from "./connection.ts";
import { storeFailure, storeMissing } from "./failure.ts";
import { checkDatabase, versionOf } from "./migrate.ts";
import { prepareReadJournal } from "./read-journal.ts";
import { required } from "./row.ts";

/** Opens the database read-only. Blocks until it is done, so call it in a separate process. */
export function verifyDatabase(path: string): Verdict {
  if (!existsSync(path)) throw storeMissing(path);
  try {
    const db = openForReading(path);
    try {
      checkDatabase(db, path);
      return verify(db);
    } finally {
      db.close();
    }
  } catch (error) {
    throw storeFailure(error, path);
  }
}

/** What a failed verification is about: `turn 01K…` or `audit entry 7`. */
export function damagedPart(verdict: Extract<Verdict, { ok: false }>): string {
  return "turn" in verdict ? `turn ${verdict.turn}` : `audit entry ${verdict.entry}`;
}

/** The first version of the schema with an audit log. */
const FIRST_WITH_AUDIT = 22;

/** Verifies all that is chained by hashes: the turns, then the audit log. */
export function verify(db: Database): Verdict {
  const turns = verifyTurns(db);
  if (!turns.ok) return turns;
  const audit = versionOf(db) < FIRST_WITH_AUDIT ? { ok: true as const, audited: 0 } : verifyAudit(db);
  return audit.ok ? { ...turns, ...audit } : audit;
}

interface VerifiedRow {
  readonly key: number;
  readonly id: TurnId;
  readonly hash: Buffer;
  readonly depth: number;
  readonly parent: number | null;
  readonly tool_calls: number;
  readonly pruned_ms: number | null;
  readonly parent_hash: Buffer | null;
  readonly parent_depth: number | null;
}

const PAGE = 500;
/** Databases with an older schema are checked too; nothing in them was pruned. */
const FIRST_WITH_PRUNING = 11;

/**
 * Recomputes the hash of every turn from its stored content and its parent's stored hash. Turns are read in key
 * order, a page at a time, so that no snapshot is held for long. A cycle cannot hide: depths would have to grow
 * forever along it.
 *
 * A pruned turn only has its hash, on which the hashes of the turns after it still depend.
 */
function verifyTurns(db: Database): TurnsVerdict {
  const prunedMs = versionOf(db) < FIRST_WITH_PRUNING ? "null" : "t.pruned_ms";
  const page = db.prepare<[number, number], VerifiedRow>(
    `select t.key, t.id, t.hash, t.depth, t.parent, t.tool_calls, ${prunedMs} as pruned_ms, p.hash as parent_hash,
            p.depth as parent_depth
     from turn t left join turn p on p.key = t.parent where t.key > ? order by t.key limit ?`,
  );
  const readContent = prepareReadJournal(db);
  /** Twice, because a turn may be pruned between its row and its content. */
  const check = (row: VerifiedRow): string | undefined => {
    if (problemOf(row, readContent(row.key)) === undefined) return undefined;
    return problemOf(required(page.get(row.key - 1, 1)), readContent(row.key));
  };
  let turns = 0;
  let pruned = 0;
  for (let last = 0; ;) {
    const rows = page.all(last, PAGE);
    for (const row of rows) {
      const problem = check(row);
      if (problem !== undefined) return { ok: false, turn: row.id, problem };
      if (row.pruned_ms !== null) pruned++;
    }
    turns += rows.length;
    if (rows.length < PAGE) return { ok: true, turns, pruned };
    last = rows.at(-1)!.key;
  }
}

type TurnsVerdict =
  | { readonly ok: true; readonly turns: number; readonly pruned: number }
  | { readonly ok: false; readonly turn: TurnId; readonly problem: string };

type Content = ReturnType<ReturnType<typeof prepareReadJournal>>;

function problemOf(row: VerifiedRow, content: Content): string | undefined {
  if (row.parent !== null && row.parent_hash === null) return "its parent is missing";
  if (row.depth !== (row.parent_depth ?? -1) + 1) return "its depth is not one more than its parent's";
  if (row.tool_calls !== content.toolCalls.length) return "the number of its tool calls has changed";
  if (row.pruned_ms !== null) return isEmpty(content) ? undefined : "it was pruned but still has content";
  const hash = turnHash(row.parent_hash ?? undefined, content.messages, content.toolCalls);
  return hash.equals(row.hash) ? undefined : "its content does not match its hash";
}

function isEmpty({ messages, toolCalls }: Content): boolean {
  return (
    messages.every(({ content, body }) => content === "" && body === null) &&
    toolCalls.every(({ params, result }) => params === "null" && result === null)
  );
}
