import { prepareClaims } from "./claim.ts";
import { prepareInsertSession, sessionExists, turnUnknown } from "./dispatch.ts";
import { sessionUnknown } from "./held.ts";
import { operation, type Refusal } from "./operation.ts";
import { record, text } from "./wire.ts";

/** One row, whatever the depth of the turn: nothing of the history is copied. */
export const fork = operation(record({ turn: text, label: text }), (db) => {
  const claims = prepareClaims(db);
  const insertSession = prepareInsertSession(db);
  const findTurn = db.prepare<[string], { key: number; agent: string; persona: string; session: number }>(
    "select key, agent, persona, session from turn where id = ?",
  );
  const isAlready = db
    .prepare<[string, number], number>("select 1 from session where label = ? and head = ? and epoch = 0")
    .pluck();
  return ({ turn, label }, { nowMs }): null | Refusal => {
    const at = findTurn.get(turn);
    if (at === undefined) return turnUnknown(turn);
    if (isAlready.get(label, at.key) !== undefined) return null; // the same call came before
    if (claims.findSession(label) !== undefined) return sessionExists(label);
    insertSession({ label, agent: at.agent, persona: at.persona, head: at.key, headId: turn }, nowMs);
    return null;
  };
});

export const resetSession = operation(record({ label: text }), (db) => {
  const reset = db.prepare("update session set head = null, used_ms = ? where label = ?");
  return ({ label }, { nowMs }): null | Refusal =>
    reset.run(nowMs, label).changes === 0 ? sessionUnknown(label) : null;
});
