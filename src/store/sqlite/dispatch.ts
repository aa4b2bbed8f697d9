import type { Database } from "better-sqlite3";

import { HOOK_ADAPTER } from "../../model/event.ts";
import type { ItemId, TurnId } from "../../model/ids.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { compareHooks, REMARK_HOOK } from "../../model/hook-order.ts";
import { type DispatchOutcome, MAX_REMARKS } from "../store.ts";
import { prepareAborts } from "./abort.ts";
import { claimCodec, type ClaimRequest, type ClaimRow, prepareClaims, type SessionRow } from "./claim.ts";
import { delegationCodec, prepareHandOver, type SenderRow } from "./hand-over.ts";
import { type Lane, prepareLaneOf } from "./lane.ts";
import { prepareMakeRoom } from "./make-room.ts";
import { oncePerDatabase } from "./once.ts";
import { type OperationTime, operation, Refusal } from "./operation.ts";
import { preparePersonLimits, quotaCodec } from "./person-limits.ts";
import { prepareRecorder } from "./record-changes.ts";
import { prepareResolve, workerCodec } from "./resolve-session.ts";
import { required } from "./row.ts";
import { prepareSessionRun, type SessionRun } from "./session-run.ts";
import { eventUnknown } from "./unknown.ts";
import { prepareWaiting } from "./waiting.ts";
import {
  type Decoded,
  jsonOrNull,
  number,
  numberOrNull,
  optional,
  record,
  text,
  textOf,
  textOrNull,
  textOrNullOf,
  wordsOrNull,
} from "./wire.ts";

/** The reason that a message of mode interrupt gives the run it aborts. */
const INTERRUPTED = "interrupted by a newer message";
/** The drop policy of an item that only silenced hooks asked for. */
export const SILENCED = "silenced";
/** That of a message that its sender has deleted. */
export const WITHDRAWN = "withdrawn";
/** The queue mode of a hook's late text. */
const LATE_MODE = "steer-backlog";

export const dispatchCodec = record({
  id: text,
  item: textOf<ItemId>(),
  hook: text,
  /** A session by its label, with the fields to create it; or a turn, with the label of a fork. */
  session: textOrNullOf<SessionKey>(),
  agent: textOrNull,
  persona: textOrNull,
  worker: optional(workerCodec),
  turn: textOrNullOf<TurnId>(),
  forkAs: textOrNullOf<SessionKey>(),
  mode: text,
  dueMs: numberOrNull,
  gatherMs: number,
  cap: optional(record({ max: number, drop: text })),
  quota: optional(quotaCodec),
  drains: textOrNull,
  message: wordsOrNull,
  late: wordsOrNull,
  context: jsonOrNull,
  permissions: jsonOrNull,
  profile: textOrNull,
  delivery: jsonOrNull,
  from: textOrNull,
  delegation: optional(delegationCodec),
  remark: number,
});

export type DispatchCells = Decoded<typeof dispatchCodec>;

interface PresentRow {
  readonly key: number;
  readonly id: ItemId;
  readonly mode: string;
  readonly state: string;
  readonly policy: string | null;
  readonly due_ms: number;
  readonly turn: number | null;
}

interface LateRow {
  readonly id: string;
  readonly nowMs: number;
  readonly hook: string;
  readonly content: string;
  readonly event: number;
}

/** An allowed dispatch: of an event, to a session, by an agent if it has a sender. */
interface Posted {
  readonly event: number;
  readonly lane: Lane;
  readonly input: DispatchCells;
  readonly session: SessionRow;
  readonly sender: SenderRow | undefined;
}

export interface DispatchedRow {
  readonly outcome: Exclude<DispatchOutcome, "silenced"> | "repeated";
  readonly item: ItemId;
  readonly session: SessionKey;
  readonly claim: ClaimRow | undefined;
}

export const dispatch = operation(
  record({ event: text, dispatch: dispatchCodec, claim: optional(claimCodec) }),
  (db) => {
    const findEvent = db.prepare<[string], { seq: number; channel: string }>(
      "select seq, channel from event where id = ?",
    );
    const dispatchEvent = prepareDispatch(db);
    return (input, moment) => {
      const event = findEvent.get(input.event);
      if (event === undefined) return eventUnknown(input.event);
      return dispatchEvent({ ...event, fresh: false }, input.dispatch, input.claim, moment);
    };
  },
);

