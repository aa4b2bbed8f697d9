import type { Database } from "better-sqlite3";

import { prepareClaims, type SessionRow } from "./claim.ts";
import { prepareInheritedSettings } from "./inherit-trust.ts";
import { Refusal } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { sessionUnknown, turnUnknown } from "./unknown.ts";
import { type Decoded, json, record, text, words } from "./wire.ts";

/** What makes a new session a worker's. The id of a call is the model's. */
export const workerCodec = record({ parent: text, parentTurn: text, parentCall: words, worker: json });

type WorkerInput = Decoded<typeof workerCodec>;

/** A session by its label, with what it takes to create it; or a turn, with the label of a fork. */
interface Target {
  readonly session: string | null;
  readonly agent: string | null;
  readonly persona: string | null;
  readonly worker: WorkerInput | undefined;
  readonly turn: string | null;
  readonly forkAs: string | null;
}

/**
 * The session that a dispatch goes to. Decided inside the transaction, because the answer depends on
 * where the heads are at this moment.
 */
export function prepareResolve(
  db: Database,
): (target: Target, channel: string, nowMs: number) => SessionRow | Refusal {
  const claims = prepareClaims(db);
  const insertSession = prepareInsertSession(db);
  const findTurn = db.prepare<[string], { key: number; agent: string; persona: string }>(
    "select key, agent, persona from turn where id = ?",
  );
  const findByHead = db.prepare<[number], { label: string }>(
    "select label from session where head = ? order by used_ms desc, key desc limit 1",
  );

  return (target, channel, nowMs) => {
    if (target.session !== null) {
      const { session: label, agent, persona, worker } = target;
      const there = claims.findSession(label);
      if (there !== undefined) return there;
      const parent = worker === undefined ? undefined : claims.findSession(worker.parent);
      if (worker !== undefined && parent === undefined) return sessionUnknown(worker.parent);
      const opened = worker === undefined ? undefined : { ...worker, parentKey: parent!.key };
      return insertSession(
        { label, agent: agent!, persona: persona!, channel, head: null, headId: null, worker: opened },
        nowMs,
      );
    }
    const turn = findTurn.get(target.turn!);
    if (turn === undefined) return turnUnknown(target.turn!);
    const there = findByHead.get(turn.key);
    if (there !== undefined) return claims.findSession(there.label)!;
    const label = target.forkAs!;
    if (claims.findSession(label) !== undefined) return sessionExists(label);
    const { agent, persona, key } = turn;
    return insertSession({ label, agent, persona, channel, head: key, headId: target.turn }, nowMs);
  };
}

interface NewSession {
  readonly label: string;
  readonly agent: string;
  readonly persona: string;
  readonly channel: string | null;
  readonly head: number | null;
  readonly headId: string | null;
  /** Of a worker: who opened it, and what it was given. */
  readonly worker?: (WorkerInput & { readonly parentKey: number }) | undefined;
}

/** A session that begins with a head is a fork, and has touched what the thread it begins with has touched. */
export function prepareInsertSession(db: Database): (session: NewSession, nowMs: number) => SessionRow {
  const insert = db.prepare(
    `insert into session (label, agent, persona, channel, head, settings, parent_session, parent_turn, parent_call,
                          worker, created_ms, used_ms)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const inheritedSettings = prepareInheritedSettings(db);
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
    if (head !== null) changes.session(key, "forked");
    return { key, label, epoch: 0, head, head_id: headId, run: null, ready_ms: null };
  };
}

export function sessionExists(label: string): Refusal {
  return new Refusal("session_exists", `Session "${label}" already exists`, "Choose another label.");
}
