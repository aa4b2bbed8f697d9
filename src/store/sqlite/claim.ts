/**
 * Claims of sessions: the one place where leases are granted and runs begin.
 *
 * A session with an unfinished run continues that run: cut off by a crash, released, resumed, or failed and due for a
 * retry. Otherwise its first waiting item starts a new run; the owner's go first, and of these, items that interrupt.
 */
import type { Database } from "better-sqlite3";

import type { RunId, TurnId } from "../../model/ids.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { oncePerDatabase } from "./once.ts";
import { type Lane, prepareFindOthers } from "./lane.ts";
import { prepareRecorder } from "./record-changes.ts";
import { required } from "./row.ts";
import { type Decoded, number, numberOrNull, record, text, textOf } from "./wire.ts";
import { NEXT_FIRST } from "./waiting.ts";

/** The caller makes the ids of the run and the turn, in case new ones are needed. */
export const claimCodec = record({
  holder: text,
  ttlMs: number,
  run: textOf<RunId>(),
  turn: textOf<TurnId>(),
  others: numberOrNull,
});

export type ClaimRequest = Decoded<typeof claimCodec>;

/** The fields of `Claim`, flat. */
export interface ClaimRow {
  readonly session: SessionKey;
  readonly epoch: number;
  readonly run: RunId;
  readonly turn: TurnId;
  readonly parent: TurnId | null;
  readonly attempt: number;
  readonly interruptions: number;
  readonly progress: number;
  readonly abort: string | null;
}

export interface SessionRow {
  readonly key: number;
  readonly label: SessionKey;
  readonly epoch: number;
  readonly head: number | null;
  readonly head_id: TurnId | null;
  readonly run: number | null;
  readonly ready_ms: number | null;
  /** Of its run, otherwise of what is next in it. */
  readonly lane: Lane;
}

interface RunRow {
  readonly key: number;
  readonly id: RunId;
  readonly turn: number;
  readonly turn_id: TurnId;
  readonly attempt: number;
  readonly state: string;
  readonly interruptions: number;
  readonly progress: number;
  readonly claimed_progress: number;
  readonly pinned: string | null;
  readonly abort: string | null;
  readonly abort_item: number | null;
  readonly item: number | null;
  readonly source: number | null;
  readonly merged: number;
  readonly cost_usd: number;
  readonly lane: Lane;
}

interface ItemRow {
  readonly key: number;
  readonly event: number;
  readonly turn: number | null;
  readonly lane: Lane;
}

/** What a run works on, and its key. */
interface NewWork {
  readonly run: number;
  readonly item: number | null;
  readonly source: number | null;
  readonly merged: number;
  readonly lane: Lane;
}

interface Started {
  readonly runKey: number;
  readonly lane: Lane;
  readonly row: Omit<ClaimRow, "session" | "epoch" | "parent">;
}

const NO_SESSION = 0;
const RUN_COLUMNS = `key, id, turn, turn_id, attempt, state, interruptions, progress, claimed_progress, pinned, abort,
  abort_item, item, source, merged, cost_usd, lane`;
const SESSION_COLUMNS = "s.key, s.label, s.epoch, s.head, t.id as head_id, s.run, s.ready_ms, s.lane";
const SESSION_TABLES = "session s left join turn t on t.key = s.head";

