import type { Database } from "better-sqlite3";

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
  cap: optional(record({ max: number, drop: text })),
  drains: textOrNull,
  message: wordsOrNull,
  context: jsonOrNull,
  permissions: jsonOrNull,
  profile: textOrNull,
  delivery: jsonOrNull,
  from: textOrNull,
  delegation: optional(delegationCodec),
});

export type DispatchInput = Decoded<typeof dispatchCodec>;

/** A dispatch that is allowed: of an event, to a session, by an agent where there is a sender. */
interface Posted {
  readonly event: number;
  readonly input: DispatchInput;
  readonly session: SessionRow;
  readonly sender: Sender | undefined;
}

export interface DispatchedRow {
  readonly outcome: "queued" | "joined" | "merged" | "dropped" | "repeated";
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
  const waiting = prepareWaiting(db);
  const runs = prepareSessionRun(db);
  const aborts = prepareAborts(db);
  const handOver = prepareHandOver(db);
  const findDispatch = prepareFindDispatch(db);
  const findItem = db.prepare<[number, number], { key: number; id: string; state: string }>(
    "select key, id, state from item where event = ? and session = ?",
  );
  const insertItem = db.prepare(
    `insert into item (id, event, session, mode, state, due_ms, queued_ms, turn) values (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertDropped = db.prepare(
    `insert into item (id, event, session, mode, state, due_ms, queued_ms, policy, settled_ms)
     values (?, ?, ?, ?, 'dropped', ?, ?, 'new', ?)`,
  );
  const insertDispatch = db.prepare(
    `insert into dispatch (id, event, hook, item, outcome, mode, message, context, permissions, profile,
                           delivery, at_ms)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );

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
    if (present !== undefined) {
      const outcome = outcomeOf(present.state);
      record({ event, input, session, sender }, present.key, outcome, moment);
      return { outcome, item: present.id, session: session.label, claim: undefined };
    }
    const queued = enqueue({ event, input, session, sender }, request, moment);
    return { item: input.item, session: session.label, ...queued };
  };

  function enqueue(
    posted: Posted,
    request: ClaimRequest | undefined,
    moment: Moment,
  ): Pick<DispatchedRow, "outcome" | "claim"> {
    const { event, input, session } = posted;
    const { nowMs } = moment;
    const dueMs = input.dueMs ?? nowMs;
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

  /** What a new item that waits means to the rest of its session. */
  function adjustSession(
    input: DispatchInput,
    session: SessionRow,
    { item, dueMs, dropped }: { item: number; dueMs: number; dropped: boolean },
    moment: Moment,
  ): void {
    const { nowMs } = moment;
    const moved =
      input.mode === "collect" && dueMs > nowMs && waiting.moveCollected(session.key, dueMs, nowMs);
    if (session.run !== null) {
      if (input.mode === "interrupt") aborts.abort(runs.findByKey(session.run), INTERRUPTED, moment, item);
    } else if (dropped || moved) waiting.refreshReady(session.key, nowMs);
    else if (session.ready_ms === null || dueMs < session.ready_ms) claims.wakeSession(session.key, dueMs);
  }

  function record(
    { event, input, session, sender }: Posted,
    item: number,
    outcome: string,
    moment: Moment,
  ): void {
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
  }
});

/** A dead letter may be tried again, and then with all its dispatches. */
function outcomeOf(item: string): "joined" | "merged" | "dropped" {
  if (item === "dropped") return "dropped";
  return item === "queued" || item === "dead" ? "joined" : "merged";
}
