/**
 * The thread that writes. It takes one batch, runs each of its operations inside a savepoint, commits
 * once, and answers once: nothing is acknowledged before it is on disk.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { Database } from "better-sqlite3";

import { openForWriting } from "./connection.ts";
import { voidLeases } from "./lease.ts";
import { migrate } from "./migrate.ts";
import { type Moment, Refusal } from "./operation.ts";
import { OPERATION_NAMES, OPERATIONS } from "./operations.ts";
import {
  type Batch,
  DONE,
  FAILED,
  REFUSED,
  type Reply,
  WAKE_BIT,
  type WriterData,
} from "./writer-protocol.ts";
import type { Codec } from "./wire.ts";

interface Prepared {
  readonly input: Codec<unknown>;
  readonly run: (input: unknown, moment: Moment) => unknown;
}

const { path, nowMs } = workerData as WriterData;
const port = parentPort!;
const db = openForWriting(path);
migrate(db, path);
voidLeases(db, nowMs);
const operations = prepareAll(db);
const begin = db.prepare("begin immediate");
const savepoint = db.prepare("savepoint operation");
const release = db.prepare("release operation");
const undo = db.prepare("rollback to operation");
const commit = db.prepare("commit");
const rollback = db.prepare("rollback");
const walState = db.prepare<[], { log: number; checkpointed: number }>("pragma wal_checkpoint(noop)");

port.on("message", (batch: Batch | null) => {
  if (batch === null) {
    db.close();
    port.close();
    return;
  }
  port.postMessage(runBatch(batch));
  // After the answer, so that nobody waits for it: what the checkpointer has left, which is little.
  if (batch.checkpoint) db.pragma("wal_checkpoint(passive)");
});
port.postMessage("ready");

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
  return { failure: undefined, results, wakes, walFrames: walState.get()?.log ?? 0 };
}

function runOperation({ run }: Prepared, input: unknown, moment: Moment, results: unknown[]): void {
  savepoint.run();
  let outcome: unknown;
  try {
    outcome = run(input, moment);
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
}

function prepareAll(database: Database): Prepared[] {
  return OPERATION_NAMES.map((name) => {
    const { input, prepare } = OPERATIONS[name];
    return { input, run: prepare(database) as Prepared["run"] };
  });
}

/** An error as plain data: the clone of an Error loses its code. */
function portable(error: unknown): { message: string; code: string } {
  const { message, code } = error as { message?: unknown; code?: unknown };
  return { message: String(message ?? error), code: typeof code === "string" ? code : "" };
}