export const prepareClaims = oncePerDatabase((db: Database) => {
  const findSession = db.prepare<[string], SessionRow>(
    `select ${SESSION_COLUMNS} from ${SESSION_TABLES} where s.label = ?`,
  );
  const findByKey = db.prepare<[number], SessionRow>(
    `select ${SESSION_COLUMNS} from ${SESSION_TABLES} where s.key = ?`,
  );
  const findOwners = db.prepare<[number, string, number], SessionRow>(
    `select ${SESSION_COLUMNS} from ${SESSION_TABLES}
     where s.ready_ms <= ? and s.lane is null and (s.holder is null or s.holder <> ?) and s.key <> ?
     order by s.ready_ms, s.epoch limit 1`,
  );
  const others = prepareFindOthers(db);
  const readySession = db.prepare("update session set ready_ms = ?, lane = ? where key = ?");
  const start = prepareStart(db);
  const { hold, settle } = prepareHold(db, others.noteServed);

  function findReadyOfOthers(request: ClaimRequest, nowMs: number, except: number): SessionRow | undefined {
    const found = others.find(nowMs, request.holder, except);
    return found !== undefined && others.hasRoom(request) ? findByKey.get(found) : undefined;
  }

  return {
    findSession: (label: string): SessionRow | undefined => findSession.get(label),

    /**
     * The session to be claimed next, except those of the holder that asks: with the owner's work the one that has
     * waited longest, otherwise one of the others, if there is room for them.
     */
    findReady: (request: ClaimRequest, nowMs: number): SessionRow | undefined =>
      findOwners.get(nowMs, request.holder, NO_SESSION) ?? findReadyOfOthers(request, nowMs, NO_SESSION),

    /** Whether the work of a lane can be claimed by a holder that has a free slot. */
    hasRoom: (lane: Lane, request: ClaimRequest): boolean => lane === null || others.hasRoom(request),

    /** Gives a ready session to a holder. Undefined: nothing of it is due after all. */
    claimSession(session: SessionRow, request: ClaimRequest, nowMs: number): ClaimRow | undefined {
      const started = start.unfinished(session, request, nowMs) ?? start.queued(session, request, nowMs);
      if (started !== undefined) return hold(session, started, request, nowMs);
      settle(session, nowMs);
      return undefined;
    },

    /** Gives an idle session to a holder, for an item that was just inserted as part of the turn `run`. */
    claimIdle(session: SessionRow, request: ClaimRequest, work: NewWork, nowMs: number): ClaimRow {
      return hold(session, start.newRun(session, request, work, null, nowMs), request, nowMs);
    },

    /**
     * Ends the hold on a session, given with its new head and no run, and uses the free slot at once: for the
     * session that has waited longest, otherwise for the next message of the same session.
     */
    finish(session: SessionRow, request: ClaimRequest | undefined, nowMs: number): ClaimRow | undefined {
      if (request === undefined) {
        settle(session, nowMs);
        return undefined;
      }
      const owners = findOwners.get(nowMs, request.holder, session.key);
      const item = owners === undefined ? start.nextItem(session.key, nowMs) : undefined;
      if (item?.lane === null) return this.claimSession(session, request, nowMs);
      settle(session, nowMs); // before others are counted
      const own = item !== undefined && others.hasRoom(request) ? session : undefined;
      const next = owners ?? findReadyOfOthers(request, nowMs, session.key) ?? own;
      return next && this.claimSession(next, request, nowMs);
    },

    /** The key of a run that is about to be inserted. */
    nextRunKey: start.nextRunKey,

    /** Releases a session: it is ready when its next message is due. */
    settleSession: settle,

    /** Marks a session that is not held as ready for work of a lane. */
    wakeSession(session: number, readyMs: number, lane: Lane): void {
      readySession.run(readyMs, lane, session);
    },
  };
});

/** Begins runs, or continues them. */
function prepareStart(db: Database) {
  const findRun = db.prepare<[number], RunRow>(`select ${RUN_COLUMNS} from run where key = ?`);
  const findRunOfTurn = db.prepare<[number], RunRow>(
    `select ${RUN_COLUMNS} from run
     where turn_id = (select turn_id from run where key = ?) and state <> 'completed'
     order by key desc limit 1`,
  );
  const continueRun = db.prepare(
    `update run set state = 'running', parent = ?, interruptions = ?, claimed_progress = progress,
                    wait_id = null, wait_kind = null, wait_detail = null, compacting_ms = null
     where key = ?`,
  );
  // There is one writer, so the next key can be counted here. A batch that is undone leaves a gap.
  let lastRun = required(db.prepare<[], number>("select coalesce(max(key), 0) from run").pluck().get());
  const items = prepareItems(db);
  const startNew = prepareStartNew(db);

  return {
    newRun: startNew,
    nextRunKey: (): number => ++lastRun,
    nextItem: items.next,

    unfinished(session: SessionRow, request: ClaimRequest, nowMs: number): Started | undefined {
      if (session.run === null) return undefined;
      const run = required(findRun.get(session.run));
      if (run.state === "failed") return startNew(session, request, { ...run, run: ++lastRun }, run, nowMs);
      const interruptions = interruptionsOf(run);
      continueRun.run(session.head, interruptions, run.key);
      const { id, turn_id, attempt, progress, abort } = run;
      return {
        runKey: run.key,
        lane: run.lane,
        row: { run: id, turn: turn_id, attempt, interruptions, progress, abort },
      };
    },

    queued(session: SessionRow, request: ClaimRequest, nowMs: number): Started | undefined {
      const item = items.next(session.key, nowMs);
      if (item === undefined) return undefined;
      const run = ++lastRun;
      const merged = items.take(session.key, item, run) - 1;
      const work = { run, item: item.key, source: item.event, merged, lane: item.lane };
      if (item.turn === null) return startNew(session, request, work, null, nowMs);
      // A retried dead letter: the turn keeps its id and its journal.
      const last = required(findRunOfTurn.get(item.turn));
      return startNew(session, request, work, { ...last, attempt: 0, abort: null, abort_item: null }, nowMs);
    },
  };
}

