/**
 * A process for slow reads: SQL from outside, searches, and reads of the whole ledger. Unlike a thread, it can be
 * killed in the middle of a statement.
 */
import { Worker } from "node:worker_threads";
import type { Database } from "better-sqlite3";

import { CortexError } from "../../model/errors.ts";
import { MAX_QUERY_BYTES, type Row, type SearchHit, type SqlValue } from "../store.ts";
import { openForReading } from "./connection.ts";
import { readPrunable } from "./read-prunable.ts";
import type { ReaderAnswer, ReaderRequest } from "./reader.ts";
import { prepareSearchEvents, type SearchRequest } from "./search-events.ts";
import { verify } from "./verify.ts";

const db = openForReading(process.argv[2]!);

process.on("message", (request: ReaderRequest) => {
  answer(request).then(
    (value) => tell({ value }),
    (error: unknown) => tell({ error: portable(error) }),
  );
});
process.on("disconnect", () => process.exit()); // the parent is gone
// During a statement this thread receives nothing, so another thread checks whether the parent still runs.
const watch = `const parent = process.ppid;
setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, "SIGKILL"); }, 1000);`;
new Worker(watch, { eval: true }).unref();

/** The parent may be gone; nothing waits for the reply then, so errors are ignored. */
function tell(answer: ReaderAnswer): void {
  process.send!(answer, undefined, undefined, () => {});
}

async function answer(request: ReaderRequest): Promise<unknown> {
  switch (request.kind) {
    case "verify":
      return verify(db);
    case "prunable":
      return readPrunable(db, request.beforeMs);
    case "search":
      return search(request.request);
    case "query":
      return query(db, request.sql, request.params, request.maxRows);
  }
}

let searchEvents: ReturnType<typeof prepareSearchEvents> | undefined;

function search(request: SearchRequest): SearchHit[] {
  searchEvents ??= prepareSearchEvents(db);
  return searchEvents(request);
}

function query(database: Database, sql: string, params: readonly SqlValue[], maxRows: number): Row[] {
  // ATTACH would open another file, and some pragmas change the connection, so only queries are allowed.
  const leading = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*(select|with|values)\b/i;
  if (!leading.test(sql)) throw refused("it must start with select, with or values");
  const statement = prepare(database, sql);
  if (!statement.reader || !statement.readonly) throw refused("it would change data");
  const rows: Row[] = [];
  let bytes = 0;
  for (const row of statement.iterate(...params)) {
    if (rows.length === maxRows) throw tooLarge(`${maxRows} rows`);
    for (const value of Object.values(row)) {
      if (typeof value === "string" || value instanceof Uint8Array) bytes += value.length;
    }
    if (bytes > MAX_QUERY_BYTES) throw tooLarge(`${MAX_QUERY_BYTES} bytes`);
    rows.push(row);
  }
  return rows;
}

function prepare(database: Database, sql: string) {
  try {
    return database.prepare<SqlValue[], Row>(sql);
  } catch (cause) {
    throw refused(cause instanceof Error ? cause.message : String(cause));
  }
}

function refused(why: string): CortexError {
  return new CortexError("query_refused", `The query was refused: ${why}`, {
    hint: "Write one select over the public views, such as `select * from events limit 10`.",
  });
}

function tooLarge(limit: string): CortexError {
  return new CortexError("query_too_large", `The query returned more than ${limit}`, {
    hint: "Add a limit, or count instead of listing.",
  });
}

function portable(error: unknown): NonNullable<ReaderAnswer["error"]> {
  if (error instanceof CortexError) return { code: error.code, message: error.message, hint: error.hint };
  const { message } = error as { message?: unknown };
  return {
    code: "query_refused",
    message: `The query failed: ${String(message ?? error)}`,
    hint: "Fix the query.",
  };
}
