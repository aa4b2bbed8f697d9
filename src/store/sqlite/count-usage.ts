/**
 * Model calls and tokens by persona, counted in the commit that stores a model's answer, so that limits hold even for
 * models without a price. Steps of a quarter of an hour let days begin in every time zone.
 */
import type { Database } from "better-sqlite3";

import type { PersonaId } from "../../model/ids.ts";
import type { ModelUse } from "../store.ts";
import { isOthersSql } from "./lane.ts";
import { oncePerDatabase } from "./once.ts";
import { operation } from "./operation.ts";
import { checkMoment } from "./read-events.ts";
import { required } from "./row.ts";
import { type Decoded, number, record } from "./wire.ts";

export const usedCodec = record({ calls: number, tokens: number });

type Used = Decoded<typeof usedCodec>;

const STEP_MS = 15 * 60_000;
/** Hooks call models for no persona. */
const NOBODY = "";

export const prepareCountUsage = oncePerDatabase((db: Database) => {
  const add = db.prepare(
    `insert into model_usage (step, persona, others, calls, tokens) values (?, ?, ?, ?, ?)
     on conflict (step, persona, others) do update set calls = calls + excluded.calls, tokens = tokens + excluded.tokens`,
  );
  const find = db.prepare<[number], { persona: string; others: number }>(
    `select persona, lane is not null and ${isOthersSql("lane")} as others from session where key = ?`,
  );
  return {
    ofSession(session: number, { calls, tokens }: Used, nowMs: number): void {
      if (calls === 0) return;
      const { persona, others } = required(find.get(session));
      add.run(stepOf(nowMs), persona, others, calls, tokens);
    },
    ofHooks({ calls, tokens }: Used, nowMs: number): void {
      add.run(stepOf(nowMs), NOBODY, 0, calls, tokens);
    },
  };
});

/** Not idempotent: a repeated call counts too much rather than too little. */
export const countUsage = operation(usedCodec, (db) => {
  const count = prepareCountUsage(db);
  return (used, { nowMs }): null => {
    count.ofHooks(used, nowMs);
    return null;
  };
});

export function prepareReadUsage(
  db: Database,
): (sinceMs: number, options?: { readonly others?: boolean }) => ModelUse[] {
  const read = db.prepare<[number, number], { persona: string; calls: number; tokens: number }>(
    `select persona, sum(calls) as calls, sum(tokens) as tokens from model_usage where step >= ? and others >= ?
     group by persona order by persona`,
  );
  return (sinceMs, { others = false } = {}) =>
    read.all(stepOf(checkMoment(sinceMs)), Number(others)).map(({ persona, calls, tokens }) => ({
      persona: persona === NOBODY ? undefined : (persona as PersonaId),
      calls,
      tokens,
    }));
}

function stepOf(ms: number): number {
  return Math.floor(ms / STEP_MS);
}
