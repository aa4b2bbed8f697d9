/** Whether what was told without a target was judged once, and became one turn where a hook wanted it. */
import type { Database } from "better-sqlite3";

import { list } from "../structure.ts";
import { WANTED } from "./served.ts";
import { eventOf, type Told } from "./tellers.ts";

const IS_TOLD = "direction = 'received' and channel in ('webhook', 'files')";
const IS_WANTED = `${IS_TOLD} and content like '${WANTED}%'`;

/** Between two lives: what was acknowledged is there, and is forgotten by its hook at no moment. */
export function judgements(db: Database, { acknowledged }: Told): string[] {
  const find = db.prepare<[string], string>("select content from event where id = ?").pluck();
  return [
    ...[...acknowledged]
      .filter(([delivery, content]) => find.get(eventOf(delivery)) !== content)
      .map(([delivery]) => `delivery ${delivery} was acknowledged and is lost`),
    ...list(
      db,
      "event that waits for no hook, and was judged by none",
      `select id from event where ${IS_WANTED} and seq not in (select event from unjudged)
         and seq not in (select event from hook_run)`,
    ),
    ...list(
      db,
      "event that a hook has failed on",
      "select e.id || ': ' || r.error from hook_run r join event e on e.seq = r.event where r.error is not null",
    ),
    ...list(
      db,
      "event that a hook fired for, and that is not sent on",
      `select id from event where seq in (select event from hook_run where fired)
         and seq not in (select event from dispatch)`,
    ),
  ];
}

interface Trace {
  readonly events: number;
  readonly runs: number;
  readonly fired: number;
  readonly dispatches: number;
  readonly turns: number;
}

/** When all work is done: each became one event, and each that a hook wanted one firing, one dispatch and one turn. */
export function judgementsAtRest(db: Database, told: Told, takenBack: ReadonlySet<string>): string[] {
  const trace = db.prepare<[string], Trace>(
    `select count(distinct e.seq) as events, count(distinct r.key) as runs, total(r.fired) as fired,
       count(distinct d.key) as dispatches, count(distinct t.key) as turns
     from event e left join hook_run r on r.event = e.seq left join dispatch d on d.event = e.seq
     left join item i on i.key = d.item and i.state = 'done' left join turn t on t.key = i.turn
     where ${IS_TOLD} and e.content = ?`,
  );
  const dropped = db
    .prepare<[string], string>(
      "select i.id from item i join event e on e.seq = i.event where i.state = 'dropped' and e.content = ?",
    )
    .pluck();
  return [...told.acknowledged.values(), ...told.dropped].flatMap((content) => {
    const n = content.startsWith(WANTED) ? 1 : 0;
    const turns = takenBack.has(dropped.get(content) ?? "") ? 0 : n;
    const due: Trace = { events: 1, runs: n, fired: n, dispatches: n, turns };
    const found = JSON.stringify(trace.get(content));
    return found === JSON.stringify(due)
      ? []
      : [`"${content}" was to become ${JSON.stringify(due)}, and has become ${found}`];
  });
}

/** How much of what was told is not at its end: not seen, not judged or not answered. */
export function judgementsUnderWay(db: Database, { dropped }: Told): number {
  const count = (sql: string): number => db.prepare<[], number>(sql).pluck().get()!;
  const seen = count("select count(*) from event where channel = 'files' and direction = 'received'");
  const waiting = count("select count(*) from unjudged");
  const queued = count("select count(*) from item where state in ('queued', 'claimed')");
  return Math.max(0, dropped.length - seen) + waiting + queued;
}
