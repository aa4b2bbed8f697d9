// The limit that Cortex is measured against: the same rows into the same tables, written by one plain
// loop in one thread. No promises, no savepoints, no checks; two commits for each group of messages, one
// for accepting them and one for recording their turns. With --no-hash, the hash of a turn, which is part
// of its row, is not computed but filled with zeros.

import { join } from "node:path";
import { openForWriting } from "../../src/store/sqlite/connection.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { turnHash } from "../../src/model/turn-hash.ts";
import { createUlidSource } from "../../src/model/ulid.ts";
import { openMemoryFolder } from "../slow-sync.ts";
import { readArguments } from "./arguments.ts";
import { composeTurn, randomText } from "./workload.ts";

const size = readArguments();
const path = join(openMemoryFolder("bare"), "bare.db");
const db = openForWriting(path);
migrate(db);
db.pragma("wal_autocheckpoint = 2048"); // as many pages as Cortex waits for
const nextId = createUlidSource(Date.now);
const hashes = !process.argv.includes("--no-hash");
const zeros = Buffer.alloc(32);

const insertPlace = db.prepare(
  "insert into place (key, id, channel, account, place, first_ms) values (?, ?, 'bench', 'default', ?, ?)",
);
const insertSession = db.prepare(
  "insert into session (key, label, agent, persona, created_ms, used_ms) values (?, ?, 'main', 'atlas', ?, ?)",
);
const insertEvent = db.prepare(
  `insert into event (id, at_ms, received_ms, channel, direction, sender, place, content, content_type, message)
   values (?, ?, ?, 'bench', ?, ?, ?, ?, 'text', ?)`,
);
const insertItem = db.prepare(
  `insert into item (id, event, session, mode, state, due_ms, queued_ms, turn)
   values (?, ?, ?, 'followup', 'claimed', ?, ?, ?)`,
);
const insertDispatch = db.prepare(
  `insert into dispatch (id, event, hook, item, outcome, mode, at_ms) values (?, ?, 'direct', ?, 'queued', 'followup', ?)`,
);
const insertRun = db.prepare(
  `insert into run (key, id, turn, turn_id, session, parent, item, source, attempt, state, started_ms)
   values (?, ?, ?, ?, ?, ?, ?, ?, 1, 'running', ?)`,
);
const holdSession = db.prepare(
  "update session set epoch = epoch + 1, holder = 'bench', run = ?, ready_ms = ?, used_ms = ? where key = ?",
);
const insertMessage = db.prepare(
  "insert into message (key, id, role, content, at_ms) values (?, ?, ?, ?, ?)",
);
const insertCall = db.prepare(
  `insert into tool_call (key, call_id, tool, params, status, result, started_ms, completed_ms)
   values (?, 'call-1', ?, ?, 'ok', ?, ?, ?)`,
);
const insertTurn = db.prepare(
  `insert into turn (key, id, parent, depth, jump, type, status, session, agent, persona, role, profile, provider, model,
                     input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, tool_calls,
                     source, run, started_ms, completed_ms, hash)
   values (?, ?, ?, ?, ?, 'normal', 'completed', ?, 'main', 'atlas', 'manager', 'none', 'none', 'none', 500, 500, 0, 0, 0, 1,
           ?, ?, ?, ?, ?)`,
);
const insertDelivery = db.prepare(
  `insert into delivery (id, turn, target, channel, account, place, message, state, due_ms, created_ms)
   values (?, ?, ?, 'bench', 'default', ?, ?, 'pending', ?, ?)`,
);
const settleItem = db.prepare("update item set state = 'done', settled_ms = ? where key = ?");
const endRun = db.prepare("update run set state = 'completed', ended_ms = ? where key = ?");
const freeSession = db.prepare(
  "update session set head = ?, holder = null, run = null, ready_ms = null, used_ms = ? where key = ?",
);
const begin = db.prepare("begin immediate");
const commit = db.prepare("commit");

