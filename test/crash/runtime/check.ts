/**
 * What must be true of a home whose server was killed again and again: every message that was accepted has
 * one end, threads are what was said in them, no call was made twice, and every answer has arrived.
 */
import { existsSync } from "node:fs";
import Database from "better-sqlite3";

import type { Received } from "../../support/webhook-receiver.ts";
import { damage, halves, lostTurns, unfinished } from "../structure.ts";
import { finishedCalls, marks, orderOfCalls } from "./check-calls.ts";
import { contents } from "./check-contents.ts";
import { delegations, delegationsAtRest, delegationsUnderWay } from "./check-delegations.ts";
import { deliveries, deliveriesAtRest } from "./check-deliveries.ts";
import { judgements, judgementsAtRest, judgementsUnderWay } from "./check-hooks.ts";
import { type Interrupted, interruptions } from "./check-interrupts.ts";
import { type Promised, SESSION_NAMES, UNTOLD } from "./senders.ts";
import { placesIn } from "./served.ts";
import { isRefused } from "./task.ts";
import type { Told } from "./tellers.ts";

export interface Figures {
  readonly turns: number;
  readonly aborted: number;
  readonly compactions: number;
  readonly calls: number;
  readonly deliveries: number;
  readonly firings: number;
  /** Pieces of work that were given to others, and those of them that a process has done. */
  readonly delegations: number;
  readonly subAgents: number;
}

/** What the harness has seen of a home from outside. */
export interface Witness {
  readonly promised: Promised;
  readonly told: Told;
  /** What has arrived where answers are sent to. */
  readonly received: readonly Received[];
  /** The messages that were being sent at a death. */
  readonly doubtful: Set<string>;
  readonly interrupted: Interrupted;
}

/** Between two lives: nothing is there by half, nothing that was accepted is lost, nothing was done twice. */
export function checkAfterDeath(home: string, witness: Witness): string[] {
  const { promised, told, received, doubtful, interrupted } = witness;
  return look(home, [], (db) => [
    ...halves(db),
    ...lostTurns(db),
    ...damage(db),
    ...lostMessages(db, promised),
    ...threads(db, promised),
    ...contents(db),
    ...marks(db, home),
    ...finishedCalls(db, home),
    ...orderOfCalls(db),
    ...interruptions(db, interrupted),
    ...judgements(db, told),
    ...delegations(db),
    ...deliveries(db, received, doubtful),
  ]);
}

/** When all work is done. */
export function checkAtRest(home: string, { promised, told, received }: Witness): string[] {
  return look(home, ["there is no ledger"], (db) => [
    ...unfinished(db),
    ...ends(db, promised),
    ...sessions(db, promised),
    ...judgementsAtRest(db, told, promised.takenBack),
    ...delegationsAtRest(db, promised.takenBack),
    ...deliveriesAtRest(db, received),
  ]);
}

const NOTHING: Figures = {
  turns: 0,
  aborted: 0,
  compactions: 0,
  calls: 0,
  deliveries: 0,
  firings: 0,
  delegations: 0,
  subAgents: 0,
};

export function countOf(home: string): Figures {
  const sql = `select (select count(*) from turn) as turns,
    (select count(*) from turn where status = 'aborted') as aborted,
    (select count(*) from turn where type = 'compaction') as compactions,
    (select count(*) from tool_call) as calls, (select count(*) from delivery) as deliveries,
    (select count(*) from hook_run where fired) as firings, (select count(*) from delegation) as delegations,
    (select count(*) from turn t join session s on s.key = t.session
       where s.worker ->> 'process' is not null) as subAgents`;
  return look(home, NOTHING, (db) => db.prepare<[], Figures>(sql).get()!);
}

/** How many turns the next server finds under way. */
export function turnsUnderWay(home: string): number {
  const sql = "select count(*) from session s join run r on r.key = s.run where r.state <> 'suspended'";
  return look(home, 0, (db) => db.prepare<[], number>(sql).pluck().get()!);
}

/** How many events, answers and pieces of work are not at their end. */
export function workUnderWay(home: string, told: Told): number {
  const sql = "select count(*) from delivery where settled_ms is null";
  return look(
    home,
    0,
    (db) =>
      judgementsUnderWay(db, told) + delegationsUnderWay(db) + db.prepare<[], number>(sql).pluck().get()!,
  );
}

