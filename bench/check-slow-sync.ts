// Shows that the slow sync library really slows better-sqlite3, on the main thread and in a worker.
// Run it as `node bench/check-slow-sync.ts`: with 1000 microseconds a sync, fewer than 1000 commits
// a second must come out, and with 0 many more.

import { once } from "node:events";
import { join } from "node:path";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import Database from "better-sqlite3";
import { runProgram } from "./run-program.ts";
import { buildSlowSync, openMemoryFolder, slowSyncEnvironment } from "./slow-sync.ts";
import { table } from "./table.ts";

const commits = 300;

if (!isMainThread) {
  measureCommits("worker thread", String(workerData));
} else if (process.env["SLOWSYNC_US"] !== undefined) {
  const folder = openMemoryFolder("check");
  measureCommits("main thread", join(folder, "main.db"));
  await once(new Worker(import.meta.filename, { workerData: join(folder, "worker.db") }), "exit");
} else {
  const library = buildSlowSync();
  if (library === undefined) process.exit(1);
  const fast = await measureSlowed(library, 0);
  const slow = await measureSlowed(library, 1000);
  const rows = slow.map(({ where, perSecond }, index) => [where, fast[index]?.perSecond ?? 0, perSecond]);
  process.stdout.write(table(["where", "commits/s, sync 0 us", "commits/s, sync 1000 us"], rows));
  if (slow.length !== 2 || slow.some(({ perSecond }) => perSecond >= 1000)) {
    throw new Error("Syncs are not slowed: a commit was faster than its sync");
  }
}

type Measured = { readonly where: string; readonly perSecond: number };

function measureSlowed(library: string, syncUs: number): Promise<Measured[]> {
  const program = { script: import.meta.filename, args: [], env: slowSyncEnvironment(library, syncUs) };
  return runProgram(program, isMeasured);
}

function isMeasured(value: unknown): value is Measured {
  return typeof value === "object" && value !== null && "perSecond" in value;
}

function measureCommits(where: string, path: string): void {
  const database = new Database(path);
  database.pragma("journal_mode = wal");
  database.pragma("synchronous = full");
  database.exec("create table item (body text)");
  const insert = database.prepare("insert into item values (?)");
  const startedAtMs = performance.now();
  for (let index = 0; index < commits; index++) insert.run(`body ${index}`);
  const perSecond = Math.round((commits * 1000) / (performance.now() - startedAtMs));
  database.close();
  process.stdout.write(`${JSON.stringify({ where, perSecond })}\n`);
}
