import type { Database } from "better-sqlite3";

import { HOOK_ADAPTER } from "../../model/event.ts";
import { compareHooks } from "../../model/hook-order.ts";
import type { DispatchOutcome } from "../store.ts";
import { prepareAborts } from "./abort.ts";
import { claimCodec, type ClaimRequest, type ClaimRow, prepareClaims, type SessionRow } from "./claim.ts";
import { delegationCodec, prepareHandOver, type Sender } from "./hand-over.ts";
import { prepareMakeRoom } from "./make-room.ts";
import { oncePerDatabase } from "./once.ts";
import { type Moment, operation, Refusal } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { prepareResolve, workerCodec } from "./resolve-session.ts";
import { prepareSessionRun } from "./session-run.ts";
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
  textOrNull,
  wordsOrNull,
} from "./wire.ts";

/** The note that a message of mode interrupt leaves with the run that it meets. */
const INTERRUPTED = "interrupted by a newer message";
/** The policy by which an item is dropped that only silenced hooks have asked for. */
export const SILENCED = "silenced";
/** How what a hook says late meets the turn. */
const LATE_MODE = "steer-backlog";

export const dispatchCodec = record({
  id: text,
  item: text,
  hook: text,
  /** A session by its label, with what it takes to create it; or a turn, with the label of a fork. */
  session: textOrNull,
  agent: textOrNull,
  persona: textOrNull,
  worker: optional(workerCodec),
  turn: textOrNull,
  forkAs: textOrNull,
  mode: text,
  dueMs: numberOrNull,
  gatherMs: number,
  cap: optional(record({ max: number, drop: text })),
  drains: textOrNull,
  message: wordsOrNull,
  late: wordsOrNull,
  context: jsonOrNull,
  permissions: jsonOrNull,
  profile: textOrNull,
  delivery: jsonOrNull,
  from: textOrNull,
  delegation: optional(delegationCodec),
});

export type DispatchInput = Decoded<typeof dispatchCodec>;

