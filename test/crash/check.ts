/**
 * What must be true of a database after its writer was killed: everything that was acknowledged is
 * there, and nothing is there by half.
 */
import Database from "better-sqlite3";

import { verifyTurns } from "../../src/store/sqlite/verify.ts";
import type { Acknowledgement } from "./acknowledgement.ts";

/** All problems found; none is the good answer. */
export function checkDatabase(path: string, acknowledged: readonly Acknowledgement[]): string[] {
  const db = new Database(path);
  try {
    return [
      ...acknowledged.flatMap((each) => lostOf(db, each)),
      ...halves(db),
      ...forks(db, acknowledged),
      ...damage(db),
    ];
  } finally {
    db.close();
  }
}

/** After a drain: every message has ended in one of the four ways. */
export function checkAtRest(path: string): string[] {
  const db = new Database(path);
  try {
    return list(db, "unfinished item", "select id from item where state in ('queued', 'claimed')").concat(
      list(db, "unsettled delivery", "select id from delivery where settled_ms is null"),
      list(db, "unfinished run", "select id from run where state in ('running', 'suspended', 'resumable')"),
    );
  } finally {
    db.close();
  }
}

function lostOf(db: Database.Database, each: Acknowledgement): string[] {
  const count = (sql: string, ...params: unknown[]): number =>
    db
      .prepare<unknown[], number>(sql)
      .pluck()
      .get(...params)!;
  const lost = (what: string, found: number, least = 1): string[] =>
    found >= least ? [] : [`${what} is lost`];
  switch (each.kind) {
    case "event":
      return [
        ...lost(`event ${each.event}`, count("select count(*) from event where id = ?", each.event)),
        ...lost(`item ${each.item}`, count("select count(*) from item where id = ?", each.item)),
      ];
    case "claim":
      return lost(`run ${each.run}`, count("select count(*) from run where id = ?", each.run));
    case "journal": {
      const range = `key / 65536 = (select turn from run where turn_id = ? limit 1)`;
      return [
        ...lost(
          `a message of ${each.turn}`,
          count(`select count(*) from message where ${range}`, each.turn),
          each.messages,
        ),
        ...lost(
          `a call of ${each.turn}`,
          count(`select count(*) from tool_call where ${range}`, each.turn),
          each.calls,
        ),
      ];
    }
    case "turn":
      return lost(`turn ${each.turn}`, count("select count(*) from turn where id = ?", each.turn));
    case "failed":
      return lost(
        `failure of ${each.run}`,
        count("select count(*) from run where id = ? and state = 'failed'", each.run),
      );
    case "dead":
      return lost(
        `dead letter ${each.item}`,
        count("select count(*) from item where id = ? and turn is not null", each.item),
      );
    case "fork":
      return lost(`fork ${each.label}`, count("select count(*) from session where label = ?", each.label));
    case "sent":
      return lost(
        `sending of ${each.delivery}/${each.chunk}`,
        count(
          "select count(*) from chunk c join delivery d on d.key = c.delivery where d.id = ? and c.place = ? and c.state = 'sent'",
          each.delivery,
          each.chunk,
        ),
      );
    case "violation":
      return [each.text];
    case "up":
    case "drained":
      return [];
  }
}

/** Each of these is one half of something that is written as a whole. */
function halves(db: Database.Database): string[] {
  return [
    ...list(
      db,
      "event without its dispatch",
      "select id from event where direction = 'received' and seq not in (select event from dispatch)",
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
      "select t.id from turn t where not exists (select 1 from run r where r.turn = t.key and r.ended_ms is not null and r.state = 'completed')",
    ),
    ...list(
      db,
      "turn that is not all there",
      `select t.id from turn t
        left join message m on m.key = (select max(key) from message where key between t.key * 65536 and t.key * 65536 + 65535)
        where m.id is not t.id
          or json_extract(m.content, '$.messages') is not (select count(*) from message where key between t.key * 65536 and t.key * 65536 + 65535)
          or json_extract(m.content, '$.calls') is not (select count(*) from tool_call where key between t.key * 65536 and t.key * 65536 + 65535)`,
    ),
    ...list(
      db,
      "turn without its answer's event",
      "select id from turn where type = 'normal' and 'cortex:' || id not in (select id from event)",
    ),
    ...list(
      db,
      "turn without its delivery",
      "select id from turn where type = 'normal' and 'delivery-' || id not in (select id from delivery)",
    ),
    ...list(
      db,
      "delivery without its turn",
      "select id from delivery where turn not in (select key from turn)",
    ),
    ...list(
      db,
      "answer without its turn",
      "select id from event where direction = 'sent' and substr(id, 8) not in (select id from turn)",
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

/** A turn with two children that nobody forked, or a turn that its session's head does not lead back to. */
function forks(db: Database.Database, acknowledged: readonly Acknowledgement[]): string[] {
  const asked = new Set(acknowledged.flatMap((each) => (each.kind === "fork" ? [each.turn] : [])));
  const heads = db
    .prepare<[], string>(
      "select t.id from session s join turn t on t.key = s.head where s.label like 'fork-%'",
    )
    .pluck();
  for (const head of heads.all()) asked.add(head); // its acknowledgement may have died with the child
  const siblings = db
    .prepare<[], string>(
      "select p.id from turn t join turn p on p.key = t.parent group by p.key having count(*) > 1",
    )
    .pluck()
    .all();
  const left = list(
    db,
    "turn that its session has lost",
    `with recursive back (session, key) as (
       select key, head from session where head is not null
       union select b.session, t.parent from back b join turn t on t.key = b.key where t.parent is not null)
     select id from turn t where not exists (select 1 from back b where b.session = t.session and b.key = t.key)`,
  );
  return [...siblings.filter((id) => !asked.has(id)).map((id) => `nobody forked ${id}`), ...left];
}

function damage(db: Database.Database): string[] {
  const integrity = db.pragma("integrity_check", { simple: true });
  const broken = db.pragma("foreign_key_check") as unknown[];
  const verdict = verifyTurns(db);
  return [
    ...(integrity === "ok" ? [] : [`integrity: ${String(integrity)}`]),
    ...broken.map((row) => `dangling reference: ${JSON.stringify(row)}`),
    ...(verdict.ok ? [] : [`turn ${verdict.turn}: ${verdict.problem}`]),
  ];
}

function list(db: Database.Database, what: string, sql: string): string[] {
  return db
    .prepare<[], string>(sql)
    .pluck()
    .all()
    .map((id) => `${what}: ${id}`);
}
