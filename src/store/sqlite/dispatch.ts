import type { Database } from "better-sqlite3";

import { claimCodec, type ClaimRequest, type ClaimRow, prepareClaims, type SessionRow } from "./claim.ts";
import { type Moment, operation, Refusal } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { turnUnknown } from "./unknown.ts";
import { type Decoded, numberOrNull, optional, record, text, textOrNull } from "./wire.ts";

export const dispatchCodec = record({
  id: text,
  item: text,
  hook: text,
  /** A session by its label, with what it takes to create it; or a turn, with the label of a fork. */
  session: textOrNull,
  agent: textOrNull,
  persona: textOrNull,
  turn: textOrNull,
  forkAs: textOrNull,
  mode: text,
  dueMs: numberOrNull,
  message: textOrNull,
  context: textOrNull,
  permissions: textOrNull,
  profile: textOrNull,
  delivery: textOrNull,
});

export type DispatchInput = Decoded<typeof dispatchCodec>;

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
      if (event === undefined) {
        return new Refusal(
          "event_unknown",
          `No event has the id "${input.event}"`,
          "Accept the event before dispatching it.",
        );
      }
      return dispatchEvent({ ...event, fresh: false }, input.dispatch, input.claim, moment);
    };
  },
);

/** Records a dispatch of an event that is in the ledger, and queues it. Refuses before it writes. */
export function prepareDispatch(db: Database) {
  const claims = prepareClaims(db);
  const changes = prepareRecorder(db);
  const resolveSession = prepareResolve(db);
  const findDispatch = db.prepare<[number, string], { item: string; session: string }>(
    `select i.id as item, s.label as session from dispatch d join item i on i.key = d.item
       join session s on s.key = i.session where d.event = ? and d.hook = ?`,
  );
  const findItem = db.prepare<[number, number], { key: number; id: string; state: string }>(
    "select key, id, state from item where event = ? and session = ?",
  );
  const insertItem = db.prepare(
    `insert into item (id, event, session, mode, state, due_ms, queued_ms, turn) values (?, ?, ?, ?, ?, ?, ?, ?)`,
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
    const before = fresh ? undefined : findDispatch.get(event, input.hook);
    if (before !== undefined) return { outcome: "repeated", ...before, claim: undefined };
    const session = resolveSession(input, channel, moment.nowMs);
    if (session instanceof Refusal) return session;

    const present = fresh ? undefined : findItem.get(event, session.key);
    if (present !== undefined) {
      const outcome = outcomeOf(present.state);
      record(event, input, present.key, outcome, moment.nowMs);
      return { outcome, item: present.id, session: session.label, claim: undefined };
    }
    const claim = enqueue(event, input, session, request, moment);
    return { outcome: "queued", item: input.item, session: session.label, claim };
  };

  function enqueue(
    event: number,
    input: DispatchInput,
    session: SessionRow,
    request: ClaimRequest | undefined,
    { nowMs, wake }: Moment,
  ): ClaimRow | undefined {
    const dueMs = input.dueMs ?? nowMs;
    const idle = session.run === null && session.ready_ms === null;
    const insert = (state: "queued" | "claimed", turn: number | null): number => {
      const { item: id, mode } = input;
      const inserted = insertItem.run(id, event, session.key, mode, state, dueMs, nowMs, turn);
      const item = Number(inserted.lastInsertRowid);
      record(event, input, item, "queued", nowMs);
      changes.item(item, state);
      return item;
    };
    if (idle && request !== undefined && dueMs <= nowMs) {
      const run = claims.nextRunKey();
      const item = insert("claimed", run);
      const work = { run, item, source: event, merged: 0 };
      return claims.claimIdle(session, request, work, nowMs);
    }
    const waits = session.run === null;
    if (waits && (session.ready_ms === null || dueMs < session.ready_ms))
      claims.wakeSession(session.key, dueMs);
    wake("queue");
    insert("queued", null);
    return undefined;
  }

  function record(event: number, input: DispatchInput, item: number, outcome: string, nowMs: number): void {
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
      nowMs,
    );
    changes.dispatch(Number(inserted.lastInsertRowid));
  }
}

/** A dead letter may be tried again, and then with all its dispatches. */
function outcomeOf(item: string): "joined" | "merged" | "dropped" {
  if (item === "dropped") return "dropped";
  return item === "queued" || item === "dead" ? "joined" : "merged";
}

/**
 * The session that a dispatch goes to. Decided inside the transaction, because the answer depends on
 * where the heads are at this moment.
 */
function prepareResolve(
  db: Database,
): (input: DispatchInput, channel: string, nowMs: number) => SessionRow | Refusal {
  const claims = prepareClaims(db);
  const insertSession = prepareInsertSession(db);
  const findTurn = db.prepare<[string], { key: number; agent: string; persona: string }>(
    "select key, agent, persona from turn where id = ?",
  );
  const findByHead = db.prepare<[number], { label: string }>(
    "select label from session where head = ? order by used_ms desc, key desc limit 1",
  );

  return (input, channel, nowMs) => {
    if (input.session !== null) {
      const { session: label, agent, persona } = input;
      return (
        claims.findSession(label) ??
        insertSession({ label, agent: agent!, persona: persona!, channel, head: null, headId: null }, nowMs)
      );
    }
    const turn = findTurn.get(input.turn!);
    if (turn === undefined) return turnUnknown(input.turn!);
    const there = findByHead.get(turn.key);
    if (there !== undefined) return claims.findSession(there.label)!;
    const label = input.forkAs!;
    if (claims.findSession(label) !== undefined) return sessionExists(label);
    const { agent, persona, key } = turn;
    return insertSession({ label, agent, persona, channel, head: key, headId: input.turn }, nowMs);
  };
}

interface NewSession {
  readonly label: string;
  readonly agent: string;
  readonly persona: string;
  readonly channel: string | null;
  readonly head: number | null;
  readonly headId: string | null;
}

/** A session that begins with a head is a fork. */
export function prepareInsertSession(db: Database): (session: NewSession, nowMs: number) => SessionRow {
  const insert = db.prepare(
    "insert into session (label, agent, persona, channel, head, created_ms, used_ms) values (?, ?, ?, ?, ?, ?, ?)",
  );
  const changes = prepareRecorder(db);
  return ({ label, agent, persona, channel, head, headId }, nowMs) => {
    const key = Number(insert.run(label, agent, persona, channel, head, nowMs, nowMs).lastInsertRowid);
    if (head !== null) changes.session(key, "forked");
    return { key, label, epoch: 0, head, head_id: headId, run: null, ready_ms: null };
  };
}

export function sessionExists(label: string): Refusal {
  return new Refusal(
    "session_exists",
    `A session is called "${label}" already`,
    "Choose another label; the old session was left as it is.",
  );
}
