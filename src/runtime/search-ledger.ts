import type { Store } from "../store/store.ts";

/** How far back is looked. */
const RECENT_EVENTS = 2_000;
const MAX_WORDS = 8;

export interface LedgerHit {
  readonly id: string;
  readonly text: string;
  readonly atMs: number;
}

/** Recent events that hold most of the words, best first. */
export async function searchLedger(store: Store, text: string, limit: number): Promise<LedgerHit[]> {
  const words = [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [])].slice(0, MAX_WORDS);
  if (words.length === 0) return [];
  const score = words.map(() => "(instr(lower(content), ?) > 0)").join(" + ");
  const rows = await store.query(
    `select id, content, timestamp, score from (
       select id, content, timestamp, ${score} as score
       from (select id, content, timestamp from events where content is not null order by timestamp desc limit ${RECENT_EVENTS}))
     where score > 0 order by score desc, timestamp desc limit ?`,
    [...words, limit],
  );
  return rows.map(({ id, content, timestamp }) => ({
    id: String(id),
    text: String(content),
    atMs: Number(timestamp),
  }));
}
