/**
 * What a fork has come into contact with. A turn keeps the marks that its session had when it was committed; so
 * the marks of a thread last, also after its session has begun a new one. A fork takes these, with the marks
 * that now have the session which the turn was made in and the sessions that point at the turn: rather one too
 * many than one too few.
 */
import type { Database } from "better-sqlite3";

import type { Json } from "../../model/json.ts";
import { MARKS, readTrust, TRUST_SETTING } from "../../model/trust.ts";
import { oncePerDatabase } from "./once.ts";

/** In the settings of a session. */
export const TRUST_PATH = `$.${TRUST_SETTING}`;

/** The settings that a fork of a turn begins with. */
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
    const all = find
      .all({ turn })
      .map((stored) => readTrust({ [TRUST_SETTING]: JSON.parse(stored ?? "null") as Json }));
    const marks = MARKS.filter((mark) => all.some((trust) => trust[mark]));
    if (marks.length === 0) return null;
    return JSON.stringify({ [TRUST_SETTING]: Object.fromEntries(marks.map((mark) => [mark, true])) });
  };
});