/** Gives sessions to holders, and takes them back. */
function prepareHold(db: Database, noteServed: (lane: Lane, run: number) => void) {
  const findNext = db.prepare<[number], { due_ms: number; lane: Lane }>(
    `select i.due_ms, i.lane from item i where i.session = ? and i.settled_ms is null and i.state = 'queued'
     order by ${NEXT_FIRST} limit 1`,
  );
  const update = db.prepare(
    `update session set head = ?, epoch = ?, holder = ?, run = ?, ready_ms = ?, lane = ?, used_ms = ? where key = ?`,
  );
  const changes = prepareRecorder(db);
  return { hold, settle };

  function hold(session: SessionRow, started: Started, request: ClaimRequest, nowMs: number): ClaimRow {
    const epoch = session.epoch + 1;
    const until = nowMs + request.ttlMs;
    const { runKey, lane } = started;
    update.run(session.head, epoch, request.holder, runKey, until, lane, nowMs, session.key);
    noteServed(lane, runKey);
    changes.run(started.runKey, "running");
    return { session: session.label, epoch, parent: session.head_id, ...started.row };
  }

  function settle(session: SessionRow, nowMs: number): void {
    const next = findNext.get(session.key);
    const ready = next === undefined ? null : Math.max(next.due_ms, nowMs);
    update.run(session.head, session.epoch, null, null, ready, next?.lane ?? null, nowMs, session.key);
  }
}

/** Including this one, if the run was cut off by a crash. */
function interruptionsOf({ state, progress, claimed_progress, interruptions }: RunRow): number {
  if (state !== "running") return interruptions;
  return progress > claimed_progress ? 1 : interruptions + 1;
}

/** The queued items of a session. */
function prepareItems(db: Database) {
  const isNotAfterOwners = `(i.lane is null or not exists (
    select 1 from item o where o.session = i.session and o.settled_ms is null and o.state = 'queued' and o.lane is null))`;
  const findDue = db.prepare<[number, number], ItemRow>(
    `select key, event, turn, lane from item i
     where session = ? and settled_ms is null and state = 'queued' and due_ms <= ? and ${isNotAfterOwners}
     order by key limit 1`,
  );
  const findInterrupt = db.prepare<[number, number], ItemRow>(
    `select key, event, turn, lane from item i indexed by item_interrupt
     where session = ? and settled_ms is null and mode = 'interrupt' and state = 'queued' and due_ms <= ?
       and ${isNotAfterOwners}
     order by key limit 1`,
  );
  const takeItem = db.prepare(`update item set state = 'claimed', turn = ? where key = ?`);
  // A retried dead letter comes back with all items of its turn.
  const takeItemsOfTurn = db
    .prepare<[number, number], number>(
      `update item set state = 'claimed'
       where session = ? and settled_ms is null and state = 'queued' and turn = ? returning key`,
    )
    .pluck();
  const changes = prepareRecorder(db);
  return {
    /** The oldest that interrupts, otherwise the oldest. While messages of the owner wait, only these count. */
    next: (session: number, nowMs: number): ItemRow | undefined =>
      findInterrupt.get(session, nowMs) ?? findDue.get(session, nowMs),

    /** Takes an item into a run, with all others of its turn. Returns how many it took. */
    take(session: number, item: ItemRow, run: number): number {
      if (item.turn === null) takeItem.run(run, item.key);
      const taken = item.turn === null ? [item.key] : takeItemsOfTurn.all(session, item.turn);
      for (const key of taken) changes.item(key, "claimed");
      return taken.length;
    },
  };
}

/** Inserts a run; one that follows a failed attempt at the same turn takes over its journal and its cost. */
function prepareStartNew(db: Database) {
  const insertRun = db.prepare(
    `insert into run (key, id, turn, turn_id, session, parent, item, source, merged, attempt, state, progress,
                      claimed_progress, pinned, abort, abort_item, cost_usd, started_ms, lane)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const takeCost = db.prepare("update run set cost_usd = 0 where key = ? and cost_usd > 0");
  return (
    session: SessionRow,
    request: ClaimRequest,
    work: NewWork,
    before: RunRow | null,
    nowMs: number,
  ): Started => {
    const { lane } = work;
    const turn = before?.turn_id ?? request.turn;
    const attempt = (before?.attempt ?? 0) + 1;
    const progress = before?.progress ?? 0;
    const abort = before?.abort ?? null;
    insertRun.run(
      work.run,
      request.run,
      before?.turn ?? work.run,
      turn,
      session.key,
      session.head,
      work.item,
      work.source,
      work.merged,
      attempt,
      progress,
      progress,
      before?.pinned ?? null,
      abort,
      before?.abort_item ?? null,
      before?.cost_usd ?? 0,
      nowMs,
      lane,
    );
    if (before !== null) takeCost.run(before.key);
    return {
      runKey: work.run,
      lane,
      row: { run: request.run, turn, attempt, interruptions: 0, progress, abort },
    };
  };
}
