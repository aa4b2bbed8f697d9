/** What is true of every database of Cortex, whoever wrote it and whenever that one was killed. */
import type { Database } from "better-sqlite3";

import { damagedPart, verify } from "../../src/store/sqlite/verify.ts";

/** Each of these is one half of something that is written as a whole. */
export function halves(db: Database): string[] {
  return [
    ...list(
      db,
      "event without its dispatch", // those that name no target may be wanted by no hook
      `select id from event where direction = 'received' and seq not in (select event from dispatch)
         and seq not in (select event from unjudged) and seq not in (select event from hook_run)
         and channel not in ('timer', 'webhook', 'files')`,
    ),
    ...list(
      db,
      "message of an agent without its dispatch",
      "select id from event where id like 'agent:%' and seq not in (select event from dispatch)",
    ),
    ...list(
      db,
      "dispatch of a hook that has not fired",
      `select d.id from dispatch d join hook h on h.name = d.hook where not exists
         (select 1 from hook_run r where r.event = d.event and r.hook = h.key and r.fired)`,
    ),
    ...list(
      db,
      "hook that has not fired as often as it is said to have",
      "select name from hook h where triggers <> (select count(*) from hook_run where hook = h.key and fired)",
    ),
    ...list(
      db,
      "one-shot that has fired twice",
      "select name from hook where mode = 'one-shot' and triggers > 1",
    ),
    ...list(
      db,
      "item without its dispatch",
      "select id from item where key not in (select item from dispatch)",
    ),
    ...list(
      db,
      "session whose head is no turn",
      "select label from session where head is not null and head not in (select key from turn)",
    ),
    ...list(
      db,
      "held session without a run",
      "select label from session where holder is not null and run is null",
    ),
    ...list(
      db,
      "session whose run is over",
      "select label from session s join run r on r.key = s.run where r.state in ('completed', 'aborted')",
    ),
    ...list(
      db,
      "two runs in a session",
      "select session from run where state = 'running' group by session having count(*) > 1",
    ),
    ...list(
      db,
      "running run that no session has",
      "select id from run r where state = 'running' and not exists (select 1 from session s where s.run = r.key)",
    ),
    ...list(
      db,
      "claimed item without a run",
      "select i.id from item i join session s on s.key = i.session where i.state = 'claimed' and s.run is null",
    ),
    ...list(
      db,
      "settled item without its turn",
      "select id from item where state in ('done', 'merged') and turn not in (select key from turn)",
    ),
    ...list(
      db,
      "turn whose items are not settled",
      "select t.id from turn t join item i on i.turn = t.key where i.state not in ('done', 'merged')",
    ),
    ...list(db, "turn without its source", "select id from turn where type = 'normal' and source is null"),
    ...list(
      db,
      "turn whose run is not over",
      "select t.id from turn t where not exists (select 1 from run r where r.turn = t.key and r.ended_ms is not null and r.state = t.status)",
    ),
    ...list(
      db,
      "turn without its answer's event", // one that was aborted may have none
      `select t.id from turn t where t.type = 'normal' and 'cortex:' || t.id not in (select id from event)
         and (t.status = 'completed' or exists (select 1 from message m where m.key / 65536 = t.key and m.id = t.id))`,
    ),
    ...list(
      db,
      "delivery without its turn", // those of a run that has failed are notices
      `select id from delivery d where turn not in (select key from turn)
         and not exists (select 1 from run r where r.turn = d.turn and r.state = 'failed')`,
    ),
    ...list(
      db,
      "answer without its turn",
      "select id from event where id like 'cortex:%' and substr(id, 8) not in (select id from turn)",
    ),
    ...list(
      db,
      "second turn of an event in a session",
      "select source from turn where source is not null group by source, session having count(*) > 1",
    ),
    ...list(
      db,
      "sent delivery with a chunk that is not",
      "select d.id from delivery d join chunk c on c.delivery = d.key where d.state = 'sent' and c.state <> 'sent'",
    ),
  ];
}

/** What is not there any more once all work is done. */
export function unfinished(db: Database): string[] {
  return [
    ...list(db, "unfinished item", "select id from item where state in ('queued', 'claimed')"),
    ...list(db, "event that nobody has judged", "select event from unjudged"),
    ...list(db, "open delegation", "select id from delegation where state = 'open'"),
    ...list(db, "unsettled delivery", "select id from delivery where settled_ms is null"),
    ...list(db, "unfinished run", "select id from run where state in ('running', 'suspended', 'resumable')"),
  ];
}

/** Turns that the head of their session does not lead back to. */
export function lostTurns(db: Database): string[] {
  return list(
    db,
    "turn that its session has lost",
    `with recursive back (session, key) as (
       select key, head from session where head is not null
       union select b.session, t.parent from back b join turn t on t.key = b.key where t.parent is not null)
     select id from turn t where not exists (select 1 from back b where b.session = t.session and b.key = t.key)`,
  );
}

export function damage(db: Database): string[] {
  const integrity = db.pragma("integrity_check", { simple: true });
  const broken = db.pragma("foreign_key_check") as unknown[];
  const verdict = verify(db);
  return [
    ...(integrity === "ok" ? [] : [`integrity: ${String(integrity)}`]),
    ...broken.map((row) => `dangling reference: ${JSON.stringify(row)}`),
    ...(verdict.ok ? [] : [`${damagedPart(verdict)}: ${verdict.problem}`]),
  ];
}

export function list(db: Database, what: string, sql: string): string[] {
  return db
    .prepare<[], string>(sql)
    .pluck()
    .all()
    .map((id) => `${what}: ${id}`);
}