interface PresentRow {
  readonly key: number;
  readonly id: string;
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

/** A dispatch that is allowed: of an event, to a session, by an agent where there is a sender. */
interface Posted {
  readonly event: number;
  readonly input: DispatchInput;
  readonly session: SessionRow;
  readonly sender: Sender | undefined;
}

export interface DispatchedRow {
  readonly outcome: Exclude<DispatchOutcome, "silenced"> | "repeated";
  readonly item: string;
  readonly session: string;
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

/** What was made of an event by a hook before. */
export function prepareFindDispatch(
  db: Database,
): (event: number, hook: string) => DispatchedRow | undefined {
  const find = db.prepare<[number, string], { item: string; session: string }>(
    `select i.id as item, s.label as session from dispatch d join item i on i.key = d.item
       join session s on s.key = i.session where d.event = ? and d.hook = ?`,
  );
  return (event, hook) => {
    const row = find.get(event, hook);
    return row === undefined ? undefined : { outcome: "repeated", ...row, claim: undefined };
  };
}

/** Records a dispatch of an event that is in the ledger, and queues it. Refuses before it writes. */
export const prepareDispatch = oncePerDatabase((db: Database) => {
  const claims = prepareClaims(db);
  const changes = prepareRecorder(db);
  const resolveSession = prepareResolve(db);
  const makeRoom = prepareMakeRoom(db);
  const handOver = prepareHandOver(db);
  const findDispatch = prepareFindDispatch(db);
  const findItem = db.prepare<[number, number], PresentRow>(
    "select key, id, mode, state, policy, due_ms, turn from item where event = ? and session = ?",
  );
  const findHooks = db
    .prepare<[number, number], string>("select hook from dispatch where event = ? and item = ?")
    .pluck();
  const changeItem = db.prepare(
    "update item set state = 'queued', policy = null, settled_ms = null, mode = ?, due_ms = ? where key = ?",
  );
  const insertItem = db.prepare(INSERT_ITEM);
  const insertDropped = db.prepare(
    `insert into item (id, event, session, mode, state, due_ms, queued_ms, policy, settled_ms)
     values (?, ?, ?, ?, 'dropped', ?, ?, 'new', ?)`,
  );
  const record = prepareRecordDispatch(db);
  const adjustSession = prepareAdjustSession(db);
  const addLate = prepareAddLate(db);

  return (
    /** An event that is new has no dispatches and no items yet. */
    {
      seq: event,
      channel,
      fresh,
    }: { readonly seq: number; readonly channel: string; readonly fresh: boolean },
    input: DispatchInput,
    request: ClaimRequest | undefined,
    moment: Moment,
  ): DispatchedRow | Refusal => {
    const before = fresh ? undefined : findDispatch(event, input.hook);
    if (before !== undefined) return before;
    const sender = handOver.findSender(input);
    if (sender instanceof Refusal) return sender;
    const session = resolveSession(input, channel, moment.nowMs);
    if (session instanceof Refusal) return session;

    const present = fresh ? undefined : findItem.get(event, session.key);
    const posted = { event, input, session, sender };
    if (present !== undefined) return add(posted, present, moment);
    const queued = enqueue(posted, request, moment);
    return { item: input.item, session: session.label, ...queued };
  };

  /** What a second hook asks for, of an event that has an item in the session already. */
  function add(posted: Posted, present: PresentRow, moment: Moment): DispatchedRow {
    const { input, session } = posted;
    const isSilenced = present.state === "dropped" && present.policy === SILENCED;
    const isWaiting = present.state === "queued" && present.turn === null;
    const given = { item: present.id, session: session.label, claim: undefined };
    if (isSilenced || (isWaiting && goesFirst(posted, present))) takeOver(posted, present, moment);
    if (input.late !== null && !isWaiting && present.state !== "dropped") return addLate(posted, moment);
    const outcome = isSilenced ? "joined" : outcomeOf(present.state);
    record(posted, present.key, outcome, moment);
    return { outcome, ...given };
  }

  /** Whether an item that waits has to take another queue mode, because this hook comes before the others. */
  function goesFirst({ event, input }: Posted, present: PresentRow): boolean {
    if (input.mode === present.mode) return false;
    return findHooks.all(event, present.key).every((hook) => compareHooks(input.hook, hook) < 0);
  }

  /** Lets an item that no turn has begun with wait as this dispatch wants it to. */
  function takeOver({ input, session }: Posted, present: PresentRow, moment: Moment): void {
    const startsAnew = input.mode === "interrupt" || present.state !== "queued";
    const dueMs = startsAnew ? dueOf(input, moment.nowMs) : Math.max(input.dueMs ?? 0, present.due_ms);
    changeItem.run(input.mode, dueMs, present.key);
    changes.item(present.key, "queued");
    adjustSession(input, session, { item: present.key, dueMs, dropped: true }, moment);
    moment.wake("queue");
  }

  function enqueue(
    posted: Posted,
    request: ClaimRequest | undefined,
    moment: Moment,
  ): Pick<DispatchedRow, "outcome" | "claim"> {
    const { event, input, session } = posted;
    const { nowMs } = moment;
    const dueMs = dueOf(input, nowMs);
    const idle = session.run === null && session.ready_ms === null; // and so nothing waits
    const insert = (state: "queued" | "claimed", turn: number | null): number => {
      const inserted = insertItem.run(input.item, event, session.key, input.mode, state, dueMs, nowMs, turn);
      const item = Number(inserted.lastInsertRowid);
      record(posted, item, "queued", moment);
      changes.item(item, state);
      return item;
    };
    if (idle && request !== undefined && dueMs <= nowMs) {
      const run = claims.nextRunKey();
      const item = insert("claimed", run);
      const work = { run, item, source: event, merged: 0 };
      return { outcome: "queued", claim: claims.claimIdle(session, request, work, nowMs) };
    }
    const room = idle ? "free" : makeRoom(session.key, input, nowMs);
    if (room === "none") {
      const inserted = insertDropped.run(input.item, event, session.key, input.mode, dueMs, nowMs, nowMs);
      const item = Number(inserted.lastInsertRowid);
      record(posted, item, "dropped", moment);
      changes.item(item, "dropped");
      return { outcome: "dropped", claim: undefined };
    }
    const item = insert("queued", null);
    adjustSession(input, session, { item, dueMs, dropped: room === "made" }, moment);
    moment.wake("queue");
    return { outcome: "queued", claim: undefined };
  }
});

const INSERT_ITEM = `insert into item (id, event, session, mode, state, due_ms, queued_ms, turn)
  values (?, ?, ?, ?, ?, ?, ?, ?)`;

/** A hook's addition to a turn that has started: it joins that turn, or becomes the next one. */
function prepareAddLate(db: Database) {
  const changes = prepareRecorder(db);
  const record = prepareRecordDispatch(db);
  const adjustSession = prepareAdjustSession(db);
  const insertLate = db.prepare<[LateRow]>(
    `insert into event (id, at_ms, received_ms, channel, direction, sender, place, content, content_type, metadata,
                        cause, depth, returned)
     select @id, @nowMs, @nowMs, channel, 'sent', @hook, place, @content, 'text',
       json_object('late', json('true'), 'event', id, 'hook', @hook), seq, depth, returned
     from event where seq = @event`,
  );
  const insertItem = db.prepare(INSERT_ITEM);
  return (posted: Posted, moment: Moment): DispatchedRow => {
    const { event, input, session } = posted;
    const { nowMs } = moment;
    const late = { id: `${HOOK_ADAPTER}:${input.id}`, nowMs, hook: input.hook, content: input.late!, event };
    const seq = Number(insertLate.run(late).lastInsertRowid);
    changes.event(seq);
    const inserted = insertItem.run(input.item, seq, session.key, LATE_MODE, "queued", nowMs, nowMs, null);
    const item = Number(inserted.lastInsertRowid);
    record(posted, item, "late", moment);
    changes.item(item, "queued");
    const waits = { item, dueMs: nowMs, dropped: false };
    adjustSession({ ...input, mode: LATE_MODE }, session, waits, moment);
    moment.wake("queue");
    return { outcome: "late", item: input.item, session: session.label, claim: undefined };
  };
}

/** What a new waiting item means for the rest of its session. */
const prepareAdjustSession = oncePerDatabase((db: Database) => {
  const claims = prepareClaims(db);
  const waiting = prepareWaiting(db);
  const runs = prepareSessionRun(db);
  const aborts = prepareAborts(db);
  return (
    input: DispatchInput,
    session: SessionRow,
    { item, dueMs, dropped }: { item: number; dueMs: number; dropped: boolean },
    moment: Moment,
  ): void => {
    const { nowMs } = moment;
    const moved =
      input.mode === "collect" && dueMs > nowMs && waiting.moveCollected(session.key, dueMs, nowMs);
    if (session.run !== null) {
      if (input.mode === "interrupt") aborts.abort(runs.findByKey(session.run), INTERRUPTED, moment, item);
    } else if (dropped || moved) waiting.refreshReady(session.key, nowMs);
    else if (session.ready_ms === null || dueMs < session.ready_ms) claims.wakeSession(session.key, dueMs);
  };
});

const prepareRecordDispatch = oncePerDatabase((db: Database) => {
  const changes = prepareRecorder(db);
  const handOver = prepareHandOver(db);
  const insertDispatch = db.prepare(
    `insert into dispatch (id, event, hook, item, outcome, mode, message, context, permissions, profile,
                           delivery, at_ms)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return ({ event, input, session, sender }: Posted, item: number, outcome: string, moment: Moment): void => {
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
    if (sender !== undefined) handOver.give(sender, input.delegation, { session: session.key, item }, moment);
  };
});

/** Other hooks may still have something to say; what interrupts does not wait for them. */
function dueOf({ mode, dueMs, gatherMs }: DispatchInput, nowMs: number): number {
  return Math.max(dueMs ?? nowMs, mode === "interrupt" ? nowMs : nowMs + gatherMs);
}

/** A dead letter may be tried again, and then with all its dispatches. */
function outcomeOf(item: string): "joined" | "merged" | "dropped" {
  if (item === "dropped") return "dropped";
  return item === "queued" || item === "dead" ? "joined" : "merged";
}
