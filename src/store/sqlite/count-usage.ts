/**
 * How often models were asked, and with how many tokens, by persona. It is counted in the commit that keeps what a model
 * has said, so that limits hold without any price. Steps of a quarter of an hour let days begin in every time zone.
 */
import type { Database } from "better-sqlite3";

import type { PersonaId } from "../../model/ids.ts";
import type { ModelUse } from "../store.ts";
import { oncePerDatabase } from "./once.ts";
import { operation } from "./operation.ts";
import { checkMoment } from "./read-events.ts";
import { required } from "./row.ts";
import { type Decoded, number, record } from "./wire.ts";

export const usedCodec = record({ calls: number, tokens: number });

type Used = Decoded<typeof usedCodec>;

const STEP_MS = 15 * 60_000;
/** Hooks ask for nobody in particular. */
const NOBODY = "";

export const prepareCountUsage = oncePerDatabase((db: Database) => {
  const add = db.prepare(
    `insert into model_usage (step, persona, calls, tokens) values (?, ?, ?, ?)
     on conflict (step, persona) do update set calls = calls + excluded.calls, tokens = tokens + excluded.tokens`,
  );
  const findPersona = db.prepare<[number], string>("select persona from session where key = ?").pluck();
  return {
    ofSession(session: number, { calls, tokens }: Used, nowMs: number): void {
      if (calls > 0) add.run(stepOf(nowMs), required(findPersona.get(session)), calls, tokens);
    },
    ofHooks({ calls, tokens }: Used, nowMs: number): void {
      add.run(stepOf(nowMs), NOBODY, calls, tokens);
    },
  };
});

/** Called again, it counts again: too many are counted rather than too few. */
export const countUsage = operation(usedCodec, (db) => {
  const count = prepareCountUsage(db);
  return (used, { nowMs }): null => {
    count.ofHooks(used, nowMs);
    return null;
  };
});

export function prepareReadUsage(db: Database): (sinceMs: number) => ModelUse[] {
  const read = db.prepare<[number], { persona: string; calls: number; tokens: number }>(
    `select persona, sum(calls) as calls, sum(tokens) as tokens from model_usage where step >= ?
     group by persona order by persona`,
  );
  return (sinceMs) =>
    read.all(stepOf(checkMoment(sinceMs))).map(({ persona, calls, tokens }) => ({
      persona: persona === NOBODY ? undefined : (persona as PersonaId),
      calls,
      tokens,
    }));
}

function stepOf(ms: number): number {
  return Math.floor(ms / STEP_MS);
}
