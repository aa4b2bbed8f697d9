import type { Database } from "better-sqlite3";

import type { Lane } from "./lane.ts";
import { prepareWaiting } from "./waiting.ts";

/** free: the queue had room. made: other items were dropped. none: the new item has to be dropped. */
type Room = "free" | "made" | "none";

interface Pressure {
  readonly cap: { readonly max: number; readonly drop: string } | undefined;
  readonly drains: string | null;
}

interface WaitingRow {
  readonly key: number;
  readonly turn: number | null;
}

const ALL = -1;

/** A session, and the lane of the new item: it displaces nothing of another lane. */
interface Queue {
  readonly session: number;
  readonly lane: Lane;
}

/** Drops the items that a new item displaces: by interrupting, or because the queue is full. */
export function prepareMakeRoom(db: Database): (queue: Queue, pressure: Pressure, nowMs: number) => Room {
  const findWaiting = db.prepare<[number, Lane, number], WaitingRow>(
    `select key, turn from item
     where session = ? and settled_ms is null and state = 'queued' and lane is ? order by key limit ?`,
  );
  const queue = prepareWaiting(db);

  return ({ session, lane }, { cap, drains }, nowMs) => {
    if (cap === undefined && drains === null) return "free";
    const max = cap?.max ?? Infinity;
    const dropsOld = drains !== null || cap?.drop !== "new";
    const waiting = findWaiting.all(session, lane, dropsOld ? ALL : max);
    const excess = waiting.length - max + 1;
    // A turn that waits for a retry keeps its items.
    const free = dropsOld ? waiting.filter(({ turn }) => turn === null) : [];
    if (excess > free.length) return "none";
    const victims = drains === null ? free.slice(0, Math.max(excess, 0)) : free;
    const policy = drains === null ? cap!.drop : "interrupt";
    for (const { key } of victims) queue.dropItem(key, policy, nowMs);
    return victims.length > 0 ? "made" : "free";
  };
}
