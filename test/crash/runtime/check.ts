/**
 * What must be true of a home whose server was killed again and again: every message that was accepted has
 * one end, threads are what was said in them, and no call was made twice.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";

import { damage, halves, lostTurns, unfinished } from "../structure.ts";
import { type Promised, SESSIONS, UNTOLD } from "./senders.ts";
import { placesIn } from "./served.ts";
import { type Call, callsIn, heard, isRefused, markOf, nameIn } from "./task.ts";

export interface Figures {
  readonly turns: number;
  readonly calls: number;
}

/** Between two lives: nothing is there by half, nothing that was accepted is lost, nothing was done twice. */
export function checkAfterDeath(home: string, promised: Promised): string[] {
  return look(home, [], (db) => [
    ...halves(db),
    ...lostTurns(db),
    ...damage(db),
    ...lostMessages(db, promised),
    ...threads(db, promised),
    ...marks(db, home),
  ]);
}

/** When all work is done. */
export function checkAtRest(home: string, promised: Promised): string[] {
  return look(home, ["there is no ledger"], (db) => [
    ...unfinished(db),
    ...ends(db, promised),
    ...contents(db),
    ...sessions(db, promised),
    ...finishedCalls(db, home),
    ...orderOfCalls(db),
  ]);
}

export function countOf(home: string): Figures {
  return look(home, { turns: 0, calls: 0 }, (db) => ({
    turns: db.prepare<[], number>("select count(*) from turn").pluck().get()!,
    calls: db.prepare<[], number>("select count(*) from tool_call").pluck().get()!,
  }));
}

/** How many turns the next server finds under way. */
export function turnsUnderWay(home: string): number {
  const sql = "select count(*) from session s join run r on r.key = s.run where r.state <> 'suspended'";
  return look(home, 0, (db) => db.prepare<[], number>(sql).pluck().get()!);
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
}

/** Each turn follows the one before it in its session; the first follows nothing, or the turn that was named. */
function threads(db: Database.Database, { followed }: Promised): string[] {
  const turns = db
    .prepare<[], TurnRow>(
      `select t.id, p.id as parent, s.label as session from turn t
       join session s on s.key = t.session left join turn p on p.key = t.parent order by t.depth, t.key`,
    )
    .all();
  const heads = new Map<string, string>();
  return turns.flatMap(({ id, parent, session }) => {
    const head = heads.get(session);
    heads.set(session, id);
    if (head !== undefined)
      return parent === head ? [] : [`nobody forked ${head}, which ${id} should follow`];
    if (SESSIONS.includes(session) ? parent === null : followed.has(parent!)) return [];
    return [`nobody asked ${session} to begin at ${parent}`];
  });
}

/** What was appended was appended once, by a call that the ledger knew about. */
function marks(db: Database.Database, home: string): string[] {
  const called = callsByMark(db);
  const times = [...appended(home)];
  return [
    ...times.filter(([, n]) => n > 1).map(([mark, n]) => `${mark} was appended ${n} times`),
    ...times
      .filter(([mark]) => !called.has(mark))
      .map(([mark]) => `${mark} was appended by a call that is not in the journal`),
  ];
}

