/** Whether work that was given to others came to one end, and whoever gave it was told of that once. */
import type { Database } from "better-sqlite3";

import { list } from "../structure.ts";
import { heard, isRefused, nameIn } from "./task.ts";

/** Between two lives. */
export function delegations(db: Database): string[] {
  return [
    ...list(
      db,
      "call that has given work more than once",
      `select d.caller_turn || '-' || d.ordinal from delegation d group by d.caller_turn, d.ordinal having count(*) > 1
       union all select parent_turn || ' ' || parent_call from session where parent_session is not null
       group by parent_turn, parent_call having count(*) > 1`,
    ),
    ...list(
      db,
      "delegation whose message and state do not belong together",
      `select d.id || ' ' || d.state || ' ' || i.state from delegation d join item i on i.key = d.item
       where (d.state = 'open') <> (d.ended_ms is null) or (d.state = 'open' and i.settled_ms is not null)
         or (d.state = 'done' and i.state not in ('done', 'merged')) or (d.state = 'failed' and i.state <> 'dead')`,
    ),
    ...list(
      db,
      "delegation that was told of by a message while a call waits for it",
      "select d.id from delegation d join event e on e.id = 'agent:' || d.id where d.waits",
    ),
    ...list(
      db,
      "delegation that is noted as told, and of which nobody was told",
      `select d.id from delegation d where not d.waits and d.reported_ms is not null and not exists
         (select 1 from event e join dispatch p on p.event = e.seq join item i on i.key = p.item
          where e.id = 'agent:' || d.id and i.session = d.caller)`,
    ),
    ...list(
      db,
      "delegation that was told of, and is not noted as that",
      `select d.id from delegation d join event e on e.id = 'agent:' || d.id where d.reported_ms is null`,
    ),
    ...list(
      db,
      "call that has a result before its work is over and told",
      `select d.id from delegation d join tool_call c on c.key = d.caller_turn * 65536 + d.ordinal
       where d.waits and c.status in ('ok', 'error') and d.reported_ms is null and d.state <> 'cancelled'`,
    ),
    ...list(
      db,
      "turn that goes on waiting for work that is over and told",
      `select r.turn_id from run r join delegation d on d.caller_turn = r.turn
         left join tool_call c on c.key = d.caller_turn * 65536 + d.ordinal
       where r.state = 'suspended' and d.waits and coalesce(c.status, 'started') = 'started'
       group by r.key having min(d.state = 'cancelled' or d.reported_ms is not null)`,
    ),
    ...list(
      db,
      "message to another agent that was sent, and is not there",
      `select r.turn_id || '-' || (c.key % 65536) from tool_call c join run r on r.turn = c.key / 65536
       where c.tool = 'send_message_to_agent' and c.status = 'ok'
         and 'agent:' || r.turn_id || '-' || (c.key % 65536) not in (select id from event)`,
    ),
    ...list(
      db,
      "worker whose turn has not counted what it cost",
      `select t.id from turn t join session s on s.key = t.session
       where s.parent_session is not null and t.status = 'completed'
         and coalesce(abs(t.cost_usd - (select total(body ->> '$.costUsd') from message
           where key / 65536 = t.key and role = 'assistant')), 1) > 1e-9`,
    ),
    ...list(
      db,
      "worker whose turn has cost nothing",
      `select t.id from turn t join session s on s.key = t.session
       where s.parent_session is not null and t.status = 'completed' and t.input_tokens = 0`,
    ),
  ];
}

/** How many are not at their end. */
export function delegationsUnderWay(db: Database): number {
  const sql = `select (select count(*) from delegation where ended_ms is null
      or (reported_ms is null and state <> 'cancelled')) + (select count(*) from run where state = 'suspended')`;
  return db.prepare<[], number>(sql).pluck().get()!;
}

interface Row {
  readonly id: string;
  readonly state: string;
  readonly waits: number;
  readonly reported: number | null;
  readonly task: string;
  readonly item: string;
  readonly turns: number;
  /** Whether the turn that gave the work was told to end. */
  readonly aborted: number;
  /** How that turn ended. */
  readonly caller: string | null;
  readonly call: string | null;
  readonly result: string | null;
  readonly reportItem: string | null;
  readonly reportState: string | null;
}

const ROWS = `select d.id, d.state, d.waits, d.reported_ms as reported, e.content as task, i.id as item,
    (select count(*) from turn where source = i.event) as turns,
    exists (select 1 from run where turn = d.caller_turn and abort is not null) as aborted,
    (select status from turn where key = d.caller_turn) as caller,
    c.status as call, c.result ->> 'text' as result, ri.id as reportItem, ri.state as reportState
  from delegation d join item i on i.key = d.item join event e on e.seq = i.event
  left join tool_call c on c.key = d.caller_turn * 65536 + d.ordinal
  left join event re on re.id = 'agent:' || d.id left join item ri on ri.event = re.seq`;

/** When all work is done. `takenBack` are the messages that a sender has dropped. */
export function delegationsAtRest(db: Database, takenBack: ReadonlySet<string>): string[] {
  return db
    .prepare<[], Row>(ROWS)
    .all()
    .flatMap((row) =>
      [...endOf(row, takenBack), ...telling(row, takenBack)].map((what) => `${row.id} ${what}`),
    );
}

/** Nothing ends for no reason. */
function endOf({ state, turns, task, item, aborted }: Row, takenBack: ReadonlySet<string>): string[] {
  const due = state === "done" ? turns === 1 : turns <= 1;
  const why: Readonly<Record<string, boolean>> = {
    done: true,
    failed: isRefused(task),
    dropped: takenBack.has(item),
    cancelled: aborted === 1,
  };
  return [
    ...(due ? [] : [`is ${state}, and has ${turns} turns`]),
    ...(why[state] === true ? [] : [`is ${state} for no reason`]),
  ];
}

/** Told once: by the result of the call, or by a message. */
function telling(row: Row, takenBack: ReadonlySet<string>): string[] {
  const { state, waits, reported, caller, call, result, reportItem, reportState } = row;
  if (state === "cancelled") return reported === null ? [] : ["was cancelled, and told of"];
  if (reported === null) return [`is ${state}, and nobody was told`];
  if (waits === 0) {
    if (reportState === "dropped")
      return takenBack.has(reportItem!) ? [] : ["was told of by a message that was dropped"];
    return reportState === null ? ["was told of by no message"] : [];
  }
  if (caller !== "completed") return [];
  if (call !== "ok" && call !== "error") return [`is ${state}, and its call is ${call}`];
  const answer = heard([nameIn(row.task)]).slice(0, -1);
  const isRight = state === "done" ? call === "ok" && result!.startsWith(answer) : call === "error";
  return isRight ? [] : [`is ${state}, and its call was told "${result}"`];
}
