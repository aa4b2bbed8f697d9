import type { TurnId } from "../../model/ids.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { LABEL_SETS, readTrust, type Trust } from "../../model/trust.ts";
import { MAX_SETTINGS_BYTES, type Settings } from "../store.ts";
import { prepareClaims } from "./claim.ts";
import { actorCodec, prepareAudit, withToken } from "./audit.ts";
import { type NameOrigin, prepareLabelOrigins } from "./label-origins.ts";
import { TRUST_PATH } from "./inherit-trust.ts";
import { prepareInsertSession, sessionExists } from "./resolve-session.ts";
import { operation, Refusal } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { parseJson, required } from "./row.ts";
import { sessionUnknown, turnUnknown } from "./unknown.ts";
import { json, record, text, textOf, textOrNull } from "./wire.ts";

/** A fork is one row, whatever the depth of the turn: no history is copied. */
export const fork = operation(record({ turn: textOf<TurnId>(), label: textOf<SessionKey>() }), (db) => {
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
    const { agent, persona, key: head } = at;
    insertSession({ label, agent, persona, channel: null, head, headId: turn }, nowMs);
    return null;
  };
});

/**
 * Labels go with the old thread, unless part of it can return: an unfinished run, or a failed one that may be
 * retried, brings its journal with it.
 */
export const resetSession = operation(record({ label: text }), (db) => {
  const find = db.prepare<[string], { key: number; settings: string | null }>(
    "select key, settings from session where label = ?",
  );
  const reset = db
    .prepare<[number, number], string | null>(
      `update session set head = null, used_ms = ?,
         settings = iif(
           run is not null
             or exists (select 1 from item i where i.session = session.key and i.settled_ms is null and i.turn is not null)
             or exists (select 1 from item i where i.state = 'dead' and i.session = session.key),
           settings, json_remove(settings, '${TRUST_PATH}'))
       where key = ? returning settings`,
    )
    .pluck();
  const changes = prepareRecorder(db);
  const labelOrigins = prepareLabelOrigins(db);
  return ({ label }, { nowMs }): null | Refusal => {
    const session = find.get(label);
    if (session === undefined) return sessionUnknown(label);
    const [was, is] = [trustIn(session.settings), trustIn(reset.get(nowMs, session.key) ?? null)];
    labelOrigins.note(session.key, { was, is }, { otherwise: {} }, nowMs);
    changes.session(session.key, "reset");
    return null;
  };
});

const configuringCodec = record({
  label: textOf<SessionKey>(),
  settings: json,
  agent: textOrNull,
  persona: textOrNull,
  by: actorCodec,
  origins: json,
});

export const configureSession = operation(configuringCodec, (db) => {
  const merge = db.prepare<[string, string], MergedRow>(
    `select key, settings, octet_length(settings) as bytes, before
     from (select key, json_patch(coalesce(settings, '{}'), ?) as settings, settings as before
           from session where label = ?)`,
  );
  const update = db.prepare("update session set settings = ? where key = ?");
  const changes = prepareRecorder(db);
  const insertSession = prepareInsertSession(db);
  const isThere = db.prepare<[string], number>("select 1 from session where label = ?").pluck();
  const audit = prepareAudit(db);
  const labelOrigins = prepareLabelOrigins(db);
  return ({ label, settings, agent, persona, by, origins }, { nowMs }): null | Refusal => {
    if (isThere.get(label) === undefined) {
      if (agent === null || persona === null) return sessionUnknown(label);
      insertSession({ label, agent, persona, channel: null, head: null, headId: null }, nowMs);
    }
    const merged = required(merge.get(settings, label));
    if (merged.bytes > MAX_SETTINGS_BYTES) return settingsTooLarge(label, merged.bytes);
    update.run(merged.settings, merged.key);
    changes.session(merged.key, "configured");
    const [was, is] = [trustIn(merged.before), trustIn(merged.settings)];
    const said = parseJson(origins) as unknown as readonly NameOrigin[];
    labelOrigins.note(merged.key, { was, is }, { said, otherwise: {} }, nowMs);
    const marks = clearedMarks(was, is);
    if (marks.length === 0) return null;
    const detail = withToken({ marks }, by.token);
    audit({ principal: by.principal, kind: "trust.clear", object: label, detail, atMs: nowMs });
    return null;
  };
});

interface MergedRow {
  readonly key: number;
  readonly settings: string;
  readonly bytes: number;
  /** The settings until now. */
  readonly before: string | null;
}

function clearedMarks(was: Trust, is: Trust): string[] {
  const cleared = LABEL_SETS.filter((set) => was[set].some((name) => !is[set].includes(name)));
  return [...cleared, ...(was.outward && !is.outward ? (["outward"] as const) : [])];
}

function trustIn(settings: string | null): Trust {
  return readTrust((parseJson(settings) ?? {}) as Settings);
}

function settingsTooLarge(label: string, bytes: number): Refusal {
  return new Refusal(
    "limit_invalid",
    `The settings of session "${label}" would have ${bytes} bytes; the limit is ${MAX_SETTINGS_BYTES}`,
    "Remove unneeded settings by setting them to null.",
  );
}
