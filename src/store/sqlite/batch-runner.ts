/**
 * The writing side. It takes one batch, runs each operation inside a savepoint, commits once and replies once: nothing is
 * acknowledged before it is on disk. It runs in the writer thread; the simulation runs it in its own thread, so that a
 * seed always gives the same run.
 */
import type { Database } from "better-sqlite3";

import { copyLog, openForWriting } from "./connection.ts";
import { voidLeases } from "./lease.ts";
import { migrate } from "./migrate.ts";
import { lazily } from "./once.ts";
import { type OperationTime, Refusal } from "./operation.ts";
import { OPERATION_NAMES, OPERATIONS } from "./operations.ts";
import { prepareRecorder } from "./record-changes.ts";
import type { Codec } from "./wire.ts";
import { type Batch, DONE, FAILED, REFUSED, type Reply, WAKE_BIT } from "./writer-protocol.ts";

interface Prepared {
  readonly input: Codec<unknown>;
  readonly run: (input: unknown, moment: OperationTime) => unknown;
}

interface BatchRunner {
  run(batch: Batch): Reply;
  /** Copies the rest of the write-ahead log into the database. */
  checkpoint(): void;
  close(): void;
}

/** Opens the database, migrates its schema and voids all leases of the previous writer. */
export function openBatchRunner(path: string, nowMs: number): BatchRunner {
  const db = openForWriting(path);
  migrate(db);
  voidLeases(db, nowMs);
  const operations = prepareAll(db);
  const runOperation = prepareRunOperation(db);
  const begin = db.prepare("begin immediate");
  const commit = db.prepare("commit");
  const rollback = db.prepare("rollback");
  const walState = db.prepare<[], { log: number }>("pragma wal_checkpoint(noop)");

  return {
    run: runBatch,
    checkpoint: () => copyLog(db),
    close: () => void db.close(),
  };

  function runBatch(batch: Batch): Reply {
    const results: unknown[] = [];
    let wakes = 0;
    const moment = {
      nowMs: 0,
      wake: (topic: keyof typeof WAKE_BIT): void => {
        wakes |= WAKE_BIT[topic];
      },
    };
    try {
      begin.run();
      const cursor = { cells: batch.cells, at: 0 };
      while (cursor.at < cursor.cells.length) {
        const operation = operations[cursor.cells[cursor.at++] as number]!;
        moment.nowMs = cursor.cells[cursor.at++] as number;
        runOperation(operation, operation.input.read(cursor), moment, results);
      }
      commit.run();
    } catch (error) {
      if (db.inTransaction) rollback.run();
      return { failure: portable(error), results: [], wakes: 0, walFrames: 0 };
    }
    return { failure: undefined, results, wakes, walFrames: logFrames() };
  }

  /** The batch is committed even if the length of the log cannot be read. */
  function logFrames(): number {
    try {
      return walState.get()?.log ?? 0;
    } catch {
      return 0; // the next batch asks again
    }
  }
}

/** Runs an operation in a savepoint and adds its outcome to the results. */
function prepareRunOperation(db: Database) {
  const savepoint = db.prepare("savepoint operation");
  const release = db.prepare("release operation");
  const undo = db.prepare("rollback to operation");
  const changes = prepareRecorder(db);
  return ({ run }: Prepared, input: unknown, moment: OperationTime, results: unknown[]): void => {
    savepoint.run();
    let outcome: unknown;
    try {
      changes.discard(); // notes of an operation that was undone
      outcome = run(input, moment);
      if (!(outcome instanceof Refusal) && changes.write(moment.nowMs)) moment.wake("changes");
    } catch (error) {
      if (!db.inTransaction) throw error; // SQLite has undone the whole batch
      undo.run();
      release.run();
      results.push(FAILED, portable(error));
      return;
    }
    if (outcome instanceof Refusal) {
      undo.run();
      const { code, message, hint } = outcome;
      results.push(REFUSED, { code, message, hint });
    } else {
      results.push(DONE, outcome);
    }
    release.run();
  };
}

function prepareAll(db: Database): Prepared[] {
  return OPERATION_NAMES.map((name) => {
    const { input, prepare } = OPERATIONS[name];
    const prepared = lazily(() => prepare(db) as Prepared["run"]);
    return { input, run: (given, moment) => prepared()(given, moment) };
  });
}

/** An error as plain data: the clone of an Error loses its code. */
function portable(error: unknown): { message: string; code: string } {
  const { message, code } = error as { message?: unknown; code?: unknown };
  return { message: String(message ?? error), code: typeof code === "string" ? code : "" };
}