/** Every message has one end, and it is the one that its sender was told. */
function ends(db: Database.Database, { accepted, takenBack }: Promised): string[] {
  const find = db.prepare<[string], { id: string; state: string; key: number | null; turn: string | null }>(
    `select i.id, i.state, i.turn as key, t.id as turn from event e join item i on i.event = e.seq
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
        return end?.kind === "turn" && end.turn === item.turn
          ? []
          : [`message ${name} is in ${item.turn}, and its sender was told ${JSON.stringify(end)}`];
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

interface MessageRow {
  readonly id: string;
  readonly role: string;
  readonly content: string;
}

/** A turn holds the messages that it answers, each once; its answer was made with all of its thread. */
function contents(db: Database.Database): string[] {
  const turns = db.prepare<[], { key: number; id: string; parent: number | null }>(
    "select key, id, parent from turn order by depth",
  );
  const messagesOf = db.prepare<[number], MessageRow>(
    "select id, role, content from message where key / 65536 = ? order by key",
  );
  const itemsOf = db
    .prepare<[number], string>("select id from item where turn = ? and state in ('done', 'merged')")
    .pluck();
  const callsOf = db.prepare<[number], CallRow>(
    "select tool, params, status from tool_call where key / 65536 = ? order by key",
  );
  const told = new Map<number | null, readonly string[]>([[null, []]]);
  const problems: string[] = [];
  for (const { key, id, parent } of turns.all()) {
    const messages = messagesOf.all(key);
    const asked = messages.filter(({ role }) => role === "user");
    const names = [...told.get(parent)!, ...asked.map(({ content }) => nameIn(content))];
    told.set(key, names);
    const held = new Set(asked.map((message) => message.id));
    for (const item of itemsOf.all(key))
      if (!held.has(item)) problems.push(`message ${item} is settled by ${id}, which does not hold it`);
    if (new Set(names).size < names.length)
      problems.push(`the thread of ${id} has a message twice: ${names.join(" ")}`);
    const answer = messages.findLast(({ role }) => role === "assistant")?.content;
    if (answer !== heard(names))
      problems.push(`${id} was answered without its thread: "${answer}", not "${heard(names)}"`);
    // A message that joins a turn makes the model do something else.
    if (asked.length === 1) problems.push(...otherCalls(id, asked[0]!.content, callsOf.all(key)));
  }
  return problems;
}

function otherCalls(turn: string, content: string, calls: readonly CallRow[]): string[] {
  const wanted = callsIn(content).map(({ name, args }) => `${name} ${JSON.stringify(args)}`);
  const made = calls.map(({ tool, params }) => `${tool} ${params}`);
  return wanted.join() === made.join()
    ? []
    : [`${turn} has made other calls than it was told: ${made.join()}`];
}

/** A session is there because somebody named it, or because of a message that follows a turn. */
function sessions(db: Database.Database, { accepted }: Promised): string[] {
  const told = new Map([...accepted.values()].map(({ event, session }) => [event, session]));
  const first = db.prepare<[], { label: string; event: string | null }>(
    `select s.label, e.id as event, min(i.key) from session s left join item i on i.session = s.key
     left join event e on e.seq = i.event group by s.key`, // the event is that of the first item
  );
  return first.all().flatMap(({ label, event }) => {
    const session = told.get(event ?? "");
    return SESSIONS.includes(label) || session === label || session === UNTOLD
      ? []
      : [`nobody was told of the session ${label}`];
  });
}

/** A call that has ended well has had its effect once; one that was not made, none. */
function finishedCalls(db: Database.Database, home: string): string[] {
  const times = appended(home);
  return [...callsByMark(db)].flatMap(([mark, calls]) => {
    const [{ tool, status }] = calls as [CallRow];
    if (calls.length > 1) return [`${mark} was called for ${calls.length} times`];
    const effects = tool === "Bash" ? (times.get(mark) ?? 0) : isWritten(home, mark) ? 1 : 0;
    if (status === "ok" && effects !== 1) return [`${mark} is done, and has had ${effects} effects`];
    if (status === "skipped" && effects !== 0) return [`${mark} was skipped, and has had an effect`];
    if (status === "error") return [`${mark} has failed`];
    return [];
  });
}

/** The result of a call is kept before the next call begins: else a crash between them loses it. */
function orderOfCalls(db: Database.Database): string[] {
  const calls = db.prepare<[], { call: string; turn: string }>(
    `select n.call_id as call, r.turn_id as turn from tool_call c
     join tool_call n on n.key = c.key + 1 and n.key / 65536 = c.key / 65536 join run r on r.key = c.key / 65536
     where c.completed_ms > n.started_ms`,
  );
  return calls
    .all()
    .map(({ call, turn }) => `${call} of ${turn} began before the call before it had its result`);
}

interface CallRow {
  readonly tool: Call["name"];
  readonly params: string;
  readonly status: string;
}

function callsByMark(db: Database.Database): Map<string, CallRow[]> {
  const calls = db.prepare<[], CallRow>("select tool, params, status from tool_call").all();
  const marked = calls.flatMap((call) => {
    const mark = markOf({ name: call.tool, args: JSON.parse(call.params) as Call["args"] });
    return mark === undefined ? [] : [{ mark, call }];
  });
  const byMark = new Map<string, CallRow[]>();
  for (const { mark, call } of marked) byMark.set(mark, [...(byMark.get(mark) ?? []), call]);
  return byMark;
}

function appended(home: string): Map<string, number> {
  const times = new Map<string, number>();
  for (const mark of readFileSync(placesIn(home).log, "utf8").split("\n").slice(0, -1))
    times.set(mark, (times.get(mark) ?? 0) + 1);
  return times;
}

function isWritten(home: string, mark: string): boolean {
  const path = join(placesIn(home).workspace, "marks", mark);
  return existsSync(path) && readFileSync(path, "utf8") === mark;
}
