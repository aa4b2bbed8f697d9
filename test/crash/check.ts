/**
 * What must be true of a database after its writer was killed: everything that was acknowledged is
 * there, and nothing is there by half.
 */
import Database from "better-sqlite3";

import type { Acknowledgement } from "./acknowledgement.ts";
import { damage, halves, list, lostTurns, unfinished } from "./structure.ts";

/** All problems found; none is the good answer. */
export function checkDatabase(path: string, acknowledged: readonly Acknowledgement[]): string[] {
  const db = new Database(path);
  const count = prepareCount(db);
  try {
    return [
      ...acknowledged.flatMap((each) => lostOf(each, count)),
      ...halves(db),
      ...halvesOfTurns(db),
      ...forgottenByHooks(db),
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
    return unfinished(db);
  } finally {
    db.close();
  }
}

type Count = (sql: string, key: string) => number;

/** A query gives how much there is of each thing. It is made once: there are thousands of acknowledgements to look up. */
function prepareCount(db: Database.Database): Count {
  const counted = new Map<string, Map<string, number>>();
  return (sql, key) => {
    const found = counted.get(sql) ?? new Map(db.prepare<[], [string, number]>(sql).raw().all());
    counted.set(sql, found);
    return found.get(key) ?? 0;
  };
}

function lostOf(each: Acknowledgement, count: Count): string[] {
  const lost = (what: string, found: number, least = 1): string[] =>
    found >= least ? [] : [`${what} is lost`];
  switch (each.kind) {
    case "event":
      return [
        ...lost(`event ${each.event}`, count("select id, 1 from event", each.event)),
        ...lost(`item ${each.item}`, count("select id, 1 from item", each.item)),
      ];
    case "heard":
      return lost(`event ${each.event}`, count("select id, 1 from event", each.event));
    case "judged":
      return lost(
        `judgement of ${each.hook} on ${each.event}`,
        count(
          "select event_id || ' ' || hook_id || ' ' || fired, 1 from hook_runs",
          `${each.event} ${each.hook} ${Number(each.fired)}`,
        ),
      );
    case "claim":
      return lost(`run ${each.run}`, count("select id, 1 from run", each.run));
    case "journal":
      return [
        ...lost(`a message of ${each.turn}`, count(writtenIn("message"), each.turn), each.messages),
        ...lost(`a call of ${each.turn}`, count(writtenIn("tool_call"), each.turn), each.calls),
      ];
    case "turn":
      return lost(`turn ${each.turn}`, count("select id, 1 from turn", each.turn));
    case "failed":
      return lost(`failure of ${each.run}`, count("select id, 1 from run where state = 'failed'", each.run));
    case "dead":
      return lost(
        `dead letter ${each.item}`,
        count("select id, 1 from item where turn is not null", each.item),
      );
    case "fork":
      return lost(`fork ${each.label}`, count("select label, 1 from session", each.label));
    case "sent":
      return lost(
        `sending of ${each.delivery}/${each.chunk}`,
        count(
          `select d.id || '/' || c.place, 1 from chunk c join delivery d on d.key = c.delivery
           where c.state = 'sent'`,
          `${each.delivery}/${each.chunk}`,
        ),
      );
    case "violation":
      return [each.text];
    case "up":
    case "drained":
      return [];
  }
}

/** How many rows each turn has in a table. */
function writtenIn(table: "message" | "tool_call"): string {
  return `with written as (select key / 65536 as turn, count(*) as rows from ${table} group by 1)
    select r.turn_id, max(w.rows) from run r join written w on w.turn = r.turn group by 1`;
}

/** Halves of what the child writes: its turns say how much belongs to them, and each has a delivery. */
function halvesOfTurns(db: Database.Database): string[] {
  return [
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
      "turn without its delivery",
      "select id from turn where type = 'normal' and 'delivery-' || id not in (select id from delivery)",
    ),
  ];
}

/** Two hooks of the child always fire, so that every event is sent on, or waits to be judged. */
function forgottenByHooks(db: Database.Database): string[] {
  return [
    ...list(
      db,
      "event that hooks have forgotten",
      `select id from event where direction = 'received' and seq not in (select event from dispatch)
         and seq not in (select event from unjudged)`,
    ),
    ...list(
      db,
      "firing without its dispatch",
      `select h.name || ' on ' || e.id from hook_run r join hook h on h.key = r.hook join event e on e.seq = r.event
       where r.fired and not exists (select 1 from dispatch d where d.event = r.event and d.hook = h.name)`,
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
  return [...siblings.filter((id) => !asked.has(id)).map((id) => `nobody forked ${id}`), ...lostTurns(db)];
}
