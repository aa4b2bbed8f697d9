// BullMQ under the workload of ../broker/workload.ts; prints one line of JSON.
//
// BullMQ keeps order within a queue whose only worker has concurrency 1 (groups within one queue are
// not in the free version), so a session is a queue and a worker. Redis writes every command to its
// log and syncs it before it answers (`appendfsync always`), which is what makes a job durable.
//
// The turn is recorded in one of two ways, chosen with `--record`:
//
//   value  as the job's return value, one string of JSON. It is written by the same script that
//          completes the job, so it costs no sync of its own. This is BullMQ at its best.
//   rows   as a hash for the turn, for each message and for the tool call, in one MULTI before the
//          job completes. This is what a program needs that reads single messages back.
//
// Choices that favour BullMQ: a unix socket; a connection for each worker and one that all queues
// share; no snapshots and no rewriting of the log during the run; completed jobs stay and are never
// trimmed. Of five ways to share connections this one was ahead with 100 senders and 1 ms a sync,
// level with a connection for every queue too. One connection for everything was ahead by about 6 %
// with 32 senders.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readArguments } from "../broker/arguments.ts";
import { composeTurn, Workload } from "../broker/workload.ts";
import { buildSlowSync, openMemoryFolder, requireSlowSync, slowSyncEnvironment } from "../slow-sync.ts";
import manifest from "./package.json" with { type: "json" };

const { values } = parseArgs({ options: { record: { type: "string", default: "value" } }, strict: false });
const name = values.record === "rows" ? "bullmq, rows" : "bullmq";
const size = readArguments();

// The folder and the server are cleared away on exit, and a signal alone would skip that.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));

const found = spawnSync("redis-server", ["--version"], { encoding: "utf8" });
if (found.status !== 0) {
  print({ name, skipped: "redis-server is not installed (apt-get install redis-server)" });
} else {
  const library = buildSlowSync();
  if (library === undefined) print({ name, skipped: "the slow sync library could not be built" });
  else await measure(library);
}
// Idle workers hold connections open; everything that matters has been awaited.
process.exit();

async function measure(library) {
  const { Redis } = await import("ioredis");
  const { Queue, Worker } = await import("bullmq");
  const server = await startRedis(library);
  const workload = new Workload(size);
  const connection = new Redis({ path: server.socket });
  const queues = [];
  const workers = [];
  for (let session = 0; session < size.sessions; session++) {
    queues.push(new Queue(`session-${session}`, { connection }));
    const own = new Redis({ path: server.socket, maxRetriesPerRequest: null });
    const worker = new Worker(
      `session-${session}`,
      async (job) => {
        workload.begin(job.data.id);
        const turn = composeTurn({ ...job.data, session });
        if (values.record !== "rows") return turn;
        await recordRows(own, job.data.id, session, turn);
      },
      { connection: own, concurrency: 1 },
    );
    // BullMQ says so once the script that completes the job has been answered, so after its sync.
    worker.on("completed", (job) => {
      workload.end(job.data.id);
      workload.recorded(job.data.id);
    });
    worker.on("failed", (_, error) => fail(error));
    worker.on("error", fail);
    workers.push(worker);
  }
  await Promise.all(workers.map((worker) => worker.waitUntilReady()));

  const result = await workload.run(name, ({ id, session, body }) =>
    queues[session].add("message", { id, body }),
  );

  await checkTurns(connection, queues, workload.sent);
  const redis = /v=(\S+)/.exec(found.stdout)?.[1] ?? "unknown";
  print({ ...result, versions: `BullMQ ${manifest.dependencies.bullmq}, Redis ${redis}` });
  // The workers are not closed: a hundred blocked reads take seconds to give up, and nothing is left to lose.
  server.child.kill("SIGKILL");
  await once(server.child, "exit");
}

async function recordRows(connection, id, session, turn) {
  const multi = connection.multi().hset(`turn:${id}`, { session, message: id });
  turn.messages.forEach((message, position) => multi.hset(`message:${id}:${position}`, message));
  await multi.hset(`tool_call:${id}`, turn.toolCall).exec();
}

/** Looks for the turns in Redis itself, so that a result never counts what was not kept. */
async function checkTurns(connection, queues, expected) {
  let found = 0;
  for (const queue of queues) found += await queue.getCompletedCount();
  if (found !== expected) throw new Error(`${found} jobs are complete, not ${expected}`);
  const last = expected - 1;
  if (values.record === "rows") {
    if ((await connection.hlen(`tool_call:${last}`)) !== 3) throw new Error(`Turn ${last} has no tool call`);
  } else {
    const [job] = await queues[last % queues.length].getCompleted(0, 0);
    if (job.returnvalue.messages.length !== 3) throw new Error(`Turn ${last} has no messages`);
  }
}

async function startRedis(library) {
  const folder = openMemoryFolder("bullmq");
  const socket = join(folder, "redis.sock");
  const settings = {
    port: "0",
    unixsocket: socket,
    dir: folder,
    appendonly: "yes",
    appendfsync: "always",
    save: "",
    "auto-aof-rewrite-percentage": "0",
  };
  const child = spawn(
    "redis-server",
    Object.entries(settings).flatMap(([key, value]) => [`--${key}`, value]),
    { env: slowSyncEnvironment(library, size.syncUs), stdio: ["ignore", "pipe", "inherit"] },
  );
  process.on("exit", () => child.kill("SIGKILL"));
  let log = "";
  await new Promise((resolve, reject) => {
    child.stdout.on("data", (text) => {
      log += text;
      if (log.includes("ready to accept connections")) resolve();
    });
    child.once("exit", (code) => reject(new Error(`redis-server ended with ${code}:\n${log}`)));
  });
  requireSlowSync(child.pid, library);
  return { child, socket };
}

function fail(error) {
  console.error(error);
  process.exit(1);
}

function print(line) {
  console.log(JSON.stringify(line));
}
