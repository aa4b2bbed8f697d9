import type { Database } from "better-sqlite3";

import type { ItemId } from "../../model/ids.ts";
import { firstKey, lastKey } from "./keys.ts";
import { operation, Refusal } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { prepareWaiting } from "./waiting.ts";
import { list, record, text } from "./wire.ts";

export const dropItems = operation(record({ items: list(text), policy: text }), (db) => {
  const find = db.prepare<[string], ItemRow>(
    "select key, id, session, state, policy, turn from item where id = ?",
  );
  const drop = prepareDropQueued(db);
  return ({ items, policy }, { nowMs, wake }): ItemId[] | Refusal => {
    const rows = items.map((id) => find.get(id) ?? itemUnknown(id));
    const missing = rows.find((row) => row instanceof Refusal);
    if (missing !== undefined) return missing;
    const dropped: ItemId[] = [];
    for (const row of rows) {
      if (row instanceof Refusal) continue;
      // A previous attempt at this call may have dropped it already.
      if (row.state === "dropped" && row.policy === policy) dropped.push(row.id);
      if (row.state !== "queued") continue;
      drop(row, policy, nowMs);
      dropped.push(row.id);
    }
    if (dropped.length > 0) wake("queue");
    return dropped;
  };
});

export const retryDead = operation(record({ item: text }), (db) => {
  const findDead = prepareFindDead(db);
  const requeue = db
    .prepare<[number, number | null], number>(
      `update item set state = 'queued', settled_ms = null, due_ms = ?
       where turn = ? and state = 'dead' returning key`,
    )
    .pluck();
  const waiting = prepareWaiting(db);
  const changes = prepareRecorder(db);
  return ({ item }, { nowMs, wake }): null | Refusal => {
    const dead = findDead(item);
    if (dead instanceof Refusal) return dead;
    if (dead.state === "queued" && dead.turn !== null) return null; // the same call came before
    if (dead.state !== "dead") return notDead(item, dead.state);
    for (const key of requeue.all(nowMs, dead.turn)) changes.item(key, "queued");
    waiting.refreshReady(dead.session, nowMs);
    wake("queue");
    return null;
  };
});

/** The journal is removed, since nothing can replay it any more. */
export const dropDead = operation(record({ item: text }), (db) => {
  const findDead = prepareFindDead(db);
  const drop = db
    .prepare<[number, number | null], number>(
      `update item set state = 'dropped', policy = 'dead letter given up', settled_ms = ?
       where turn = ? and state = 'dead' returning key`,
    )
    .pluck();
  const forget = prepareForget(db);
  const changes = prepareRecorder(db);
  return ({ item }, { nowMs }): null | Refusal => {
    const dead = findDead(item);
    if (dead instanceof Refusal) return dead;
    if (dead.state === "dropped") return null;
    if (dead.state !== "dead") return notDead(item, dead.state);
    for (const key of drop.all(nowMs, dead.turn)) changes.item(key, "dropped");
    forget(dead.turn!);
    return null;
  };
});

/** Drops an item that is queued. */
export function prepareDropQueued(db: Database) {
  const waiting = prepareWaiting(db);
  const forget = prepareForget(db);
  return (item: Pick<ItemRow, "key" | "session" | "turn">, policy: string, nowMs: number): void => {
    waiting.dropItem(item.key, policy, nowMs);
    if (item.turn !== null) forget(item.turn); // a dead letter waiting for its retry
    waiting.refreshReady(item.session, nowMs);
  };
}

/** Removes the journal of a turn that will never exist, unless another of its items still waits. */
function prepareForget(db: Database): (turn: number) => void {
  const isWanted = db
    .prepare<[number, number], number>(
      `select 1 from item i join run r on r.session = i.session
       where r.key = ? and i.turn = ? and i.settled_ms is null limit 1`,
    )
    .pluck();
  const forgetMessages = db.prepare("delete from message where key between ? and ?");
  const forgetCalls = db.prepare("delete from tool_call where key between ? and ?");
  return (turn) => {
    if (isWanted.get(turn, turn) !== undefined) return;
    forgetMessages.run(firstKey(turn), lastKey(turn));
    forgetCalls.run(firstKey(turn), lastKey(turn));
  };
}

interface ItemRow {
  readonly key: number;
  readonly id: ItemId;
  readonly session: number;
  readonly state: string;
  readonly policy: string | null;
  readonly turn: number | null;
}

interface DeadRow {
  readonly session: number;
  readonly turn: number | null;
  readonly state: string;
}

function prepareFindDead(db: Database): (item: string) => DeadRow | Refusal {
  const find = db.prepare<[string], DeadRow>("select session, turn, state from item where id = ?");
  return (item) => find.get(item) ?? itemUnknown(item);
}

function itemUnknown(item: string): Refusal {
  return new Refusal(
    "item_unknown",
    `Unknown queue item "${item}"`,
    "Run `cortex queue` to list waiting messages.",
  );
}

function notDead(item: string, state: string): Refusal {
  return new Refusal(
    "state_conflict",
    `Item ${item} is ${state}, not dead`,
    "Run `cortex dead list` to list dead letters.",
  );
}
