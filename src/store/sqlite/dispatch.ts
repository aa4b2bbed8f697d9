import type { Database } from "better-sqlite3";

import { claimCodec, type ClaimRequest, type ClaimRow, prepareClaims, type SessionRow } from "./claim.ts";
import { type Moment, operation, Refusal } from "./operation.ts";
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
    const findEvent = db.prepare<[string], number>("select seq from event where id = ?").pluck();
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
      return dispatchEvent({ seq: event, fresh: false }, input.dispatch, input.claim, moment);
    };
  },
);

/** Records a dispatch of an event that is in the ledger, and queues it. Refuses before it writes. */
export function prepareDispatch(db: Database) {
  const claims = prepareClaims(db);
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
    { seq: event, fresh }: { readonly seq: number; readonly fresh: boolean },
    input: DispatchInput,
    request: ClaimRequest | undefined,
    moment: Moment,
  ): DispatchedRow | Refusal => {
    const before = fresh ? undefined : findDispatch.get(event, input.hook);
    if (before !== undefined) return { outcome: "repeated", ...before, claim: undefined };
    const session = resolveSession(input, moment.nowMs);
    if (session instanceof Refusal) return session;

    const present = fresh ? undefined : findItem.get(event, session.key);
    if (present !== undefined) {
      const outcome = outcomeOf(present.state);
      record(event, input, present.key, outcome, moment.nowMs);
      return { outcome, item: present.id, session: session.label, claim: undefined };
    }
    const { item, claim } = enqueue(event, input, session, request, moment);
    record(event, input, item, "queued", moment.nowMs);
    return { outcome: "queued", item: input.item, session: session.label, claim };
  };

  function enqueue(
    event: number,
    input: DispatchInput,
    session: SessionRow,
    request: ClaimRequest | undefined,
    { nowMs, wake }: Moment,
  ): { item: number; claim: ClaimRow | undefined } {
    const dueMs = input.dueMs ?? nowMs;
    const idle = session.run === null && session.ready_ms === null;
    const insert = (state: string, turn: number | null): number =>
      Number(
        insertItem.run(input.item, event, session.key, input.mode, state, dueMs, nowMs, turn).lastInsertRowid,
      );
    if (idle && request !== undefined && dueMs <= nowMs) {
      const run = claims.nextRunKey();
      const item = insert("claimed", run);
      const work = { run, item, source: event, merged: 0 };
      return { item, claim: claims.claimIdle(session, request, work, nowMs) };
    }
    const waits = session.run === null;
    if (waits && (session.ready_ms === null || dueMs < session.ready_ms))
      claims.wakeSession(session.key, dueMs);
    wake("queue");
    return { item: insert("queued", null), claim: undefined };
  }

  function record(event: number, input: DispatchInput, item: number, outcome: string, nowMs: number): void {
    const { id, hook, mode, message, context, permissions, profile, delivery } = input;
    insertDispatch.run(
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
function prepareResolve(db: Database): (input: DispatchInput, nowMs: number) => SessionRow | Refusal {
  const claims = prepareClaims(db);
  const insertSession = prepareInsertSession(db);
  const findTurn = db.prepare<[string], { key: number; agent: string; persona: string }>(
    "select key, agent, persona from turn where id = ?",
  );
  const findByHead = db.prepare<[number], { label: string }>(
    "select label from session where head = ? order by used_ms desc, key desc limit 1",
  );

  return (input, nowMs) => {
    if (input.session !== null) {
      const { session: label, agent, persona } = input;
      return (
        claims.findSession(label) ??
        insertSession({ label, agent: agent!, persona: persona!, head: null, headId: null }, nowMs)
      );
    }
    const turn = findTurn.get(input.turn!);
    if (turn === undefined) return turnUnknown(input.turn!);
    const there = findByHead.get(turn.key);
    if (there !== undefined) return claims.findSession(there.label)!;
    const label = input.forkAs!;
    if (claims.findSession(label) !== undefined) return sessionExists(label);
    const { agent, persona, key } = turn;
    return insertSession({ label, agent, persona, head: key, headId: input.turn }, nowMs);
  };
}

export function prepareInsertSession(db: Database) {
  const insert = db.prepare(
    "insert into session (label, agent, persona, head, created_ms, used_ms) values (?, ?, ?, ?, ?, ?)",
  );
  return (
    session: { label: string; agent: string; persona: string; head: number | null; headId: string | null },
    nowMs: number,
  ): SessionRow => {
    const { label, agent, persona, head, headId } = session;
    const { lastInsertRowid } = insert.run(label, agent, persona, head, nowMs, nowMs);
    return {
      key: Number(lastInsertRowid),
      label,
      epoch: 0,
      head,
      head_id: headId,
      run: null,
      ready_ms: null,
    };
  };
}

export function turnUnknown(turn: string): Refusal {
  return new Refusal(
    "turn_unknown",
    `No turn has the id "${turn}"`,
    "`cortex log` shows the turns of a session.",
  );
}

export function sessionExists(label: string): Refusal {
  return new Refusal(
    "session_exists",
    `A session is called "${label}" already`,
    "Choose another label; the old session was left as it is.",
  );
}