/** The dispatch that a hook made of an event before. */
export function prepareFindDispatch(
  db: Database,
): (event: number, hook: string) => DispatchedRow | undefined {
  const find = db.prepare<[number, string], { item: ItemId; session: SessionKey }>(
    `select i.id as item, s.label as session from dispatch d join item i on i.key = d.item
       join session s on s.key = i.session where d.event = ? and d.hook = ?`,
  );
  return (event, hook) => {
    const row = find.get(event, hook);
    return row === undefined ? undefined : { outcome: "repeated", ...row, claim: undefined };
  };
}

/** An event of the ledger. */
interface Dispatching {
  readonly seq: number;
  readonly channel: string;
  /** Absent: the one that is stored with it. */
  readonly lane?: Lane;
  /** It has no dispatches and no items yet. */
  readonly fresh: boolean;
}

/** Records a dispatch of an event and queues it. Refuses before it writes. */
export const prepareDispatch = oncePerDatabase((db: Database) => {
  const resolveSession = prepareResolve(db);
  const handOver = prepareHandOver(db);
  const laneOf = prepareLaneOf(db);
  const findDispatch = prepareFindDispatch(db);
  const findItem = db.prepare<[number, number], PresentRow>(
    "select key, id, mode, state, policy, due_ms, turn from item where event = ? and session = ?",
  );
  const join = prepareJoin(db);
  const enqueue = prepareEnqueue(db);

  return (
    { seq: event, channel, fresh, lane = laneOf(event) }: Dispatching,
    input: DispatchCells,
    request: ClaimRequest | undefined,
    moment: OperationTime,
  ): DispatchedRow | Refusal => {
    const before = fresh ? undefined : findDispatch(event, input.hook);
    if (before !== undefined) return before;
    const sender = handOver.findSender(input);
    if (sender instanceof Refusal) return sender;
    const session = resolveSession(input, channel, moment.nowMs);
    if (session instanceof Refusal) return session;

    const present = fresh ? undefined : findItem.get(event, session.key);
    const posted = { event, lane, input, session, sender };
    if (present !== undefined) return join(posted, present, moment);
    const queued = enqueue(posted, request, moment);
    return { item: input.item, session: session.label, ...queued };
  };
});

/** A second hook's dispatch of an event that has an item in the session already. */
function prepareJoin(db: Database) {
  const changes = prepareRecorder(db);
  const findHooks = db
    .prepare<[number, number], string>("select hook from dispatch where event = ? and item = ?")
    .pluck();
  const changeItem = db.prepare(
    "update item set state = 'queued', policy = null, settled_ms = null, mode = ?, due_ms = ? where key = ?",
  );
  const record = prepareRecordDispatch(db);
  const adjustSession = prepareAdjustSession(db);
  const addLate = prepareAddLate(db);

  return (posted: Posted, present: PresentRow, moment: OperationTime): DispatchedRow => {
    const { input, session } = posted;
    const isRemark =
      present.state === "dropped" && findHooks.all(posted.event, present.key).includes(REMARK_HOOK);
    // What was noted for the next turn is told by the one that the hook asks for.
    const isSilenced =
      present.state === "dropped" && (present.policy === SILENCED || (isRemark && present.turn === null));
    const isWaiting = present.state === "queued" && present.turn === null;
    if (isSilenced || (isWaiting && goesFirst(posted, present))) takeOver(posted, present, moment);
    if (input.late !== null && !isWaiting && !isSilenced && (isRemark || present.state !== "dropped"))
      return addLate(posted, input.late, moment);
    const outcome = isSilenced ? "joined" : outcomeOf(present.state);
    record(posted, present.key, outcome, moment);
    return { outcome, item: present.id, session: session.label, claim: undefined };
  };

  /** Whether a waiting item takes this hook's queue mode, because the hook comes before the others. */
  function goesFirst({ event, input }: Posted, present: PresentRow): boolean {
    if (input.mode === present.mode) return false;
    return findHooks.all(event, present.key).every((hook) => compareHooks(input.hook, hook) < 0);
  }

  /** Lets an item that no turn has started wait as this dispatch asks. */
  function takeOver(posted: Posted, present: PresentRow, moment: OperationTime): void {
    const { input } = posted;
    const startsAnew = input.mode === "interrupt" || present.state !== "queued";
    const dueMs = startsAnew ? dueOf(input, moment.nowMs) : Math.max(input.dueMs ?? 0, present.due_ms);
    changeItem.run(input.mode, dueMs, present.key);
    changes.item(present.key, "queued");
    adjustSession(posted, { mode: input.mode, item: present.key, dueMs, dropped: true }, moment);
    moment.wake("queue");
  }
}