/** A server that dies very early leaves no ledger, or an empty one. */
function look<T>(home: string, nothing: T, read: (db: Database.Database) => T): T {
  const { database } = placesIn(home);
  if (!existsSync(database)) return nothing;
  const db = new Database(database);
  try {
    const tables = db.prepare<[], number>("select count(*) from sqlite_schema where name = 'change'").pluck();
    return tables.get() === 0 ? nothing : read(db);
  } finally {
    db.close();
  }
}

function lostMessages(db: Database.Database, { accepted }: Promised): string[] {
  const find = db
    .prepare<[string], number>("select 1 from event e join item i on i.event = e.seq where e.id = ?")
    .pluck();
  return [...accepted.values()]
    .filter(({ event }) => find.get(event) === undefined)
    .map(({ name }) => `message ${name} was accepted and is lost`);
}

interface TurnRow {
  readonly id: string;
  readonly parent: string | null;
  readonly session: string;
  readonly worker: number;
}

/** Each turn follows the one before it in its session; the first follows nothing, or the turn that was named. */
function threads(db: Database.Database, { followed }: Promised): string[] {
  const turns = db
    .prepare<[], TurnRow>(
      `select t.id, p.id as parent, s.label as session, s.parent_session is not null as worker from turn t
       join session s on s.key = t.session left join turn p on p.key = t.parent order by t.depth, t.key`,
    )
    .all();
  const heads = new Map<string, string>();
  return turns.flatMap(({ id, parent, session, worker }) => {
    const head = heads.get(session);
    heads.set(session, id);
    if (head !== undefined)
      return parent === head ? [] : [`nobody forked ${head}, which ${id} should follow`];
    if (SESSION_NAMES.includes(session) || worker === 1 ? parent === null : followed.has(parent!)) return [];
    return [`nobody asked ${session} to begin at ${parent}`];
  });
}

/** Every message has one end, and it is the one that its sender was told. */
function ends(db: Database.Database, { accepted, takenBack }: Promised): string[] {
  const find = db.prepare<
    [string],
    { id: string; state: string; key: number | null; turn: string | null; status: string | null }
  >(
    `select i.id, i.state, i.turn as key, t.id as turn, t.status from event e join item i on i.event = e.seq
     left join turn t on t.key = i.turn where e.id = ?`,
  );
  const together = db
    .prepare<[number], string>(
      "select e.content from item i join event e on e.seq = i.event where i.turn = ?",
    )
    .pluck();
  return [...accepted.values()].flatMap(({ name, event, end }) => {
    const [item, ...more] = find.all(event);
    if (more.length > 0) return [`message ${name} was queued ${more.length + 1} times`];
    switch (item?.state) {
      case "done":
      case "merged":
        if (end?.kind === "turn" && end.aborted?.by === event)
          return [`message ${name} aborted its own turn`];
        return end?.kind === "turn" &&
          end.turn === item.turn &&
          (end.aborted !== undefined) === (item.status === "aborted")
          ? []
          : [
              `message ${name} is in ${item.turn}, ${item.status}, and its sender was told ${JSON.stringify(end)}`,
            ];
      case "dropped":
        return takenBack.has(item.id) ? [] : [`message ${name} was dropped, and nobody took it back`];
      case "dead":
        return together.all(item.key!).some(isRefused) ? [] : [`message ${name} is dead for no reason`];
      case undefined:
      default:
        return [`message ${name} was accepted and is ${item?.state ?? "lost"}`];
    }
  });
}

/** A session is there because somebody named it, because of a message that follows a turn, or because of work for it. */
function sessions(db: Database.Database, { accepted }: Promised): string[] {
  const told = new Map([...accepted.values()].map(({ event, session }) => [event, session]));
  const first = db.prepare<[], { label: string; event: string | null }>(
    `select s.label, e.id as event, min(i.key) from session s left join item i on i.session = s.key
     left join event e on e.seq = i.event
       where s.key not in (select session from delegation) group by s.key`, // the event is that of the first item
  );
  return first.all().flatMap(({ label, event }) => {
    const session = told.get(event ?? "");
    return SESSION_NAMES.includes(label) || session === label || session === UNTOLD
      ? []
      : [`nobody was told of the session ${label}`];
  });
}