interface Work {
  readonly session: number;
  readonly run: number;
  readonly turn: string;
  readonly item: number;
  readonly event: number;
  readonly body: string;
}

const lastHashes: (Buffer | undefined)[] = Array.from({ length: size.sessions }, () => undefined);
const heads: (number | null)[] = Array.from({ length: size.sessions }, () => null);
const depths: number[] = Array.from({ length: size.sessions }, () => 0);
let runs = 0;
let sent = 0;

begin.run();
for (let session = 0; session < size.sessions; session++) {
  insertPlace.run(session + 1, `bench:default:${session}`, String(session), Date.now());
  insertSession.run(session + 1, `agent:main:bench:${session}`, Date.now(), Date.now());
}
commit.run();

// As many messages at once as the senders have in flight and sessions can take.
const group = Math.min(size.senders, size.sessions);
const startedMs = performance.now();
while (sent < size.messages) {
  const count = Math.min(group, size.messages - sent);
  begin.run();
  const batch = Array.from({ length: count }, () => accept(sent++));
  commit.run();
  begin.run();
  for (const work of batch) record(work);
  commit.run();
}
const seconds = (performance.now() - startedMs) / 1_000;
db.close();
const perSecond = Number((size.messages / seconds).toFixed(1));
console.log(
  JSON.stringify({
    name: hashes ? "bare loop" : "bare loop, no hash",
    ...size,
    seconds: Number(seconds.toFixed(3)),
    perSecond,
  }),
);

function accept(id: number): Work {
  const nowMs = Date.now();
  const session = id % size.sessions;
  const body = randomText(2048);
  const event = Number(
    insertEvent.run(`bench:${id}`, nowMs, nowMs, "received", "someone", session + 1, body, null)
      .lastInsertRowid,
  );
  const run = ++runs;
  const turn = nextId();
  const item = Number(insertItem.run(nextId(), event, session + 1, nowMs, nowMs, run).lastInsertRowid);
  insertDispatch.run(nextId(), event, item, nowMs);
  insertRun.run(run, nextId(), run, turn, session + 1, heads[session], item, event, nowMs);
  holdSession.run(run, nowMs + 60_000, nowMs, session + 1);
  return { session, run, turn, item, event, body };
}

function record({ session, run, turn, item, event, body }: Work): void {
  const nowMs = Date.now();
  const { messages, toolCall } = composeTurn({ id: 0, session, body });
  const base = run * 65_536;
  const rows = messages.map(({ role, body: content }, i) => {
    return { id: i === 2 ? turn : nextId(), role, content, body: null, atMs: nowMs };
  });
  rows.forEach(({ id, role, content }, i) => insertMessage.run(base + i, id, role, content, nowMs));
  insertCall.run(base, toolCall.name, toolCall.arguments, toolCall.result, nowMs, nowMs);
  const { name: tool, arguments: params, result } = toolCall;
  const call = {
    ordinal: 0,
    callId: "call-1",
    tool,
    params,
    status: "ok",
    result,
    childSession: null,
    startedAtMs: nowMs,
    completedAtMs: nowMs,
  };
  const hash = hashes ? turnHash(lastHashes[session], rows, [call]) : zeros;
  lastHashes[session] = hash;
  const head = heads[session]!;
  insertTurn.run(run, turn, head, depths[session]!, head, session + 1, event, run, nowMs, nowMs, hash);
  insertEvent.run(`cortex:${turn}`, nowMs, nowMs, "sent", null, session + 1, null, base + 2);
  insertDelivery.run(
    nextId(),
    run,
    `["bench","default","${session}",null]`,
    String(session),
    base + 2,
    nowMs,
    nowMs,
  );
  settleItem.run(nowMs, item);
  endRun.run(nowMs, run);
  freeSession.run(run, nowMs, session + 1);
  heads[session] = run;
  depths[session]!++;
}