/** The first dispatch of an event to a session: the session is claimed if it is idle, otherwise the item waits. */
function prepareEnqueue(db: Database) {
  const claims = prepareClaims(db);
  const changes = prepareRecorder(db);
  const overLimit = preparePersonLimits(db);
  const isWithdrawn = prepareIsWithdrawn(db);
  const countUnseen = db
    .prepare<[number], number>(
      `select count(*) from item indexed by item_unseen
       where session = ? and state = 'dropped' and policy = 'summarize' and turn is null`,
    )
    .pluck();
  const makeRoom = prepareMakeRoom(db);
  const insertItem = db.prepare(INSERT_ITEM);
  const insertDropped = db.prepare(
    `insert into item (id, event, session, mode, state, due_ms, queued_ms, policy, settled_ms, lane)
     values (?, ?, ?, ?, 'dropped', ?, ?, ?, ?, ?)`,
  );
  const record = prepareRecordDispatch(db);
  const adjustSession = prepareAdjustSession(db);

  return (
    posted: Posted,
    request: ClaimRequest | undefined,
    moment: OperationTime,
  ): Pick<DispatchedRow, "outcome" | "claim"> => {
    const { event, input, session, lane } = posted;
    const { nowMs } = moment;
    const dueMs = dueOf(input, nowMs);
    if (input.remark !== 0) {
      const isTold = required(countUnseen.get(session.key)) < MAX_REMARKS;
      return drop(posted, { policy: isTold ? "summarize" : "new", dueMs }, moment);
    }
    if (isWithdrawn(event)) return drop(posted, { policy: WITHDRAWN, dueMs }, moment);
    const policy = overLimit({ event, lane, quota: input.quota }, moment);
    if (policy !== undefined) return drop(posted, { policy, dueMs }, moment);
    const idle = session.run === null && session.ready_ms === null; // and so nothing waits
    if (idle && request !== undefined && dueMs <= nowMs && claims.hasRoom(lane, request)) {
      const run = claims.nextRunKey();
      const item = insert(posted, { state: "claimed", turn: run, dueMs }, moment);
      const work = { run, item, source: event, merged: 0, lane };
      return { outcome: "queued", claim: claims.claimIdle(session, request, work, nowMs) };
    }
    const room = idle ? "free" : makeRoom({ session: session.key, lane }, input, nowMs);
    if (room === "none") return drop(posted, { policy: "new", dueMs }, moment);
    const item = insert(posted, { state: "queued", turn: null, dueMs }, moment);
    adjustSession(posted, { mode: input.mode, item, dueMs, dropped: room === "made" }, moment);
    moment.wake("queue");
    return { outcome: "queued", claim: undefined };
  };

  function drop(
    posted: Posted,
    { policy, dueMs }: { readonly policy: string; readonly dueMs: number },
    moment: OperationTime,
  ): Pick<DispatchedRow, "outcome" | "claim"> {
    const { event, input, session, lane } = posted;
    const { nowMs } = moment;
    const queued = [input.item, event, session.key, input.mode, dueMs, nowMs];
    const inserted = insertDropped.run(...queued, policy, nowMs, lane);
    note(posted, Number(inserted.lastInsertRowid), "dropped", moment);
    return { outcome: "dropped", claim: undefined };
  }

  function insert(posted: Posted, { state, turn, dueMs }: NewItem, moment: OperationTime): number {
    const { event, input, session, lane } = posted;
    const { nowMs } = moment;
    const queued = [input.item, event, session.key, input.mode, state, dueMs, nowMs];
    const inserted = insertItem.run(...queued, turn, lane);
    const item = Number(inserted.lastInsertRowid);
    note(posted, item, state, moment);
    return item;
  }

  function note(
    posted: Posted,
    item: number,
    state: "queued" | "claimed" | "dropped",
    moment: OperationTime,
  ): void {
    record(posted, item, state === "dropped" ? "dropped" : "queued", moment);
    changes.item(item, state);
  }
}

/** Whether its sender has deleted a message before a hook dispatched it. */
function prepareIsWithdrawn(db: Database): (event: number) => boolean {
  const find = db
    .prepare<[number], number>(
      `select 1 from event e join event x indexed by event_about on x.place = e.place and x.about = e.message_id
       where e.seq = ? and x.direction = 'deleted' and x.principal is e.principal limit 1`,
    )
    .pluck();
  return (event) => find.get(event) !== undefined;
}

interface NewItem {
  readonly state: "queued" | "claimed";
  readonly turn: number | null;
  readonly dueMs: number;
}

