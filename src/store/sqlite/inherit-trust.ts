/**
 * Labels that a session inherits from another: a fork from its thread, the receiver of a message from its
 * sender. A turn keeps the label that its session had at the commit, so a thread keeps its label after its session
 * has started another thread. A fork takes those, plus the current labels of the turn's session and of the sessions
 * that point at the turn: rather one name too many than one too few.
 */
import type { Database } from "better-sqlite3";

import type { Json } from "../../model/json.ts";
import type { SessionKey } from "../../model/session-key.ts";
import {
  addedTrust,
  isUnlabelled,
  joinTrust,
  labelJson,
  NO_TRUST,
  parseTrust,
  type Trust,
  TRUST_SETTING,
  trustJson,
} from "../../model/trust.ts";
import { prepareLabelOrigins } from "./label-origins.ts";
import { oncePerDatabase } from "./once.ts";
import { prepareRecorder } from "./record-changes.ts";
import { required } from "./row.ts";

/** The path in the settings of a session. */
export const TRUST_PATH = `$.${TRUST_SETTING}`;

/** The initial settings of a fork. */
export const prepareInheritedSettings = oncePerDatabase((db: Database) => {
  const find = db
    .prepare<[{ turn: number }], string | null>(
      `select trust from turn where key = @turn
       union all select settings -> '${TRUST_PATH}' from session
         where key = (select session from turn where key = @turn)
       union all select settings -> '${TRUST_PATH}' from session where head = @turn`,
    )
    .pluck();
  return (turn: number): string | null => {
    const trust = joinTrust(NO_TRUST, ...find.all({ turn }).map(toTrust));
    return isUnlabelled(trust) && !trust.outward ? null : toSettings(trust);
  };
});

/** Gives a session the label of another session that sent it something. */
export const prepareShareTrust = oncePerDatabase((db: Database) => {
  const find = db
    .prepare<[number], string | null>(`select settings -> '${TRUST_PATH}' from session where key = ?`)
    .pluck();
  const add = db.prepare(
    "update session set settings = json_patch(coalesce(settings, '{}'), ?) where key = ?",
  );
  const labelOf = db.prepare<[number], SessionKey>("select label from session where key = ?").pluck();
  const changes = prepareRecorder(db);
  const origins = prepareLabelOrigins(db);
  return (from: number, to: number, nowMs: number): void => {
    const was = toTrust(find.get(to) ?? null);
    const added = addedTrust(was, toTrust(find.get(from) ?? null));
    if (added === undefined) return;
    add.run(toSettings(added), to); // also where the settings have no room left: a label is never lost
    const otherwise = { session: required(labelOf.get(from)) };
    origins.note(to, { was, is: joinTrust(was, added) }, { otherwise }, nowMs);
    changes.session(to, "configured");
  };
});

/** Gives what a session's agent has written the label of the session. */
export const prepareLabelWords = oncePerDatabase((db: Database) => {
  const find = db
    .prepare<[number], string | null>(`select settings -> '${TRUST_PATH}' from session where key = ?`)
    .pluck();
  const add = db.prepare("update event set label = json_patch(coalesce(label, '{}'), ?) where seq = ?");
  return (from: number, event: number): void => {
    const { outward: _, ...label } = toTrust(find.get(from) ?? null);
    if (!isUnlabelled(label)) add.run(JSON.stringify(labelJson(label)), event);
  };
});

function toTrust(stored: string | null): Trust {
  return parseTrust(JSON.parse(stored ?? "null") as Json);
}

function toSettings(trust: Trust): string {
  return JSON.stringify({ [TRUST_SETTING]: trustJson(trust) });
}
