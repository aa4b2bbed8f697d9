import assert from "node:assert/strict";

import type { Database } from "better-sqlite3";

import type { TurnId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { NO_TRUST, readTrust } from "../../model/trust.ts";
import { prepareClaims, type SessionRow } from "./claim.ts";
import { prepareInheritedSettings } from "./inherit-trust.ts";
import { prepareLabelOrigins } from "./label-origins.ts";
import { Refusal } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { required } from "./row.ts";
import { sessionUnknown, turnUnknown } from "./unknown.ts";
import { type Decoded, json, record, text, words } from "./wire.ts";

/** Makes a new session a worker's. The model chose the id of the call. */
export const workerCodec = record({ parent: text, parentTurn: text, parentCall: words, worker: json });

type WorkerInput = Decoded<typeof workerCodec>;

/** A session by its label, with the fields to create it; or a turn, with the label of a fork. */
interface Target {
  readonly session: SessionKey | null;
  readonly agent: string | null;
  readonly persona: string | null;
  readonly worker: WorkerInput | undefined;
  readonly turn: TurnId | null;
  readonly forkAs: SessionKey | null;
}

/** Finds or creates the session of a dispatch. Inside the transaction, because it depends on the current heads. */
export function prepareResolve(
  db: Database,
): (target: Target, channel: string, nowMs: number) => SessionRow | Refusal {
  const claims = prepareClaims(db);
  const insertSession = prepareInsertSession(db);
  const findTurn = db.prepare<[string], { key: number; agent: string; persona: string }>(
    "select key, agent, persona from turn where id = ?",
  );
  const findByHead = db
    .prepare<[number], SessionKey>(
      "select label from session where head = ? order by used_ms desc, key desc limit 1",
    )
    .pluck();

  return (target, channel, nowMs) => {
    if (target.session !== null) {
      const { session: label, agent, persona, worker } = target;
      const there = claims.findSession(label);
      if (there !== undefined) return there;
      assert(agent !== null && persona !== null);
      const session = { label, agent, persona, channel, head: null, headId: null };
      if (worker === undefined) return insertSession(session, nowMs);
      const parent = claims.findSession(worker.parent);
      if (parent === undefined) return sessionUnknown(worker.parent);
      return insertSession({ ...session, worker: { ...worker, parentKey: parent.key } }, nowMs);
    }
    const { turn: id, forkAs: label } = target;
    assert(id !== null && label !== null);
    const turn = findTurn.get(id);
    if (turn === undefined) return turnUnknown(id);
    const there = findByHead.get(turn.key);
    if (there !== undefined) return required(claims.findSession(there));
    if (claims.findSession(label) !== undefined) return sessionExists(label);
    const { agent, persona, key } = turn;
    return insertSession({ label, agent, persona, channel, head: key, headId: id }, nowMs);
  };
}

interface NewSession {
  readonly label: SessionKey;
  readonly agent: string;
  readonly persona: string;
  readonly channel: string | null;
  readonly head: number | null;
  readonly headId: TurnId | null;
  /** Set for a worker's session. */
  readonly worker?: (WorkerInput & { readonly parentKey: number }) | undefined;
}

/** A session that begins with a head is a fork, and inherits the label of its thread. */
export function prepareInsertSession(db: Database): (session: NewSession, nowMs: number) => SessionRow {
  const insert = db.prepare(
    `insert into session (label, agent, persona, channel, head, settings, parent_session, parent_turn, parent_call,
                          worker, created_ms, used_ms)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const inheritedSettings = prepareInheritedSettings(db);
  const origins = prepareLabelOrigins(db);
  const changes = prepareRecorder(db);
  return ({ label, agent, persona, channel, head, headId, worker }, nowMs) => {
    const settings = head === null ? null : inheritedSettings(head);
    const inserted = insert.run(
      label,
      agent,
      persona,
      channel,
      head,
      settings,
      worker?.parentKey,
      worker?.parentTurn,
      worker?.parentCall,
      worker?.worker,
      nowMs,
      nowMs,
    );
    const key = Number(inserted.lastInsertRowid);
    if (settings !== null) {
      const is = readTrust(JSON.parse(settings) as Record<string, Json>);
      origins.note(key, { was: NO_TRUST, is }, { otherwise: { turn: required(headId ?? undefined) } }, nowMs);
    }
    if (head !== null) changes.session(key, "forked");
    return { key, label, epoch: 0, head, head_id: headId, run: null, ready_ms: null, lane: null };
  };
}

export function sessionExists(label: string): Refusal {
  return new Refusal("session_exists", `Session "${label}" already exists`, "Choose another label.");
}