const INSERT_ITEM = `insert into item (id, event, session, mode, state, due_ms, queued_ms, turn, lane)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** A hook's addition to a turn that has started: it joins that turn, or becomes the next one. */
function prepareAddLate(db: Database) {
  const changes = prepareRecorder(db);
  const record = prepareRecordDispatch(db);
  const adjustSession = prepareAdjustSession(db);
  const insertLate = db.prepare<[LateRow]>(
    `insert into event (id, at_ms, received_ms, channel, direction, sender, place, content, content_type, metadata,
                        cause, depth, returned, principal, label, audience)
     select @id, @nowMs, @nowMs, channel, 'sent', @hook, place, @content, 'text',
       json_object('late', json('true'), 'event', id, 'hook', @hook), seq, depth, returned, principal, label,
       audience
     from event where seq = @event`,
  );
  const insertItem = db.prepare(INSERT_ITEM);
  return (posted: Posted, content: string, moment: OperationTime): DispatchedRow => {
    const { event, input, session, lane } = posted;
    const { nowMs } = moment;
    const late = { id: `${HOOK_ADAPTER}:${input.id}`, nowMs, hook: input.hook, content, event };
    const seq = Number(insertLate.run(late).lastInsertRowid);
    changes.event(seq);
    const queued = [input.item, seq, session.key, LATE_MODE, "queued", nowMs, nowMs];
    const inserted = insertItem.run(...queued, null, lane);
    const item = Number(inserted.lastInsertRowid);
    record(posted, item, "late", moment);
    changes.item(item, "queued");
    adjustSession(posted, { mode: LATE_MODE, item, dueMs: nowMs, dropped: false }, moment);
    moment.wake("queue");
    return { outcome: "late", item: input.item, session: session.label, claim: undefined };
  };
}

/** The effects of a new waiting item on the rest of its session. */
const prepareAdjustSession = oncePerDatabase((db: Database) => {
  const claims = prepareClaims(db);
  const waiting = prepareWaiting(db);
  const runs = prepareSessionRun(db);
  const aborts = prepareAborts(db);
  return (
    { session, lane }: Posted,
    { mode, item, dueMs, dropped }: { mode: string; item: number; dueMs: number; dropped: boolean },
    moment: OperationTime,
  ): void => {
    const { nowMs } = moment;
    const collects = mode === "collect" && dueMs > nowMs;
    const moved = collects && waiting.moveCollected({ session: session.key, lane }, dueMs, nowMs);
    if (session.run !== null) {
      if (mode === "interrupt") interrupt(runs.findByKey(session.run), lane, item, moment);
    } else if (dropped || moved) waiting.refreshReady(session.key, nowMs);
    else if (session.ready_ms === null) claims.wakeSession(session.key, dueMs, lane);
    else if (session.lane !== lane) waiting.refreshReady(session.key, nowMs);
    else if (dueMs < session.ready_ms) claims.wakeSession(session.key, dueMs, lane);
  };

  /** Only the owner interrupts the work of others. */
  function interrupt(run: SessionRun, lane: Lane, item: number, moment: OperationTime): void {
    if (lane === null || run.lane === lane) aborts.abort(run, INTERRUPTED, moment, item);
  }
});

const prepareRecordDispatch = oncePerDatabase((db: Database) => {
  const changes = prepareRecorder(db);
  const handOver = prepareHandOver(db);
  const insertDispatch = db.prepare(
    `insert into dispatch (id, event, hook, item, outcome, mode, message, context, permissions, profile,
                           delivery, at_ms)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (
    { event, input, session, sender }: Posted,
    item: number,
    outcome: string,
    moment: OperationTime,
  ): void => {
    const { id, hook, mode, message, context, permissions, profile, delivery } = input;
    const inserted = insertDispatch.run(
      id,
      event,
      hook,
      item,
      outcome,
      mode,
      message,
      context,
      permissions,
      profile,
      delivery,
      moment.nowMs,
    );
    changes.dispatch(Number(inserted.lastInsertRowid));
    if (sender === undefined) return;
    handOver.give(sender, input.delegation, { event, session: session.key, item }, moment);
  };
});

/** An item waits for the other hooks to be judged, unless it interrupts. */
function dueOf({ mode, dueMs, gatherMs }: DispatchCells, nowMs: number): number {
  return Math.max(dueMs ?? nowMs, mode === "interrupt" ? nowMs : nowMs + gatherMs);
}

/** A dead letter that is retried runs with all its dispatches. */
function outcomeOf(item: string): "joined" | "merged" | "dropped" {
  if (item === "dropped") return "dropped";
  return item === "queued" || item === "dead" ? "joined" : "merged";
}
