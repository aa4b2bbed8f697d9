/**
 * Claims of sessions: the one place where leases are granted and runs begin.
 *
 * A session with an unfinished run continues that run: cut off by a crash, released, resumed, or failed and due for a
 * retry. Otherwise its first waiting item starts a new run; items that interrupt go first.
 */
import type { Database } from "better-sqlite3";

import type { RunId, TurnId } from "../../model/ids.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { oncePerDatabase } from "./once.ts";
import { prepareRecorder } from "./record-changes.ts";
import { required } from "./row.ts";
import { type Decoded, number, record, text, textOf } from "./wire.ts";

/** The caller makes the ids of the run and the turn, in case new ones are needed. */
export const claimCodec = record({
  holder: text,
  ttlMs: number,
  run: textOf<RunId>(),
  turn: textOf<TurnId>(),
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
}

interface ItemRow {
  readonly key: number;
  readonly event: number;
  readonly turn: number | null;
}

/** What a run works on, and its key. */
interface NewWork {
  readonly run: number;
  readonly item: number | null;
  readonly source: number | null;
  readonly merged: number;
}

interface Started {
  readonly runKey: number;
  readonly row: Omit<ClaimRow, "session" | "epoch" | "parent">;
}

const NO_SESSION = 0;
const RUN_COLUMNS = `key, id, turn, turn_id, attempt, state, interruptions, progress, claimed_progress, pinned, abort,
  abort_item, item, source, merged, cost_usd`;
const SESSION_COLUMNS = "s.key, s.label, s.epoch, s.head, t.id as head_id, s.run, s.ready_ms";
const SESSION_TABLES = "session s left join turn t on t.key = s.head";

export const prepareClaims = oncePerDatabase((db: Database) => {
  const findSession = db.prepare<[string], SessionRow>(
    `select ${SESSION_COLUMNS} from ${SESSION_TABLES} where s.label = ?`,
  );
  const findReady = db.prepare<[number, string, number], SessionRow>(
    `select ${SESSION_COLUMNS} from ${SESSION_TABLES}
     where s.ready_ms <= ? and (s.holder is null or s.holder <> ?) and s.key <> ?
     order by s.ready_ms, s.epoch limit 1`,
  );
  const readySession = db.prepare(`update session set ready_ms = ? where key = ?`);
  const start = prepareStart(db);
  const { hold, settle } = prepareHold(db);

  return {
    findSession: (label: string): SessionRow | undefined => findSession.get(label),

    /** The session that has waited longest, except those of the holder that asks. */
    findReady: (nowMs: number, holder: string): SessionRow | undefined =>
      findReady.get(nowMs, holder, NO_SESSION),

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
      const other = findReady.get(nowMs, request.holder, session.key);
      if (other !== undefined) settle(session, nowMs);
      return this.claimSession(other ?? session, request, nowMs);
    },

    /** The key of a run that is about to be inserted. */
    nextRunKey: start.nextRunKey,

    /** Releases a session: it is ready when its next message is due. */
    settleSession: settle,

    /** Marks a session that is not held as ready. */
    wakeSession(session: number, readyMs: number): void {
      readySession.run(readyMs, session);
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

    unfinished(session: SessionRow, request: ClaimRequest, nowMs: number): Started | undefined {
      if (session.run === null) return undefined;
      const run = required(findRun.get(session.run));
      if (run.state === "failed") return startNew(session, request, { ...run, run: ++lastRun }, run, nowMs);
      const interruptions = interruptionsOf(run);
      continueRun.run(session.head, interruptions, run.key);
      const { id, turn_id, attempt, progress, abort } = run;
      return { runKey: run.key, row: { run: id, turn: turn_id, attempt, interruptions, progress, abort } };
    },

    queued(session: SessionRow, request: ClaimRequest, nowMs: number): Started | undefined {
      const item = items.next(session.key, nowMs);
      if (item === undefined) return undefined;
      const run = ++lastRun;
      const merged = items.take(session.key, item, run) - 1;
      const work = { run, item: item.key, source: item.event, merged };
      if (item.turn === null) return startNew(session, request, work, null, nowMs);
      // A retried dead letter: the turn keeps its id and its journal.
      const last = required(findRunOfTurn.get(item.turn));
      return startNew(session, request, work, { ...last, attempt: 0, abort: null, abort_item: null }, nowMs);
    },
  };
}

/** Gives sessions to holders, and takes them back. */
function prepareHold(db: Database) {
  const findDueTime = db
    .prepare<[number], number | null>(
      "select min(due_ms) from item where session = ? and settled_ms is null and state = 'queued'",
    )
    .pluck();
  const update = db.prepare(
    `update session set head = ?, epoch = ?, holder = ?, run = ?, ready_ms = ?, used_ms = ? where key = ?`,
  );
  const changes = prepareRecorder(db);
  return { hold, settle };

  function hold(session: SessionRow, started: Started, request: ClaimRequest, nowMs: number): ClaimRow {
    const epoch = session.epoch + 1;
    const until = nowMs + request.ttlMs;
    update.run(session.head, epoch, request.holder, started.runKey, until, nowMs, session.key);
    changes.run(started.runKey, "running");
    return { session: session.label, epoch, parent: session.head_id, ...started.row };
  }

  function settle(session: SessionRow, nowMs: number): void {
    const dueMs = findDueTime.get(session.key) ?? null;
    const ready = dueMs === null ? null : Math.max(dueMs, nowMs);
    update.run(session.head, session.epoch, null, null, ready, nowMs, session.key);
  }
}

/** Including this one, if the run was cut off by a crash. */
function interruptionsOf({ state, progress, claimed_progress, interruptions }: RunRow): number {
  if (state !== "running") return interruptions;
  return progress > claimed_progress ? 1 : interruptions + 1;
}

/** The queued items of a session. */
function prepareItems(db: Database) {
  const findDue = db.prepare<[number, number], ItemRow>(
    `select key, event, turn from item
     where session = ? and settled_ms is null and state = 'queued' and due_ms <= ? order by key limit 1`,
  );
  const findInterrupt = db.prepare<[number, number], ItemRow>(
    `select key, event, turn from item indexed by item_interrupt
     where session = ? and settled_ms is null and mode = 'interrupt' and state = 'queued' and due_ms <= ?
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
    /** The oldest that interrupts, otherwise the oldest. */
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
                      claimed_progress, pinned, abort, abort_item, cost_usd, started_ms)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, ?)`,
  );
  const takeCost = db.prepare("update run set cost_usd = 0 where key = ? and cost_usd > 0");
  return (
    session: SessionRow,
    request: ClaimRequest,
    work: NewWork,
    before: RunRow | null,
    nowMs: number,
  ): Started => {
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
    );
    if (before !== null) takeCost.run(before.key);
    return { runKey: work.run, row: { run: request.run, turn, attempt, interruptions: 0, progress, abort } };
  };
}
